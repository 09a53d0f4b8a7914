#include "Mapped.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace torchtidy::confirm::trace {

Mapping::~Mapping() {
  if (Data)
    munmap(const_cast<char *>(Data), FileSize);
}

std::string Mapping::open(const std::string &Path) {
  const int File = ::open(Path.c_str(), O_RDONLY | O_CLOEXEC);
  if (File < 0)
    return std::strerror(errno);
  std::string Error = map(File);
  close(File);
  return Error;
}

std::string Mapping::text(TextOffset Offset) const {
  if (Offset >= TextSize)
    return {};
  const char *Text = Data + TextAt + Offset;
  return std::string(Text, strnlen(Text, TextSize - Offset));
}

std::string Mapping::map(int File) {
  struct stat Status;
  if (fstat(File, &Status) != 0)
    return std::strerror(errno);
  if (!S_ISREG(Status.st_mode))
    return "is no regular file";
  if (Status.st_size == 0)
    return "is empty: the probe did not start";
  Header First;
  std::memset(static_cast<void *>(&First), 0, sizeof(First));
  const ssize_t Got =
      pread(File, static_cast<void *>(&First), offsetof(Header, ModulesAt), 0);
  if (Got < static_cast<ssize_t>(sizeof(Magic)) ||
      std::memcmp(First.Magic, Magic, sizeof(Magic)) != 0)
    return "is no trace of torch-confirm's probe";
  if (First.Version != Version)
    return "is a trace of version " + std::to_string(First.Version) +
           ", and this program reads version " + std::to_string(Version) +
           ": the probe was built from other sources";
  if (First.HeaderSize != sizeof(Header) || First.FileSize != FileSize)
    return "has another layout than this program reads: the probe was built "
           "from other sources";
  if (static_cast<uint64_t>(Status.st_size) != FileSize)
    return "is truncated: " + std::to_string(Status.st_size) + " of " +
           std::to_string(FileSize) + " bytes";
  void *Memory = mmap(nullptr, FileSize, PROT_READ, MAP_PRIVATE, File, 0);
  if (Memory == MAP_FAILED)
    return std::strerror(errno);
  Data = static_cast<const char *>(Memory);
  if (read(header().IsComplete) != 1)
    return "is incomplete: the program ended while the probe started";
  return {};
}

} // namespace torchtidy::confirm::trace
