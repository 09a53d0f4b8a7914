#include "run/Execute.h"
#include "support/Errors.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace torchtidy::confirm {
namespace {

volatile sig_atomic_t ChildProcess = 0;

void passOn(int Signal) {
  if (ChildProcess > 0)
    kill(ChildProcess, Signal);
}

/// The terminal sends Ctrl-C to both processes; here it is ignored, so that the
/// report comes. Other requests to end reach only this process and are passed
/// on.
class Signals {
public:
  Signals() {
    set(SIGINT, SIG_IGN, Old[0]);
    set(SIGQUIT, SIG_IGN, Old[1]);
    set(SIGTERM, passOn, Old[2]);
    set(SIGHUP, passOn, Old[3]);
  }
  ~Signals() { restore(); }
  /// Also in the child: it begins as if started by a shell.
  void restore() const {
    for (int I = 0; I < 4; ++I)
      sigaction(Numbers[I], &Old[I], nullptr);
  }

private:
  static constexpr int Numbers[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

  static void set(int Number, void (*Handler)(int), struct sigaction &Before) {
    struct sigaction New = {};
    New.sa_handler = Handler;
    sigaction(Number, &New, &Before);
  }

  struct sigaction Old[4];
};

/// False where the file cannot be opened.
bool redirect(int To, const std::string &Path, int Flags) {
  if (Path.empty())
    return true;
  const int File = open(Path.c_str(), Flags | O_CLOEXEC, 0666);
  return File >= 0 && dup2(File, To) >= 0;
}

[[noreturn]] void become(const Watched &What, int Report) {
  for (const auto &[Name, Value] : What.Environment)
    setenv(Name.c_str(), Value.c_str(), 1);
  if (!What.Probe.empty()) {
    const char *Others = std::getenv("LD_PRELOAD");
    const std::string Preload =
        What.Probe + (Others && *Others ? std::string(":") + Others : "");
    setenv("LD_PRELOAD", Preload.c_str(), 1);
    setenv("TORCH_CONFIRM_TRACE", What.Trace.c_str(), 1);
    if (What.SamplesHeap)
      setenv("TORCH_CONFIRM_HEAP", "1", 0);
  }
  std::vector<char *> Words;
  for (const std::string &Word : What.Command)
    Words.push_back(const_cast<char *>(Word.c_str()));
  Words.push_back(nullptr);
  if (redirect(STDIN_FILENO, What.Input, O_RDONLY) &&
      redirect(STDOUT_FILENO, What.Output, O_WRONLY | O_CREAT | O_TRUNC))
    execv(What.Program.c_str(), Words.data());
  const int Why = errno;
  [[maybe_unused]] auto Written = write(Report, &Why, sizeof(Why));
  _exit(127);
}

} // namespace

Ended execute(const Watched &What) {
  int Report[2];
  if (pipe2(Report, O_CLOEXEC) != 0)
    throw UserError(std::string("no pipe: ") + std::strerror(errno));
  Signals During;
  const auto Start = std::chrono::steady_clock::now();
  const pid_t Child = fork();
  if (Child < 0)
    throw UserError(std::string("no process: ") + std::strerror(errno));
  if (Child == 0) {
    During.restore();
    become(What, Report[1]);
  }
  ChildProcess = Child;
  close(Report[1]);
  int Why = 0;
  const bool HasFailed = read(Report[0], &Why, sizeof(Why)) == sizeof(Why);
  close(Report[0]);

  int Status = 0;
  while (waitpid(Child, &Status, 0) < 0 && errno == EINTR)
    ;
  ChildProcess = 0;
  if (HasFailed)
    throw UserError("'" + What.Command[0] +
                    "' cannot be started: " + std::strerror(Why));
  Ended Result;
  Result.Seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - Start)
          .count();
  if (WIFSIGNALED(Status))
    Result.Signal = WTERMSIG(Status);
  else
    Result.ExitCode = WEXITSTATUS(Status);
  return Result;
}

} // namespace torchtidy::confirm
