#pragma once
inline int *theirs() { return 0; }
