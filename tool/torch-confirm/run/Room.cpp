#include "run/Room.h"
#include "support/Errors.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/resource.h>
#include <unistd.h>

namespace torchtidy::confirm {
namespace {

std::string megabytes(uint64_t Bytes) {
  return std::to_string((Bytes + 999999) / 1000000) + " MB";
}

} // namespace

void requireRoom(const std::string &Path, uint64_t AtOnce, uint64_t Size) {
  rlimit Most = {};
  if (getrlimit(RLIMIT_FSIZE, &Most) == 0 && Most.rlim_cur != RLIM_INFINITY &&
      Most.rlim_cur < Size)
    throw UserError("files may be of " + megabytes(Most.rlim_cur) +
                    " at most here (ulimit -f), and what is recorded takes a "
                    "file of " +
                    megabytes(Size) +
                    ", though little of it lies on the disk; raise the limit "
                    "for torch-confirm");
  const int File = open(Path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  int Why = File < 0 ? errno : 0;
  if (File >= 0) {
    // Not all file systems know how to; there the probe hopes, too.
    if (fallocate(File, 0, 0, static_cast<off_t>(AtOnce)) != 0 &&
        errno != EOPNOTSUPP && errno != ENOSYS && errno != EINTR)
      Why = errno;
    close(File);
    unlink(Path.c_str());
  }
  if (Why)
    throw UserError("there is no room for what is to be recorded in '" +
                    std::filesystem::path(Path).parent_path().string() + "' (" +
                    std::strerror(Why) + "): it takes " + megabytes(AtOnce) +
                    ", and of a large program up to " + megabytes(Size) +
                    "; set TMPDIR to a folder that has it");
}

} // namespace torchtidy::confirm
