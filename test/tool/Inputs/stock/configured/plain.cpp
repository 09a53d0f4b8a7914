#include "../ours.h"
#define NOTHING 0
int *plain() { return NOTHING; }
int other(int value) { if (value) return 1; else return 2; }
