// Preloaded by a test: it must be loaded beside the probe.
#include <cstdio>

__attribute__((constructor)) static void greet() { std::puts("greets"); }
