typedef int Number;
#if defined(FROM_CONFIG) && defined(BEFORE_CONFIG)
Number *fromConfig() { return 0; }
#endif
