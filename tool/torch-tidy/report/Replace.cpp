#include "report/Replace.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace torchtidy::tool {

std::string behindLinks(StringRef File) {
  SmallString<256> Real;
  if (!sys::fs::is_symlink_file(File) || sys::fs::real_path(File, Real))
    return File.str();
  return Real.str().str();
}

Error replaceText(StringRef File, StringRef Text) {
  const std::string Real = behindLinks(File);
  FileModes Modes;
  Modes.add(Real);
  return writeToOutput(Real, [&](raw_ostream &OS) {
    OS << Text;
    return Error::success();
  });
}

void FileModes::add(StringRef File) {
  struct stat Status = {};
  const std::string Name = File.str();
  if (!::stat(Name.c_str(), &Status))
    Known.try_emplace(Name,
                      Attributes{Status.st_mode, Status.st_uid, Status.st_gid});
}

void FileModes::restore() {
  constexpr mode_t Permissions = 07777;
  for (const auto &[File, Before] : Known) {
    struct stat Now = {};
    if (::stat(File.c_str(), &Now))
      continue;
    // Root may have mended somebody else's file; others cannot give one away,
    // and need not. It takes the set-user-ID bits, so that it comes first.
    if (Now.st_uid != Before.User || Now.st_gid != Before.Group)
      (void)!::chown(File.c_str(), Before.User, Before.Group);
    if ((Now.st_mode & Permissions) != (Before.Mode & Permissions))
      (void)!::chmod(File.c_str(), Before.Mode & Permissions);
  }
  Known.clear();
}

} // namespace torchtidy::tool
