#include "run/Execute.h"
#include "run/DeviceUse.h"
#include "run/Processes.h"
#include "run/Witness.h"
#include "support/Errors.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace torchtidy::confirm {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char *TraceVariable = "TORCH_CONFIRM_TRACE";

/// While it lives, signals are not handled but read one after the other: which
/// of them is for the program, only who sent it tells.
class Signals {
public:
  Signals() {
    sigemptyset(&Read);
    for (int Each : {SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1,
                     SIGUSR2, SIGTSTP, SIGCONT})
      sigaddset(&Read, Each);
    sigprocmask(SIG_BLOCK, &Read, &Before);
    // Where it is ignored, nobody is told how a child ended.
    struct sigaction Default = {};
    Default.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &Default, &BeforeOfChild);
  }
  ~Signals() {
    // A request to end that came with the program's end was meant for it.
    siginfo_t Ignored;
    while (next(Ignored, Clock::now()))
      ;
    restore();
  }
  Signals(const Signals &) = delete;
  Signals &operator=(const Signals &) = delete;

  /// Also in the child: it begins as if started by a shell.
  void restore() const {
    sigaction(SIGCHLD, &BeforeOfChild, nullptr);
    sigprocmask(SIG_SETMASK, &Before, nullptr);
  }

  /// Waits for one; false where the time was over before.
  bool next(siginfo_t &Info, std::optional<Clock::time_point> Until) const {
    for (;;) {
      timespec Left = {};
      if (Until) {
        const auto Time = std::chrono::duration_cast<std::chrono::nanoseconds>(
            std::max(*Until - Clock::now(), Clock::duration::zero()));
        Left.tv_sec = Time.count() / 1000000000;
        Left.tv_nsec = Time.count() % 1000000000;
      }
      if (sigtimedwait(&Read, &Info, Until ? &Left : nullptr) > 0)
        return true;
      if (errno == EAGAIN)
        return false;
    }
  }

  /// Does nothing where no shell would start this process again.
  void stopAs(int Signal) const {
    sigset_t Only;
    sigemptyset(&Only);
    sigaddset(&Only, Signal);
    // Not before it is raised: the terminal's own may wait, and would be
    // another stop.
    raise(Signal);
    sigprocmask(SIG_UNBLOCK, &Only, nullptr);
    sigprocmask(SIG_BLOCK, &Read, nullptr);
  }

  const sigset_t &all() const { return Read; }

private:
  sigset_t Read, Before;
  struct sigaction BeforeOfChild;
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
    setenv(TraceVariable, What.Trace.c_str(), 1);
    if (What.SamplesHeap)
      setenv("TORCH_CONFIRM_HEAP", "1", 0);
  }
  std::vector<char *> Words;
  for (const std::string &Word : What.Command)
    Words.push_back(const_cast<char *>(Word.c_str()));
  Words.push_back(nullptr);
  if (redirect(STDIN_FILENO, What.Input, O_RDONLY) &&
      redirect(STDOUT_FILENO, What.Output, O_WRONLY | O_CREAT | O_TRUNC)) {
    execv(What.Program.c_str(), Words.data());
    if (errno == ENOEXEC) {
      // A script that does not say of what, as a shell runs it.
      Words.front() = const_cast<char *>(What.Program.c_str());
      Words.insert(Words.begin(), const_cast<char *>("sh"));
      execv("/bin/sh", Words.data());
    }
  }
  const int Why = errno;
  [[maybe_unused]] auto Written = write(Report, &Why, sizeof(Why));
  _exit(127);
}

/// Puts nothing in the place of a file that is the program's now.
void letGo(int File) {
  const int Nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (Nothing < 0)
    return;
  dup2(Nothing, File);
  close(Nothing);
}

/// The program from its start to its end.
class Running {
public:
  Running(const Watched &What, const Signals &During, const Witness &Others,
          pid_t Child)
      : What(What), During(During), Others(Others), Child(Child) {
    if (What.Timeout)
      EndAt = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                 std::chrono::duration<double>(*What.Timeout));
  }

  /// As waitpid() has it.
  int wait() {
    while (!hasEnded()) {
      siginfo_t Info;
      if (!During.next(Info, EndAt))
        end();
      else
        passOn(Info);
    }
    return Status;
  }

  bool hasTimedOut() const { return TimedOut; }
  const rusage &usage() const { return Usage; }

private:
  bool hasEnded() {
    while (!Ended &&
           wait4(Child, &Status, WNOHANG | WUNTRACED, &Usage) == Child) {
      if (!WIFSTOPPED(Status))
        Ended = true;
      // Of a shell's job all processes are stopped, and the shell waits for
      // this one. Whoever sends SIGSTOP will start it again by its number.
      else if (WSTOPSIG(Status) != SIGSTOP)
        During.stopAs(WSTOPSIG(Status));
    }
    return Ended;
  }

  void passOn(const siginfo_t &Info) const {
    if (Info.si_signo == SIGCHLD || Ended)
      return;
    // The kernel's are those of the terminal: the program has them, too.
    if (Info.si_code != SI_KERNEL && !Others.hasSeen(Info))
      kill(Child, Info.si_signo);
  }

  /// The time is over.
  void end() {
    TimedOut = true;
    EndAt.reset();
    const std::string Variable = std::string(TraceVariable) + "=" + What.Trace;
    std::vector<Process> All =
        processesOf(Child, What.Probe.empty() ? "" : Variable);
    for (const Process &Each : All)
      send(Each, SIGTERM);
    const auto KillAt = Clock::now() + std::chrono::seconds(SecondsToEnd);
    // Of the others nobody tells when they end.
    while (Clock::now() < KillAt && !(hasEnded() && noneOf(All))) {
      siginfo_t Info;
      if (During.next(Info, Clock::now() + std::chrono::milliseconds(50)))
        passOn(Info);
    }
    for (const Process &Each : All)
      if (isAlive(Each))
        for (const Process &Later : processesOf(Each.Id, ""))
          kill(Later.Id, SIGKILL);
  }

  static void send(const Process &To, int Signal) {
    kill(To.Id, Signal);
    // What is stopped does not see it before.
    kill(To.Id, SIGCONT);
  }

  bool noneOf(const std::vector<Process> &All) const {
    return std::none_of(All.begin(), All.end(), isAlive);
  }

  const Watched &What;
  const Signals &During;
  const Witness &Others;
  const pid_t Child;
  std::optional<Clock::time_point> EndAt;
  int Status = 0;
  rusage Usage = {};
  bool Ended = false, TimedOut = false;
};

} // namespace

Ended execute(const Watched &What) {
  int Report[2];
  if (pipe2(Report, O_CLOEXEC) != 0)
    throw UserError(std::string("no pipe: ") + std::strerror(errno));
  const Signals During;
  const Witness Others(During.all());
  const pid_t Parent = getpid();
  const auto Start = Clock::now();
  const pid_t Child = fork();
  if (Child < 0)
    throw UserError(std::string("no process: ") + std::strerror(errno));
  if (Child == 0) {
    // Who kills this process means the program.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != Parent)
      _exit(127);
    During.restore();
    become(What, Report[1]);
  }
  close(Report[1]);
  // A program with files of its own in their place has none of these.
  if (What.Input.empty())
    letGo(STDIN_FILENO);
  if (What.Output.empty() && !What.KeepsOutput)
    letGo(STDOUT_FILENO);
  int Why = 0;
  const bool HasFailed = read(Report[0], &Why, sizeof(Why)) == sizeof(Why);
  close(Report[0]);

  std::optional<DeviceUse> Devices;
  if (What.SamplesDevices && !HasFailed)
    Devices.emplace(Child);
  Running Program(What, During, Others, Child);
  const int Status = Program.wait();
  if (HasFailed)
    throw UserError("'" + What.Command[0] +
                    "' cannot be started: " + std::strerror(Why));
  Ended Result;
  if (Devices)
    Result.Devices = Devices->stop();
  Result.TimedOut = Program.hasTimedOut();
  Result.Seconds = std::chrono::duration<double>(Clock::now() - Start).count();
  // In kilobytes.
  Result.PeakResidentBytes = Program.usage().ru_maxrss * int64_t(1024);
  if (WIFSIGNALED(Status))
    Result.Signal = WTERMSIG(Status);
  else
    Result.ExitCode = WEXITSTATUS(Status);
  return Result;
}

void endBySignal(int Signal) {
  prctl(PR_SET_DUMPABLE, 0);
  struct sigaction Default = {};
  Default.sa_handler = SIG_DFL;
  sigaction(Signal, &Default, nullptr);
  sigset_t Only;
  sigemptyset(&Only);
  sigaddset(&Only, Signal);
  sigprocmask(SIG_UNBLOCK, &Only, nullptr);
  raise(Signal);
}

} // namespace torchtidy::confirm
