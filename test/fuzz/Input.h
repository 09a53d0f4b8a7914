// Bytes as a file without a name, for what reads files by their path.
#ifndef TORCHTIDY_TEST_FUZZ_INPUT_H
#define TORCHTIDY_TEST_FUZZ_INPUT_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

class FileOf {
public:
  FileOf(const uint8_t *Data, size_t Size)
      : Descriptor(memfd_create("fuzz", MFD_CLOEXEC)) {
    if (Descriptor < 0 || write(Descriptor, Data, Size) != ssize_t(Size))
      abort();
    lseek(Descriptor, 0, SEEK_SET);
  }
  ~FileOf() { close(Descriptor); }
  FileOf(const FileOf &) = delete;
  FileOf &operator=(const FileOf &) = delete;

  std::string path() const {
    return "/proc/self/fd/" + std::to_string(Descriptor);
  }

private:
  int Descriptor;
};

#endif
