#include "run/Watch.h"
#include "Messages.h"
#include "inputs/Tree.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <csignal>
#include <cstdlib>
#include <map>
#include <set>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace torchtidy::tool {
namespace {

/// Of a run: the descriptor of the file without a name that tellWatched()
/// writes to.
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
                       ".hpp", ".hxx", ".inc", ".inl", ".ipp", ".tpp", ".cu",
                       ".cuh"},
                      sys::path::extension(Path)) ||
         Name == ".clang-tidy" || Name == "compile_commands.json";
}

using Times = std::map<std::string, std::pair<sys::TimePoint<>, uint64_t>>;

void add(Times &To, const std::string &File) {
  sys::fs::file_status Status;
  if (!sys::fs::status(File, Status) && sys::fs::exists(Status))
    To[File] = {Status.getLastModificationTime(), Status.getSize()};
}

Times timesOf(ArrayRef<std::string> Folders,
              const std::set<std::string> &Others) {
  Times Result;
  const IntrusiveRefCntPtr<vfs::FileSystem> FS = vfs::getRealFileSystem();
  for (const std::string &Folder : Folders) {
    std::vector<std::string> Files = filesBelow(Folder, *FS);
    // Those of the builds are not the project's own.
    for (const char *Build : {"compile_commands.json",
                              "build/compile_commands.json", ".clang-tidy"})
      Files.push_back(below(Folder, Build));
    for (const std::string &File : Files)
      if (matters(File))
        add(Result, File);
  }
  for (const std::string &File : Others)
    add(Result, File);
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

/// What a run has told.
std::set<std::string> readTold(int Told) {
  std::string Names;
  char Part[4096];
  ::lseek(Told, 0, SEEK_SET);
  for (ssize_t Size; (Size = ::read(Told, Part, sizeof(Part))) > 0;)
    Names.append(Part, size_t(Size));
  std::set<std::string> Result;
  for (const StringRef Name : llvm::split(StringRef(Names), '\0'))
    if (!Name.empty())
      Result.insert(comparablePath(Name));
  return Result;
}

std::set<std::string> runOnce(ArrayRef<std::string> Command) {
  const int Told = ::memfd_create("torch-tidy", 0);
  std::vector<char *> Words;
  for (const std::string &Word : Command)
    Words.push_back(const_cast<char *>(Word.c_str()));
  Words.push_back(nullptr);
  const pid_t Child = ::fork();
  if (Child < 0) {
    error() << "no process for another run: " << strerror(errno) << '\n';
    ::close(Told);
    return {};
  }
  if (Child == 0) {
    ::setenv(Variable, std::to_string(Told).c_str(), 1);
    ::execv("/proc/self/exe", Words.data());
    ::_exit(127);
  }
  Running = Child;
  int Status = 0;
  while (::waitpid(Child, &Status, 0) < 0 && errno == EINTR)
    ;
  Running = 0;
  std::set<std::string> Result = readTold(Told);
  ::close(Told);
  return Result;
}

} // namespace

bool isWatched() { return std::getenv(Variable) != nullptr; }

void tellWatched(
    const std::map<std::string, std::vector<std::string>> &FilesBySource) {
  int Told = -1;
  if (!isWatched() || StringRef(std::getenv(Variable)).getAsInteger(10, Told) ||
      Told < 0)
    return;
  raw_fd_ostream OS(Told, /*shouldClose=*/false);
  std::set<std::string> All;
  for (const auto &[Source, Files] : FilesBySource)
    All.insert(Files.begin(), Files.end());
  for (const std::string &File : All)
    OS << File << '\0';
  // Where that fails, less is watched.
  OS.flush();
  OS.clear_error();
}

int watch(ArrayRef<std::string> Command, ArrayRef<std::string> Folders) {
  struct sigaction Action = {};
  Action.sa_handler = end;
  for (const int Signal : {SIGINT, SIGTERM, SIGHUP})
    ::sigaction(Signal, &Action, nullptr);
  // What was included once is watched from then on: a run that fails tells
  // nothing.
  std::set<std::string> Others;
  Times Before = timesOf(Folders, Others);
  while (!EndedBy) {
    const sys::TimePoint<> Start = std::chrono::system_clock::now();
    for (const std::string &File : runOnce(Command)) {
      if (!Others.insert(File).second || Before.count(File))
        continue;
      add(Before, File);
      // Edited while it was analysed: the next look sees that it is new.
      if (const auto It = Before.find(File);
          It != Before.end() && It->second.first > Start)
        Before.erase(It);
    }
    if (EndedBy)
      break;
    note() << "watching " << counted(Before.size(), "file")
           << "; Ctrl-C ends it\n";
    std::string File;
    while (!EndedBy && File.empty()) {
      ::usleep(300'000);
      Times Now = timesOf(Folders, Others);
      File = changed(Before, Now);
      Before = std::move(Now);
    }
    if (!EndedBy)
      note() << "'" << File << "' has changed\n";
  }
  return 128 + EndedBy;
}

} // namespace torchtidy::tool
