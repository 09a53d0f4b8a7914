#include "Diverted.h"
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace torchtidy::tool {

Diverted::Diverted(int Descriptor)
    : Descriptor(Descriptor), Before(::dup(Descriptor)),
      File(::memfd_create("torch-tidy", MFD_CLOEXEC)) {
  if (File >= 0)
    ::dup2(File, Descriptor);
}

std::string Diverted::end() {
  std::string Result;
  if (Before < 0)
    return Result;
  ::dup2(Before, Descriptor);
  ::close(std::exchange(Before, -1));
  if (File < 0)
    return Result;
  ::lseek(File, 0, SEEK_SET);
  char Part[4096];
  for (ssize_t Size; (Size = ::read(File, Part, sizeof(Part))) > 0;)
    Result.append(Part, size_t(Size));
  ::close(std::exchange(File, -1));
  return Result;
}

} // namespace torchtidy::tool
