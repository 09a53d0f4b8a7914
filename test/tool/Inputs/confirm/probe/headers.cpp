// Makes the precompiled header that the programs share.
