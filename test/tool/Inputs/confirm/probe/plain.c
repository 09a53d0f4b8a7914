/* No LibTorch, no C++: the probe has nothing to do here. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  puts("plain");
  return argc > 1 ? atoi(argv[1]) : 0;
}
