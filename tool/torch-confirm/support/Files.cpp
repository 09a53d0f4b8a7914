#include "support/Files.h"
#include "support/Errors.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;

namespace torchtidy::confirm {

std::string readFile(const std::string &Path) {
  std::error_code Error;
  if (fs::is_directory(Path, Error))
    throw UserError("cannot read '" + Path + "': it is a folder");
  std::ifstream Stream(Path, std::ios::binary);
  std::ostringstream Text;
  if (!Stream)
    throw UserError("cannot read '" + Path + "': " + std::strerror(errno));
  Text << Stream.rdbuf();
  if (Stream.bad())
    throw UserError("cannot read '" + Path + "': " + std::strerror(errno));
  return Text.str();
}

namespace {

bool reachesDisk(const std::string &Path, int Flags) {
  const int File = open(Path.c_str(), Flags | O_CLOEXEC);
  const bool Done = File >= 0 && fsync(File) == 0;
  const int Why = errno;
  if (File >= 0)
    close(File);
  errno = Why;
  return Done;
}

void write(const std::string &Path, const std::string &Text, bool ToDisk) {
  std::error_code Error;
  // A device or a pipe cannot be replaced.
  const bool IsSpecial = fs::exists(Path, Error) && !fs::is_regular_file(Path);
  const std::string Beside =
      IsSpecial ? Path : Path + ".new" + std::to_string(getpid());
  std::ofstream Stream(Beside, std::ios::binary);
  Stream << Text;
  Stream.close();
  if (!Stream || (ToDisk && !reachesDisk(Beside, O_RDONLY))) {
    const std::string Why = std::strerror(errno);
    if (!IsSpecial)
      fs::remove(Beside, Error);
    throw UserError("cannot write '" + Path + "': " + Why);
  }
  if (IsSpecial)
    return;
  fs::rename(Beside, Path, Error);
  if (Error)
    throw UserError("cannot write '" + Path + "': " + Error.message());
  if (ToDisk)
    reachesDisk(fs::absolute(Path).parent_path().string(),
                O_RDONLY | O_DIRECTORY);
}

} // namespace

void writeFile(const std::string &Path, const std::string &Text) {
  write(Path, Text, /*ToDisk=*/false);
}

void requireWritable(const std::string &Path) {
  std::error_code Error;
  std::string Why;
  if (Path.empty())
    throw UserError("a file to write has no name");
  if (fs::is_directory(Path, Error))
    Why = "it is a folder";
  // What is behind a device or a pipe opening it may change.
  else if (fs::exists(Path, Error) && !fs::is_regular_file(Path, Error)) {
    if (access(Path.c_str(), W_OK) != 0)
      Why = std::strerror(errno);
  } else {
    std::vector<std::string> Names = {Path + ".new" + std::to_string(getpid())};
    if (fs::exists(Path, Error))
      Names.push_back(Path);
    for (const std::string &Each : Names) {
      const int File = open(Each.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
      if (File < 0)
        Why = std::strerror(errno);
      else
        close(File);
    }
    unlink(Names[0].c_str());
  }
  if (!Why.empty())
    throw UserError("cannot write '" + Path + "': " + Why);
}

void writeFileToDisk(const std::string &Path, const std::string &Text) {
  write(Path, Text, /*ToDisk=*/true);
}

} // namespace torchtidy::confirm
