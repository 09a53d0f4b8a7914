#include "run/Pool.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <list>
#include <map>
#include <optional>
#include <poll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <vector>
#ifdef __linux__
#include <sys/prctl.h>
#endif

using namespace llvm;

namespace torchtidy::tool {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds TickLength{200};
/// A job that is told to end has this long to remove its temporary files.
constexpr std::chrono::seconds Grace{2};
constexpr int Signals[] = {SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t Caught = 0;
void onSignal(int Number) { Caught = Number; }

/// Signals are only let in while the pool waits: none is missed between a look
/// at Caught and the wait.
class SignalScope {
public:
  SignalScope() {
    Caught = 0;
    struct sigaction Action = {};
    Action.sa_handler = onSignal;
    sigemptyset(&Action.sa_mask);
    sigset_t Blocked;
    sigemptyset(&Blocked);
    for (size_t I = 0; I < Old.size(); ++I) {
      sigaction(Signals[I], &Action, &Old[I]);
      sigaddset(&Blocked, Signals[I]);
    }
    sigprocmask(SIG_BLOCK, &Blocked, &OldMask);
  }
  ~SignalScope() { restore(); }
  SignalScope(const SignalScope &) = delete;
  SignalScope &operator=(const SignalScope &) = delete;

  void restore() {
    // What is pending is still let in here. A job that the same Ctrl-C has
    // ended may be seen before the signal is: under the handler of before, the
    // signal would then end the program before it has told what it found.
    sigprocmask(SIG_SETMASK, &OldMask, nullptr);
    for (size_t I = 0; I < Old.size(); ++I)
      sigaction(Signals[I], &Old[I], nullptr);
  }
  const sigset_t &maskWhileWaiting() const { return OldMask; }

private:
  std::array<struct sigaction, std::size(Signals)> Old;
  sigset_t OldMask;
};

enum Channel { Messages, Output, Errors, NumChannels };

/// What a process has used of the processors; nothing where the system does not
/// tell.
std::optional<Clock::duration> processorTime(pid_t Process) {
#ifdef __linux__
  clockid_t Id;
  timespec Used;
  if (clock_getcpuclockid(Process, &Id) == 0 && clock_gettime(Id, &Used) == 0)
    return std::chrono::seconds(Used.tv_sec) +
           std::chrono::nanoseconds(Used.tv_nsec);
#endif
  return std::nullopt;
}

/// How long a job may take. Processor time, so that it does not depend on what
/// else the machine does; a job that hardly uses any is waiting for something
/// that may never come, and for it the clock counts.
class Allowance {
public:
  /// From now on. Nothing is used up, whatever the job did before.
  void begin(pid_t Job, Clock::duration Limit) {
    Process = Job;
    Whole = Limit;
    Since = Clock::now();
    UsedBefore = UsedThen = processorTime(Process).value_or(Clock::duration());
    LookAt = Since + Whole;
  }
  void suspend() { LookAt.reset(); }
  /// When to ask isUsedUp().
  const std::optional<Clock::time_point> &nextLook() const { return LookAt; }

  bool isUsedUp(Clock::time_point Now) {
    if (!LookAt || Now < *LookAt)
      return false;
    const std::optional<Clock::duration> Used = processorTime(Process);
    if (!Used || *Used - UsedBefore >= Whole)
      return true;
    if (Now - Since >= Whole / 2) {
      if ((*Used - UsedThen) * LeastShare < Now - Since)
        return true;
      Since = Now;
      UsedThen = *Used;
    }
    LookAt = Now + std::max<Clock::duration>(Whole - (*Used - UsedBefore),
                                             TickLength);
    return false;
  }

private:
  /// Less than this part of one processor is waiting.
  static constexpr int LeastShare = 100;
  pid_t Process = -1;
  Clock::duration Whole{}, UsedBefore{};
  std::optional<Clock::time_point> LookAt;
  /// The begin of the time over which the share is taken.
  Clock::time_point Since;
  Clock::duration UsedThen{};
};

struct Job {
  size_t Number;
  unsigned Tries;
  pid_t Process = -1;
  std::array<int, NumChannels> Ends = {-1, -1, -1};
  std::array<std::string, NumChannels> Text;
  /// How much of the messages is understood; the rest is the result.
  bool HasResult = false;
  size_t ResultAt = 0;
  bool IsPaused = false, MayRetry = false, IsTimedOut = false;
  Allowance Time;
  std::optional<Clock::time_point> KillAt;

  bool isOpen() const {
    return llvm::any_of(Ends, [](int End) { return End >= 0; });
  }
};

bool writeAll(int Descriptor, StringRef Text) {
  while (!Text.empty()) {
    const ssize_t Written = write(Descriptor, Text.data(), Text.size());
    if (Written < 0 && errno == EINTR)
      continue;
    if (Written <= 0)
      return false;
    Text = Text.drop_front(Written);
  }
  return true;
}

void closeAll(std::array<int, NumChannels> &Ends) {
  for (int &End : Ends) {
    if (End >= 0)
      close(End);
    End = -1;
  }
}

/// Marks the begin of the result.
constexpr char ResultMark = '=';

class Run {
public:
  Run(const PoolSettings &Settings, size_t Count, const Pool::Work &DoWork,
      const Pool::Finished &OnFinished, const Pool::Ended &OnEnded,
      const Pool::Tick &OnTick, const Pool::Known &IsKnown)
      : Settings(Settings), Count(Count), DoWork(DoWork),
        OnFinished(OnFinished), OnEnded(OnEnded), OnTick(OnTick),
        IsKnown(IsKnown) {}

  int run() {
    while (!Caught && (Next < Count || !Again.empty() || !Running.empty())) {
      while (!Caught && Running.size() < std::max(1u, Settings.Jobs) &&
             (Next < Count || !Again.empty()))
        startNext();
      // None could be started: nothing would ever end the wait.
      if (!Running.empty())
        wait();
    }
    if (Caught)
      endAll();
    return Caught;
  }

private:
  void startNext() {
    if (!Again.empty()) {
      const size_t Number = Again.front();
      Again.pop_front();
      return start(Number, 1);
    }
    const size_t Number = Next++;
    if (IsKnown)
      if (std::optional<JobOutcome> Outcome = IsKnown(Number)) {
        settle(Number, std::move(*Outcome));
        // There is no wait in which signals would be let in.
        const timespec AtOnce = {};
        ppoll(nullptr, 0, &AtOnce, &TheSignals.maskWhileWaiting());
        return;
      }
    start(Number, 0);
  }

  void start(size_t Number, unsigned Tries) {
    Job New;
    New.Number = Number;
    New.Tries = Tries;
    std::array<int, NumChannels> Theirs = {-1, -1, -1};
    for (int I = 0; I < NumChannels; ++I) {
      int Pair[2];
      if (pipe(Pair) != 0) {
        fail(New, Theirs, "cannot make a pipe");
        return;
      }
      New.Ends[I] = Pair[0];
      Theirs[I] = Pair[1];
      fcntl(Pair[0], F_SETFL, O_NONBLOCK);
    }
    // Whatever is buffered would be written twice.
    outs().flush();
    const pid_t Parent = getpid();
    New.Process = fork();
    if (New.Process < 0) {
      fail(New, Theirs, "cannot start a process");
      return;
    }
    if (New.Process == 0)
      work(New, Theirs, Parent);
    closeAll(Theirs);
    if (Settings.Timeout.count() > 0)
      New.Time.begin(New.Process, Settings.Timeout);
    Running.push_back(std::move(New));
  }

  void fail(Job &New, std::array<int, NumChannels> &Theirs, StringRef What) {
    JobOutcome Outcome;
    Outcome.Failure = (What + ": " + std::strerror(errno)).str();
    closeAll(New.Ends);
    closeAll(Theirs);
    settle(New.Number, std::move(Outcome));
  }

  [[noreturn]] void work(Job &Mine, const std::array<int, NumChannels> &Theirs,
                         pid_t Parent) {
#ifdef __linux__
    // Also where the parent is killed without a chance to tell.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != Parent)
      _exit(1);
#endif
    TheSignals.restore();
    for (Job &Other : Running)
      closeAll(Other.Ends);
    closeAll(Mine.Ends);
    dup2(Theirs[Output], STDOUT_FILENO);
    dup2(Theirs[Errors], STDERR_FILENO);
    close(Theirs[Output]);
    close(Theirs[Errors]);
    JobControl Control(Theirs[Messages]);
    const std::string Result = DoWork(Mine.Number, Mine.Tries, Control);
    outs().flush();
    std::fflush(nullptr);
    const bool IsTold = writeAll(Theirs[Messages], StringRef(&ResultMark, 1)) &&
                        writeAll(Theirs[Messages], Result);
    _exit(IsTold ? 0 : 1);
  }

  void wait() {
    std::vector<pollfd> Watched;
    std::vector<std::pair<Job *, int>> Owners;
    std::optional<Clock::time_point> Wake;
    auto WakeAt = [&](const std::optional<Clock::time_point> &Time) {
      if (Time && (!Wake || *Time < *Wake))
        Wake = Time;
    };
    for (Job &Each : Running) {
      for (int I = 0; I < NumChannels; ++I)
        if (Each.Ends[I] >= 0) {
          Watched.push_back({Each.Ends[I], POLLIN, 0});
          Owners.emplace_back(&Each, I);
        }
      WakeAt(Each.KillAt ? Each.KillAt : Each.Time.nextLook());
    }
    if (OnTick)
      WakeAt(Clock::now() + TickLength);
    timespec Length = {}, *Limit = nullptr;
    if (Wake) {
      const auto Left = std::max(Clock::duration::zero(), *Wake - Clock::now());
      const auto Whole = std::chrono::duration_cast<std::chrono::seconds>(Left);
      Length.tv_sec = Whole.count();
      Length.tv_nsec =
          std::chrono::duration_cast<std::chrono::nanoseconds>(Left - Whole)
              .count();
      Limit = &Length;
    }
    const int Ready = ppoll(Watched.data(), Watched.size(), Limit,
                            &TheSignals.maskWhileWaiting());
    if (Ready > 0)
      for (size_t I = 0; I < Watched.size(); ++I)
        if (Watched[I].revents)
          read(*Owners[I].first, Owners[I].second);
    for (auto It = Running.begin(); It != Running.end();) {
      Job &Each = *It;
      if (!Each.isOpen()) {
        end(Each);
        It = Running.erase(It);
        continue;
      }
      const auto Now = Clock::now();
      if (Each.KillAt && Now >= *Each.KillAt) {
        kill(Each.Process, SIGKILL);
        Each.KillAt.reset();
        Each.Time.suspend();
      } else if (!Each.IsTimedOut && Each.Time.isUsedUp(Now)) {
        Each.IsTimedOut = true;
        kill(Each.Process, SIGTERM);
        Each.KillAt = Now + Grace;
      }
      ++It;
    }
    if (OnTick)
      OnTick(Running.size(), llvm::count_if(Running, [](const Job &Each) {
               return Each.IsPaused;
             }));
  }

  void read(Job &Each, int From) {
    char Buffer[1 << 16];
    while (true) {
      const ssize_t Got = ::read(Each.Ends[From], Buffer, sizeof(Buffer));
      if (Got > 0) {
        Each.Text[From].append(Buffer, Got);
        continue;
      }
      if (Got < 0 && errno == EINTR)
        continue;
      if (Got == 0 || errno != EAGAIN) {
        close(Each.Ends[From]);
        Each.Ends[From] = -1;
      }
      break;
    }
    if (From == Messages)
      understand(Each);
  }

  void understand(Job &Each) {
    const std::string &Text = Each.Text[Messages];
    while (!Each.HasResult && Each.ResultAt < Text.size()) {
      switch (Text[Each.ResultAt++]) {
      case 'p':
        Each.IsPaused = true;
        Each.Time.suspend();
        break;
      case 'r':
        Each.IsPaused = false;
        if (Settings.Timeout.count() > 0)
          Each.Time.begin(Each.Process, Settings.Timeout);
        break;
      case 't':
        Each.MayRetry = true;
        break;
      case ResultMark:
        Each.HasResult = true;
        break;
      }
    }
  }

  int reap(const Job &Each) {
    int Status = 0;
    while (waitpid(Each.Process, &Status, 0) < 0 && errno == EINTR)
      ;
    return Status;
  }

  void end(Job &Each) {
    const int Status = reap(Each);
    JobOutcome Outcome;
    Outcome.Output = std::move(Each.Text[Output]);
    Outcome.Errors = std::move(Each.Text[Errors]);
    if (Each.IsTimedOut) {
      Outcome.Failure =
          "it took longer than " +
          std::to_string(
              std::chrono::duration_cast<std::chrono::seconds>(Settings.Timeout)
                  .count()) +
          " s (--timeout)";
    } else if (Each.HasResult && WIFEXITED(Status) &&
               WEXITSTATUS(Status) == 0) {
      Outcome.Result = Each.Text[Messages].substr(Each.ResultAt);
    } else if (WIFSIGNALED(Status) && is_contained(Signals, WTERMSIG(Status))) {
      // Ctrl-C goes to all processes of a terminal, in any order.
      Caught = WTERMSIG(Status);
      return;
    } else if (Each.MayRetry && Each.Tries == 0) {
      errs() << Outcome.Errors;
      Again.push_back(Each.Number);
      return;
    } else if (WIFSIGNALED(Status) && WTERMSIG(Status) == SIGKILL) {
      Outcome.Failure = "the analysis was killed; where memory is short, fewer "
                        "at a time help (-j)";
    } else if (WIFSIGNALED(Status)) {
      Outcome.Failure = std::string("the analysis crashed (") +
                        strsignal(WTERMSIG(Status)) + ")";
    } else {
      Outcome.Failure = "the analysis ended with exit code " +
                        std::to_string(WEXITSTATUS(Status));
    }
    settle(Each.Number, std::move(Outcome));
  }

  void settle(size_t Number, JobOutcome Outcome) {
    if (OnEnded)
      OnEnded(Number, Outcome);
    Done.emplace(Number, std::move(Outcome));
    for (auto It = Done.find(Told); It != Done.end(); It = Done.find(Told)) {
      OnFinished(Told, std::move(It->second));
      Done.erase(It);
      ++Told;
    }
  }

  void endAll() {
    for (const Job &Each : Running)
      kill(Each.Process, SIGTERM);
    const auto Limit = Clock::now() + Grace;
    for (Job &Each : Running) {
      while (waitpid(Each.Process, nullptr, WNOHANG) == 0) {
        if (Clock::now() > Limit)
          kill(Each.Process, SIGKILL);
        usleep(10000);
      }
      closeAll(Each.Ends);
    }
    Running.clear();
    for (auto &[Number, Outcome] : Done)
      OnFinished(Number, std::move(Outcome));
    Done.clear();
  }

  const PoolSettings &Settings;
  const size_t Count;
  const Pool::Work &DoWork;
  const Pool::Finished &OnFinished;
  const Pool::Ended &OnEnded;
  const Pool::Tick &OnTick;
  const Pool::Known &IsKnown;
  SignalScope TheSignals;
  std::list<Job> Running;
  std::list<size_t> Again;
  /// Ended, but not their turn yet.
  std::map<size_t, JobOutcome> Done;
  size_t Next = 0, Told = 0;
};

} // namespace

void JobControl::tell(char What) { writeAll(Channel, StringRef(&What, 1)); }

int Pool::run(size_t Count, const Work &DoWork, const Finished &OnFinished) {
  return Run(Settings, Count, DoWork, OnFinished, OnEnded, OnTick, IsKnown)
      .run();
}

namespace {

/// The number in a file that holds nothing else; empty for "max" and the like.
std::optional<uint64_t> numberIn(StringRef Path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> Text =
      MemoryBuffer::getFileAsStream(Path);
  uint64_t Number;
  if (!Text || (*Text)->getBuffer().trim().getAsInteger(10, Number))
    return std::nullopt;
  return Number;
}

/// Empty if nothing says.
std::optional<uint64_t> freeMemory() {
  std::optional<uint64_t> Free;
  if (ErrorOr<std::unique_ptr<MemoryBuffer>> Text =
          MemoryBuffer::getFileAsStream("/proc/meminfo")) {
    StringRef Rest = (*Text)->getBuffer();
    Rest = Rest.drop_front(std::min(Rest.find("MemAvailable:"), Rest.size()));
    Rest.consume_front("MemAvailable:");
    Rest = Rest.ltrim();
    uint64_t Kilobytes;
    if (!Rest.consumeInteger(10, Kilobytes))
      Free = Kilobytes * 1024;
  }
  // A container's limit. What it uses now says nothing: most of that is the
  // cache of files, which gives way.
  if (const std::optional<uint64_t> Limit =
          numberIn("/sys/fs/cgroup/memory.max"))
    Free = Free ? std::min(*Free, *Limit) : *Limit;
  return Free;
}

} // namespace

unsigned defaultJobs(uint64_t BytesPerJob) {
  const unsigned Processors =
      std::max(1u, hardware_concurrency().compute_thread_count());
  const std::optional<uint64_t> Free = freeMemory();
  if (!Free)
    return Processors;
  return std::clamp<uint64_t>(*Free / BytesPerJob, 1, Processors);
}

} // namespace torchtidy::tool
