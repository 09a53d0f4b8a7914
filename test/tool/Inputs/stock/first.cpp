#include "ours.h"
#include "skipped.h"
#include <theirs.h>

int *first() {
  int *pointer = 0;
  return pointer;
}

int *silenced() {
  return 0; // NOLINT(modernize-use-nullptr)
}

int shadowed(int value) {
  if (value)
    return 1;
  else
    return 2;
}
