#include "ours.h"

typedef int Number;
Number *second() { return 0; }

#ifdef FROM_EXTRA_ARG
int *fromExtraArg() { return 0; }
#endif
#ifdef __clang_analyzer__
int *underTheAnalyzer() { return 0; }
#endif
