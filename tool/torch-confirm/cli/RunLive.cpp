#include "cli/RunLive.h"
#include "live/Watch.h"
#include "run/Execute.h"
#include "support/Capture.h"
#include "support/Errors.h"
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace torchtidy::confirm {
namespace {

/// What it takes of a file to show its last lines.
constexpr std::streamoff EndOfFile = 8192;

/// A stream that would be drawn over goes to a file until the end.
class Kept {
public:
  Kept(int Stream, std::string Path)
      : Stream(Stream), Path(isatty(Stream) ? std::move(Path) : "") {}

  /// In the process that writes to it.
  void redirect() const {
    if (Path.empty())
      return;
    const int File =
        open(Path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (File < 0 || dup2(File, Stream) < 0)
      _exit(ExitError);
    close(File);
  }

  void addLastLines(std::vector<std::string> &To) const {
    std::ifstream File(Path, std::ios::binary | std::ios::ate);
    if (Path.empty() || !File)
      return;
    const std::streamoff Size = File.tellg();
    File.seekg(std::max<std::streamoff>(0, Size - EndOfFile));
    std::string Line;
    // Of the first one only the end may be there.
    if (Size > EndOfFile)
      std::getline(File, Line);
    while (std::getline(File, Line))
      To.push_back(Line.substr(Line.rfind('\r') + 1));
  }

  void replay() const {
    if (Path.empty())
      return;
    const int File = open(Path.c_str(), O_RDONLY | O_CLOEXEC);
    char Part[65536];
    for (ssize_t Size;
         File >= 0 && (Size = read(File, Part, sizeof(Part))) > 0;)
      (void)!write(Stream, Part, size_t(Size));
    if (File >= 0)
      close(File);
  }

private:
  int Stream;
  std::string Path;
};

[[noreturn]] void work(const std::function<int()> &Work) {
  // Who kills the view means the program.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  int Code = ExitError;
  try {
    Code = Work();
  } catch (const std::exception &Error) {
    std::cerr << "torch-confirm: error: " << Error.what() << '\n';
  }
  std::cout.flush();
  std::cerr.flush();
  // What this process had begun before is its parent's to end.
  _exit(Code);
}

} // namespace

int runLive(const std::function<int()> &Work, bool Color) {
  const TemporaryFolder Folder;
  const Kept Output(STDOUT_FILENO, Folder.path() + "/output");
  const Kept Errors(STDERR_FILENO, Folder.path() + "/errors");
  const pid_t Child = fork();
  if (Child < 0)
    throw UserError(std::string("no process: ") + std::strerror(errno));
  if (Child == 0) {
    Output.redirect();
    Errors.redirect();
    work(Work);
  }

  std::optional<Follower> Program;
  int Status = 0;
  bool HasEnded = false;
  WatchSettings How;
  How.File = STDERR_FILENO;
  How.Color = Color;
  // They are the program's.
  How.ReadsKeys = false;
  How.Output = [&] {
    std::vector<std::string> Lines;
    Output.addLastLines(Lines);
    Errors.addLastLines(Lines);
    return Lines;
  };
  How.OnSignal = [&](int Signal) {
    // Those of the terminal the program has, too.
    if (Signal == SIGTERM || Signal == SIGHUP)
      kill(Child, Signal);
    return true;
  };
  watch(
      [&]() -> std::optional<LiveLook> {
        if (!Program)
          for (LiveRun &Each : liveRunsOf(Child))
            Program.emplace(std::move(Each));
        return Program ? Program->look() : std::nullopt;
      },
      [&] {
        HasEnded = HasEnded || waitpid(Child, &Status, WNOHANG) == Child;
        return !HasEnded;
      },
      How);
  if (!HasEnded)
    waitpid(Child, &Status, 0);
  Output.replay();
  Errors.replay();
  if (WIFSIGNALED(Status))
    endBySignal(WTERMSIG(Status));
  return WIFSIGNALED(Status) ? 128 + WTERMSIG(Status) : WEXITSTATUS(Status);
}

} // namespace torchtidy::confirm
