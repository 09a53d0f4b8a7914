#include "support/Paths.h"
#include <cstdlib>
#include <pwd.h>
#include <sstream>
#include <unistd.h>

namespace fs = std::filesystem;

namespace torchtidy::confirm {

fs::path ownExecutable() {
  std::error_code Error;
  return fs::read_symlink("/proc/self/exe", Error);
}

fs::path dataFolder() {
  return (ownExecutable().parent_path() / TORCH_CONFIRM_DATA_FROM_BIN)
      .lexically_normal();
}

static std::string environment(const char *Name) {
  const char *Value = std::getenv(Name);
  return Value ? Value : "";
}

fs::path cacheFolder() {
  if (std::string Own = environment("TORCH_TIDY_CACHE"); !Own.empty())
    return Own;
  if (std::string Xdg = environment("XDG_CACHE_HOME"); !Xdg.empty())
    return fs::path(Xdg) / "torch-tidy";
  if (std::string Home = environment("HOME"); !Home.empty())
    return fs::path(Home) / ".cache" / "torch-tidy";
  // Daemons and tests have none.
  if (const passwd *User = getpwuid(getuid()); User && *User->pw_dir)
    return fs::path(User->pw_dir) / ".cache" / "torch-tidy";
  return fs::temp_directory_path() / "torch-tidy";
}

fs::path findOnPath(const std::string &Name) {
  if (Name.find('/') != std::string::npos)
    return fs::exists(Name) ? fs::absolute(Name) : fs::path();
  // As shells have it where there is none.
  std::istringstream Folders(std::getenv("PATH")
                                 ? environment("PATH")
                                 : "/usr/local/bin:/usr/bin:/bin");
  for (std::string Folder; std::getline(Folders, Folder, ':');) {
    const fs::path File = fs::path(Folder.empty() ? "." : Folder) / Name;
    std::error_code Error;
    if (fs::is_regular_file(File, Error) && access(File.c_str(), X_OK) == 0)
      return fs::absolute(File);
  }
  return {};
}

std::string version() { return TORCH_CONFIRM_VERSION; }

} // namespace torchtidy::confirm
