#include "support/Capture.h"
#include "support/Errors.h"
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace torchtidy::confirm {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void become(const std::vector<std::string> &Command,
                         const CaptureSettings &How, int Output, int Errors) {
  // What nobody waits for any more is not to go on beside a new beginning.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Its own group, so that what it starts can be ended with it. Without a limit
  // it stays in ours, and Ctrl-C reaches it.
  if (How.Seconds)
    setpgid(0, 0);
  dup2(open(How.Input.c_str(), O_RDONLY), STDIN_FILENO);
  if (!How.OutputFile.empty())
    Output = open(How.OutputFile.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(Output, STDOUT_FILENO);
  dup2(Errors, STDERR_FILENO);
  for (const auto &[Name, Value] : How.Environment)
    setenv(Name.c_str(), Value.c_str(), 1);
  std::vector<char *> Words;
  for (const std::string &Word : Command)
    Words.push_back(const_cast<char *>(Word.c_str()));
  Words.push_back(nullptr);
  if (How.Folder.empty() || chdir(How.Folder.c_str()) == 0)
    execvp(Words[0], Words.data());
  const std::string Message = Command[0] + ": " + std::strerror(errno) + "\n";
  [[maybe_unused]] auto Written =
      write(STDERR_FILENO, Message.data(), Message.size());
  _exit(127);
}

/// What a child prints, until it ends or the time is over.
class Reading {
public:
  Reading(int Output, int Errors)
      : Pipes{pollfd{Output, POLLIN, 0}, pollfd{Errors, POLLIN, 0}} {}

  /// False where the time is over. Seconds: 0 for no limit.
  bool readAll(unsigned Seconds, Captured &Into) {
    const auto Deadline = Clock::now() + std::chrono::seconds(Seconds);
    while (Pipes[0].fd >= 0 || Pipes[1].fd >= 0) {
      int Left = -1;
      if (Seconds) {
        Left = static_cast<int>(
            std::chrono::duration_cast<std::chrono::milliseconds>(Deadline -
                                                                  Clock::now())
                .count());
        if (Left <= 0)
          return false;
      }
      if (poll(Pipes.data(), Pipes.size(), Left) < 0 && errno != EINTR)
        return true;
      readSome(Pipes[0], Into.Output, Into.All);
      readSome(Pipes[1], Into.Errors, Into.All);
    }
    return true;
  }

private:
  static void readSome(pollfd &Pipe, std::string &Text, std::string &All) {
    if (Pipe.fd < 0 || !Pipe.revents)
      return;
    char Buffer[1 << 14];
    const ssize_t Count = read(Pipe.fd, Buffer, sizeof(Buffer));
    if (Count > 0) {
      Text.append(Buffer, Count);
      All.append(Buffer, Count);
    } else if (Count == 0 || errno != EINTR) {
      Pipe.fd = -1;
    }
  }

  std::array<pollfd, 2> Pipes;
};

} // namespace

Captured capture(const std::vector<std::string> &Command,
                 const CaptureSettings &How) {
  int Out[2], Error[2];
  if (pipe2(Out, O_CLOEXEC) != 0 || pipe2(Error, O_CLOEXEC) != 0)
    throw UserError(std::string("no pipe: ") + std::strerror(errno));
  const pid_t Child = fork();
  if (Child < 0)
    throw UserError(std::string("no process: ") + std::strerror(errno));
  if (Child == 0)
    become(Command, How, Out[1], Error[1]);
  close(Out[1]);
  close(Error[1]);

  Captured Result;
  if (!Reading(Out[0], Error[0]).readAll(How.Seconds, Result)) {
    Result.TimedOut = true;
    kill(-Child, SIGKILL);
  }
  close(Out[0]);
  close(Error[0]);
  int Status = 0;
  while (waitpid(Child, &Status, 0) < 0 && errno == EINTR)
    ;
  Result.Code =
      WIFSIGNALED(Status) ? 128 + WTERMSIG(Status) : WEXITSTATUS(Status);
  return Result;
}

std::string shown(const std::vector<std::string> &Command) {
  std::string Result;
  for (const std::string &Word : Command)
    Result += (Result.empty() ? "" : " ") + Word;
  return Result;
}

TemporaryFolder::TemporaryFolder() {
  std::error_code Error;
  const fs::path In = fs::temp_directory_path(Error);
  if (Error)
    throw UserError("TMPDIR names no folder: " + Error.message());
  Path = (In / "torch-confirm-XXXXXX").string();
  if (!mkdtemp(Path.data()))
    throw UserError("cannot make a folder in " + In.string() + ": " +
                    std::strerror(errno) +
                    "; TMPDIR says where else to make it");
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code Ignored;
  // A process that outlives the program may just be making a file in it.
  for (int Tries = 0; Tries < 3 && fs::exists(Path, Ignored); ++Tries)
    fs::remove_all(Path, Ignored);
}

} // namespace torchtidy::confirm
