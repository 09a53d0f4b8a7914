// A file in memory, for reading: programs of LibTorch are large, so they are
// not copied.
#ifndef TORCHTIDY_CONFIRM_RUN_MAPPING_H
#define TORCHTIDY_CONFIRM_RUN_MAPPING_H

#include <cstdint>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace torchtidy::confirm {

class Mapping {
public:
  /// Where the file cannot be read, nothing is in it.
  explicit Mapping(const std::string &Path) {
    const int Opened = open(Path.c_str(), O_RDONLY | O_CLOEXEC);
    if (Opened < 0)
      return;
    struct stat Info;
    if (fstat(Opened, &Info) == 0 && Info.st_size > 0) {
      void *At = mmap(nullptr, Info.st_size, PROT_READ, MAP_PRIVATE, Opened, 0);
      if (At != MAP_FAILED)
        Bytes = {static_cast<const char *>(At), size_t(Info.st_size)};
    }
    close(Opened);
  }
  ~Mapping() {
    if (!Bytes.empty())
      munmap(const_cast<char *>(Bytes.data()), Bytes.size());
  }
  Mapping(const Mapping &) = delete;
  Mapping &operator=(const Mapping &) = delete;

  /// Null where it is not in the file.
  template <typename T> const T *at(uint64_t Offset, uint64_t Count = 1) const {
    if (Offset > Bytes.size() || Count > (Bytes.size() - Offset) / sizeof(T))
      return nullptr;
    return reinterpret_cast<const T *>(Bytes.data() + Offset);
  }

private:
  std::string_view Bytes;
};

} // namespace torchtidy::confirm

#endif
