// For packages. The libstdc++ that Debian 12 links statically asks glibc for
// arc4random (std::random_device), which glibc has since 2.36; it is all that
// the programs want of anything newer than 2.35. With a function of this name
// in the program they run on Ubuntu 22.04, too.
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <sys/random.h>

/// As in glibc, which aborts as well where the kernel has no random numbers.
extern "C" uint32_t arc4random() {
  uint32_t Result = 0;
  while (getrandom(&Result, sizeof(Result), 0) != sizeof(Result))
    if (errno != EINTR)
      abort();
  return Result;
}
