#include "Build.h"
#include "support/Fingerprint.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

namespace torchtidy::confirm {
namespace fs = std::filesystem;
namespace {

using Words = std::vector<std::string>;

constexpr const char *ProbeName = "libtorch-confirm-probe.so";
constexpr const char *TorchName = "libtorch-confirm-torch.so";
constexpr const char *Header = "torch/csrc/api/include/torch/torch.h";

std::string contentOf(const fs::path &File) {
  std::ifstream In(File, std::ios::binary);
  return {std::istreambuf_iterator<char>(In), {}};
}

/// Runs a program with its output in a file. \returns its exit code; 127 where
/// it cannot be run.
int run(const Words &Command, const fs::path &Output) {
  std::vector<char *> Arguments;
  for (const std::string &Word : Command)
    Arguments.push_back(const_cast<char *>(Word.c_str()));
  Arguments.push_back(nullptr);
  const pid_t Child = fork();
  if (Child < 0)
    return 127;
  if (Child == 0) {
    const int File =
        open(Output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    const int Nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (File >= 0) {
      dup2(File, 1);
      dup2(File, 2);
    }
    if (Nothing >= 0)
      dup2(Nothing, 0);
    // The probe is no program under the probe.
    unsetenv("LD_PRELOAD");
    execvp(Arguments[0], Arguments.data());
    _exit(127);
  }
  int Status = 0;
  while (waitpid(Child, &Status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(Status) ? WEXITSTATUS(Status) : 1;
}

std::vector<fs::path> filesOf(const fs::path &Folder, const char *Extension) {
  std::vector<fs::path> Files;
  std::error_code Ignored;
  for (const fs::directory_entry &Entry :
       fs::directory_iterator(Folder, Ignored))
    if (Entry.path().extension() == Extension)
      Files.push_back(Entry.path());
  std::sort(Files.begin(), Files.end());
  return Files;
}

/// The folder of LibTorch's libraries: <root>/lib, or Debian's below it.
fs::path librariesOf(const fs::path &Root) {
  std::error_code Ignored;
  for (const char *Folder :
       {"lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"})
    if (fs::exists(Root / Folder / "libtorch_cpu.so", Ignored))
      return Root / Folder;
  return {};
}

Words includesOf(const fs::path &Root) {
  Words Flags;
  // The compiler knows it, and given once more it would break #include_next.
  if (Root != "/usr" && Root != "/usr/local")
    Flags = {"-isystem", (Root / "include").string()};
  Flags.insert(
      Flags.end(),
      {"-isystem", (Root / "include/torch/csrc/api/include").string()});
  // Some builds use the C++ ABI of before GCC 5, and only this file says so.
  const std::string Config =
      contentOf(Root / "share/cmake/Torch/TorchConfig.cmake");
  const std::string Name = "_GLIBCXX_USE_CXX11_ABI=";
  const size_t At = Config.find(Name);
  if (At != std::string::npos && At + Name.size() < Config.size() &&
      Config[At + Name.size()] == '0')
    Flags.push_back("-D" + Name + "0");
  return Flags;
}

class Builder {
public:
  Builder(const std::string &Sources, const std::string &LibTorch,
          const std::string &Compiler, const std::string &Cache,
          const std::function<void(const std::string &)> &Waits)
      : Waits(Waits), Sources(Sources), Root(LibTorch), Compiler(Compiler),
        Cache(Cache) {}

  ProbeBuild build() {
    std::string Error = prepare();
    if (!Error.empty())
      return {"", Error};
    const fs::path Folder = Cache / key();
    ProbeBuild Result;
    Result.Path = (Folder / ProbeName).string();
    if (isComplete(Folder))
      return Result;
    // Others that want the same wait here; the lock goes with the process.
    const fs::path LockPath = Folder.string() + ".lock";
    const int Lock = open(LockPath.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (Lock < 0 || !lock(Lock)) {
      Error = LockPath.string() + ": " + std::strerror(errno);
    } else if (!isComplete(Folder)) {
      tell("compiling the probe for the LibTorch in " + Root.string() +
           ", once, some 25 seconds; it is kept in " + Cache.string());
      Error = compileInto(Folder);
    }
    if (Lock >= 0)
      close(Lock);
    if (!Error.empty())
      return {"", Error};
    return Result;
  }

private:
  bool lock(int File) const {
    if (flock(File, LOCK_EX | LOCK_NB) == 0)
      return true;
    if (errno != EWOULDBLOCK)
      return false;
    tell("waiting for another torch-confirm that compiles the probe");
    return flock(File, LOCK_EX) == 0;
  }

  void tell(const std::string &What) const {
    if (Waits)
      Waits(What);
  }

  /// \returns what is wrong with what was given.
  std::string prepare() {
    std::error_code Error;
    Sources = fs::absolute(Sources, Error);
    Root = fs::weakly_canonical(Root, Error);
    if (filesOf(Sources / "preload", ".cpp").empty() ||
        filesOf(Sources / "torch", ".cpp").empty())
      return Sources.string() + ": the probe's sources are not there";
    if (!fs::exists(Root / "include" / Header, Error))
      return Root.string() +
             ": no LibTorch with headers: there is no include/" + Header;
    Libraries = librariesOf(Root);
    if (Libraries.empty())
      return Root.string() + ": no LibTorch with shared libraries: there is no "
                             "lib/libtorch_cpu.so";
    fs::create_directories(Cache, Error);
    if (Error)
      return Cache.string() + ": " + Error.message();
    Cache = fs::absolute(Cache, Error);
    const fs::path Output =
        Cache / ("compiler." + std::to_string(getpid()) + ".log");
    const int Code = run({Compiler, "--version"}, Output);
    CompilerVersion = contentOf(Output);
    fs::remove(Output, Error);
    if (Code == 127)
      return Compiler + ": this compiler cannot be run";
    if (Code != 0)
      return Compiler + " --version exits with " + std::to_string(Code);
    return {};
  }

  std::string key() const {
    Fingerprint Of;
    Of.add("2").add(Compiler).add(CompilerVersion).add(Root.string());
    for (const fs::path &Folder : {Sources, Sources / "preload",
                                   Sources / "torch", Sources / "../trace"})
      for (const char *Extension : {".h", ".cpp"})
        for (const fs::path &File : filesOf(Folder, Extension))
          Of.add(File.filename().string()).add(contentOf(File));
    // The libraries are half a gigabyte: their sizes and times say enough.
    std::error_code Error;
    for (const char *Name : {"libc10.so", "libtorch_cpu.so"}) {
      const fs::path Library = Libraries / Name;
      Of.add(std::to_string(fs::file_size(Library, Error)))
          .add(std::to_string(
              fs::last_write_time(Library, Error).time_since_epoch().count()));
    }
    for (const char *Name : {"torch/headeronly/version.h",
                             "torch/csrc/api/include/torch/version.h"})
      Of.add(contentOf(Root / "include" / Name));
    return Of.text();
  }

  static bool isComplete(const fs::path &Folder) {
    std::error_code Ignored;
    return fs::exists(Folder / ProbeName, Ignored) &&
           fs::exists(Folder / TorchName, Ignored);
  }

  /// Into a folder beside it that is then renamed.
  std::string compileInto(const fs::path &Folder) const {
    const fs::path Temporary =
        Folder.string() + ".tmp" + std::to_string(getpid());
    std::error_code Error;
    fs::remove_all(Temporary, Error);
    fs::create_directory(Temporary, Error);
    std::string Wrong = Error ? Temporary.string() + ": " + Error.message()
                              : compileAll(Temporary);
    if (Wrong.empty()) {
      fs::remove_all(Folder, Error);
      fs::rename(Temporary, Folder, Error);
      if (Error)
        Wrong = Folder.string() + ": " + Error.message();
    }
    fs::remove_all(Temporary, Error);
    return Wrong;
  }

  std::string compileAll(const fs::path &Into) const {
    const Words Start = {Compiler, "-std=c++17",          "-O2",    "-DNDEBUG",
                         "-fPIC",  "-fvisibility=hidden", "-shared"};
    Words Probe = Start;
    Probe.insert(Probe.end(), {"-fno-threadsafe-statics", "-pthread"});
    for (const fs::path &File : filesOf(Sources / "preload", ".cpp"))
      Probe.push_back(File.string());
    Probe.insert(Probe.end(), {"-o", (Into / ProbeName).string(), "-ldl"});
    std::string Wrong = compile(Probe, Into);
    if (!Wrong.empty())
      return Wrong;

    // LibTorch's headers take most of the time, so they are read once.
    const fs::path Together = Into / "torch.cpp";
    {
      std::ofstream Out(Together);
      for (const fs::path &File : filesOf(Sources / "torch", ".cpp"))
        Out << "#include \"" << File.string() << "\"\n";
    }
    std::error_code Error;
    const auto Size = fs::file_size(Libraries / "libtorch_cpu.so", Error);
    Words Torch = Start;
    for (const std::string &Flag : includesOf(Root))
      Torch.push_back(Flag);
    Torch.insert(Torch.end(),
                 {"-DTORCH_CONFIRM_LIBRARY_SIZE=" + std::to_string(Size),
                  Together.string(), "-o", (Into / TorchName).string(),
                  "-L" + Libraries.string(), "-Wl,--allow-shlib-undefined",
                  "-ltorch_cpu", "-lc10"});
    Wrong = compile(Torch, Into);
    fs::remove(Together, Error);
    return Wrong;
  }

  std::string compile(const Words &Command, const fs::path &Into) const {
    const fs::path Output = Into / "compiler.log";
    const int Code = run(Command, Output);
    const std::string Said = contentOf(Output);
    std::error_code Ignored;
    fs::remove(Output, Ignored);
    if (Code == 0)
      return {};
    std::string Line;
    for (const std::string &Word : Command)
      Line += (Line.empty() ? "" : " ") + Word;
    return "the probe could not be compiled for " + Root.string() +
           " (exit code " + std::to_string(Code) + "):\n" + Line + "\n" + Said;
  }

  const std::function<void(const std::string &)> &Waits;
  fs::path Sources, Root;
  std::string Compiler, CompilerVersion;
  fs::path Cache, Libraries;
};

} // namespace

ProbeBuild buildProbe(const std::string &Sources, const std::string &LibTorch,
                      const std::string &Compiler, const std::string &Cache,
                      const std::function<void(const std::string &)> &Waits) {
  return Builder(Sources, LibTorch, Compiler, Cache, Waits).build();
}

} // namespace torchtidy::confirm
