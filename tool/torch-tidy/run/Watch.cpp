#include "run/Watch.h"
#include "Messages.h"
#include "inputs/Tree.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <csignal>
#include <cstdlib>
#include <map>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace torchtidy::tool {
namespace {

constexpr const char *Variable = "TORCH_TIDY_WATCHED";

volatile sig_atomic_t EndedBy = 0;
volatile sig_atomic_t Running = 0;

void end(int Signal) {
  EndedBy = Signal;
  // On a terminal it has come to all of the group.
  if (Running && Signal != SIGINT)
    ::kill(pid_t(Running), Signal);
}

bool matters(StringRef Path) {
  const StringRef Name = sys::path::filename(Path);
  return is_contained({".cpp", ".cc", ".cxx", ".c++", ".C", ".c", ".h", ".hh",
                       ".hpp", ".hxx", ".inc", ".inl", ".ipp", ".tpp"},
                      sys::path::extension(Path)) ||
         Name == ".clang-tidy" || Name == "compile_commands.json";
}

using Times = std::map<std::string, std::pair<sys::TimePoint<>, uint64_t>>;

Times timesOf(ArrayRef<std::string> Folders) {
  Times Result;
  const IntrusiveRefCntPtr<vfs::FileSystem> FS = vfs::getRealFileSystem();
  for (const std::string &Folder : Folders) {
    std::vector<std::string> Files = filesBelow(Folder, *FS);
    // Those of the builds are not the project's own.
    for (const char *Build : {"compile_commands.json",
                              "build/compile_commands.json", ".clang-tidy"})
      Files.push_back(below(Folder, Build));
    for (const std::string &File : Files) {
      sys::fs::file_status Status;
      if (matters(File) && !sys::fs::status(File, Status) &&
          sys::fs::exists(Status))
        Result[File] = {Status.getLastModificationTime(), Status.getSize()};
    }
  }
  return Result;
}

/// The first that differs; empty where nothing does.
std::string changed(const Times &Before, const Times &Now) {
  for (const auto &[File, Time] : Now)
    if (const auto It = Before.find(File);
        It == Before.end() || It->second != Time)
      return File;
  for (const auto &[File, Time] : Before)
    if (!Now.count(File))
      return File;
  return {};
}

void runOnce(ArrayRef<std::string> Command) {
  std::vector<char *> Words;
  for (const std::string &Word : Command)
    Words.push_back(const_cast<char *>(Word.c_str()));
  Words.push_back(nullptr);
  const pid_t Child = ::fork();
  if (Child < 0) {
    error() << "no process for another run: " << strerror(errno) << '\n';
    return;
  }
  if (Child == 0) {
    ::setenv(Variable, "1", 1);
    ::execv("/proc/self/exe", Words.data());
    ::_exit(127);
  }
  Running = Child;
  int Status = 0;
  while (::waitpid(Child, &Status, 0) < 0 && errno == EINTR)
    ;
  Running = 0;
}

} // namespace

bool isWatched() { return std::getenv(Variable) != nullptr; }

int watch(ArrayRef<std::string> Command, ArrayRef<std::string> Folders) {
  struct sigaction Action = {};
  Action.sa_handler = end;
  for (const int Signal : {SIGINT, SIGTERM, SIGHUP})
    ::sigaction(Signal, &Action, nullptr);
  Times Before = timesOf(Folders);
  while (!EndedBy) {
    runOnce(Command);
    if (EndedBy)
      break;
    note() << "watching " << counted(Before.size(), "file")
           << "; Ctrl-C ends it\n";
    std::string File;
    while (!EndedBy && File.empty()) {
      ::usleep(300'000);
      Times Now = timesOf(Folders);
      File = changed(Before, Now);
      Before = std::move(Now);
    }
    if (!EndedBy)
      note() << "'" << File << "' has changed\n";
  }
  return 128 + EndedBy;
}

} // namespace torchtidy::tool
