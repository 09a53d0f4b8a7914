#include "run/Pool.h"
#include "cache/Bytes.h"
#include "run/Allowance.h"
#include "run/SignalScope.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <list>
#include <map>
#include <optional>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

using namespace llvm;

namespace torchtidy::tool {
namespace {

using Clock = Allowance::Clock;
constexpr std::chrono::milliseconds TickLength{200};
/// A job that is told to end has this long to remove its temporary files.
constexpr std::chrono::seconds Grace{2};
enum Channel { Messages, Output, Errors, NumChannels };

/// A process, for one job or for a batch.
struct Job {
  /// Those whose outcome is not known yet.
  Pool::Jobs Numbers;
  bool IsBatch = false;
  unsigned Tries = 0;
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

/// Marks the begin of the result, which is the rest.
constexpr char ResultMark = '=';
/// Mark what a batch says: of a job with this number, and of those that are to
/// be another. A number and the length of what follows stand behind them.
constexpr char OutcomeMark = 'o', ApartMark = 'a';
/// Marks the number of a process that is waited for, and a space behind it.
constexpr char WaitMark = 'w';

template <class Stream> void visit(Stream &S, JobOutcome &Each) {
  S.text(Each.Result);
  S.text(Each.Output);
  S.text(Each.Errors);
  S.text(Each.Failure);
  uint64_t Microseconds = uint64_t(Each.Seconds * 1e6);
  S.integer(Microseconds);
  Each.Seconds = double(Microseconds) / 1e6;
}

class Run {
public:
  Run(const Pool &Asked, size_t Count, const Pool::Work &DoWork,
      const Pool::Finished &OnFinished)
      : Asked(Asked), Settings(Asked.Settings), Count(Count), DoWork(DoWork),
        OnFinished(OnFinished) {}

  int run() {
    plan();
    while (!SignalScope::caught() && (!Waiting.empty() || !Running.empty())) {
      while (!SignalScope::caught() && hasRoom() && !Waiting.empty()) {
        auto [Numbers, Tries] = std::move(Waiting.front());
        Waiting.pop_front();
        start(std::move(Numbers), Tries);
      }
      // None could be started: nothing would ever end the wait.
      if (!Running.empty())
        wait();
    }
    if (SignalScope::caught())
      endAll();
    return SignalScope::caught();
  }

private:
  /// Settles what is known, and puts the rest in an order.
  void plan() {
    Pool::Jobs Unknown;
    for (size_t Number = 0; Number < Count && !SignalScope::caught();
         ++Number) {
      std::optional<JobOutcome> Outcome;
      if (Asked.IsKnown)
        Outcome = Asked.IsKnown(Number);
      if (Outcome)
        settle(Number, std::move(*Outcome));
      else
        Unknown.push_back(Number);
      // There is no wait in which signals would be let in.
      const timespec AtOnce = {};
      ppoll(nullptr, 0, &AtOnce, &TheSignals.maskWhileWaiting());
    }
    std::vector<bool> IsInBatch(Count);
    if (Asked.MakeBatches)
      for (Pool::Jobs &Batch : Asked.MakeBatches(Unknown)) {
        for (const size_t Number : Batch)
          IsInBatch[Number] = true;
        Waiting.emplace_back(std::move(Batch), 0);
      }
    for (const size_t Number : Unknown)
      if (!IsInBatch[Number])
        Waiting.emplace_back(Pool::Jobs{Number}, 0);
  }

  bool hasRoom() const {
    if (llvm::any_of(Running, [](const Job &Each) { return Each.IsBatch; }))
      return false;
    return Running.size() < std::max<size_t>(1, MostJobs);
  }

  void start(Pool::Jobs Numbers, unsigned Tries) {
    Job New;
    New.IsBatch = Numbers.size() > 1;
    New.Numbers = std::move(Numbers);
    New.Tries = Tries;
    std::array<int, NumChannels> Theirs = {-1, -1, -1};
    for (int I = 0; I < NumChannels; ++I) {
      int Pair[2];
      if (pipe(Pair) != 0) {
        const int Why = errno;
        giveUp(std::move(New), Theirs, "cannot make a pipe", Why);
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
      const int Why = errno;
      giveUp(std::move(New), Theirs, "cannot start a process", Why);
      return;
    }
    if (New.Process == 0)
      work(New, Theirs, Parent);
    closeAll(Theirs);
    if (Settings.Timeout.count() > 0)
      New.Time.begin(New.Process, Settings.Timeout);
    Running.push_back(std::move(New));
  }

  /// What runs has taken what one more needs (descriptors, processes, memory):
  /// it waits, and from now on there are no more at a time. Where nothing runs,
  /// nothing will be given back.
  void giveUp(Job New, std::array<int, NumChannels> &Theirs, StringRef What,
              int Why) {
    closeAll(New.Ends);
    closeAll(Theirs);
    if (!Running.empty()) {
      MostJobs = Running.size();
      Waiting.emplace_front(std::move(New.Numbers), New.Tries);
      return;
    }
    JobOutcome Outcome;
    Outcome.Failure = (What + ": " + std::strerror(Why)).str();
    if (Why == EMFILE)
      Outcome.Failure += "; 'ulimit -n' says how many one process may have";
    for (const size_t Number : New.Numbers)
      settle(Number, Outcome);
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
    if (Mine.IsBatch)
      workAll(Mine, Theirs[Messages], Control);
    const std::string Result =
        DoWork(Mine.Numbers.front(), Mine.Tries, Control);
    outs().flush();
    std::fflush(nullptr);
    const bool IsTold = writeAll(Theirs[Messages], StringRef(&ResultMark, 1)) &&
                        writeAll(Theirs[Messages], Result);
    _exit(IsTold ? 0 : 1);
  }

  [[noreturn]] void workAll(const Job &Mine, int Channel, JobControl &Control) {
    const auto Say = [Channel](char Mark, size_t Number, StringRef Body) {
      Writer Head;
      Head.Bytes = Mark;
      Head.number(Number);
      Head.number(Body.size());
      if (!writeAll(Channel, Head.Bytes + Body.str()))
        _exit(1);
    };
    Pool::Tell Tell;
    Tell.Ended = [&](size_t Number, JobOutcome Outcome) {
      Writer Body;
      visit(Body, Outcome);
      Say(OutcomeMark, Number, Body.Bytes);
    };
    Tell.Apart = [&](Pool::Jobs Numbers) {
      Writer Body;
      Body.list(Numbers, [&](size_t &Each) { Body.integer(Each); });
      Say(ApartMark, 0, Body.Bytes);
    };
    Asked.DoBatch(Mine.Numbers, Control, Tell);
    outs().flush();
    std::fflush(nullptr);
    _exit(0);
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
    if (Asked.OnTick)
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
    if (Asked.OnTick)
      Asked.OnTick(Running.size(), llvm::count_if(Running, [](const Job &Each) {
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

  void drain(Job &Each) {
    for (int I = 0; I < NumChannels; ++I)
      if (Each.Ends[I] >= 0)
        read(Each, I);
  }

  void understand(Job &Each) {
    const std::string &Text = Each.Text[Messages];
    while (!Each.HasResult && Each.ResultAt < Text.size()) {
      const char Mark = Text[Each.ResultAt++];
      switch (Mark) {
      case OutcomeMark:
      case ApartMark:
        if (!understandBatch(Each, Mark)) {
          // The rest of it is still to come.
          --Each.ResultAt;
          return;
        }
        break;
      case WaitMark: {
        const size_t End = Text.find(' ', Each.ResultAt);
        if (End == std::string::npos) {
          --Each.ResultAt;
          return;
        }
        pid_t Other = 0;
        StringRef(Text).slice(Each.ResultAt, End).getAsInteger(10, Other);
        Each.ResultAt = End + 1;
        if (Asked.OnWait && llvm::none_of(Running, [&](const Job &Ours) {
              return Ours.Process == Other;
            }))
          Asked.OnWait(Other);
        break;
      }
      case 'h':
        Each.IsPaused = false;
        Each.Time.suspend();
        break;
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

  /// False where not all of it is there yet.
  bool understandBatch(Job &Each, char Mark) {
    std::string &Text = Each.Text[Messages];
    constexpr size_t HeadSize = 2 * sizeof(uint64_t);
    const StringRef Rest = StringRef(Text).drop_front(Each.ResultAt);
    if (Rest.size() < HeadSize)
      return false;
    const size_t Number = support::endian::read64le(Rest.data());
    const uint64_t Size =
        support::endian::read64le(Rest.data() + sizeof(uint64_t));
    if (Rest.size() - HeadSize < Size)
      return false;
    Reader In(Rest.substr(HeadSize, Size));
    JobOutcome Outcome;
    Pool::Jobs Apart;
    if (Mark == OutcomeMark)
      visit(In, Outcome);
    else
      In.list(Apart, [&](size_t &Other) { In.integer(Other); });
    const bool IsSound = !In.hasFailed();
    Text.erase(0, Each.ResultAt + HeadSize + Size);
    Each.ResultAt = 0;
    if (!IsSound)
      return true;
    if (Mark == OutcomeMark)
      Apart = {Number};
    llvm::erase_if(Apart, [&](size_t Other) {
      return !is_contained(Each.Numbers, Other);
    });
    llvm::erase_if(Each.Numbers,
                   [&](size_t Other) { return is_contained(Apart, Other); });
    if (Apart.empty())
      return true;
    if (Mark == OutcomeMark)
      settle(Number, std::move(Outcome));
    else
      Waiting.emplace_back(std::move(Apart), 0);
    return true;
  }

  /// Returns the status of a process that ends, and what it has taken.
  std::pair<int, double> reap(const Job &Each) {
    int Status = 0;
    rusage Used = {};
    while (wait4(Each.Process, &Status, 0, &Used) < 0 && errno == EINTR)
      ;
    const auto Seconds = [](const timeval &Time) {
      return double(Time.tv_sec) + double(Time.tv_usec) / 1e6;
    };
    return {Status, Seconds(Used.ru_utime) + Seconds(Used.ru_stime)};
  }

  /// What is left of a batch is done without it.
  void endBatch(const Job &Each) {
    const int Status = reap(Each).first;
    if (WIFSIGNALED(Status) && is_contained(EndingSignals, WTERMSIG(Status)))
      return SignalScope::note(WTERMSIG(Status));
    errs() << Each.Text[Errors];
    for (const size_t Number : llvm::reverse(Each.Numbers))
      Waiting.emplace_front(Pool::Jobs{Number}, 0);
  }

  void end(Job &Each) {
    if (Each.IsBatch)
      return endBatch(Each);
    const auto [Status, Seconds] = reap(Each);
    JobOutcome Outcome;
    Outcome.Seconds = Seconds;
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
    } else if (WIFSIGNALED(Status) &&
               is_contained(EndingSignals, WTERMSIG(Status))) {
      // Ctrl-C goes to all processes of a terminal, in any order.
      SignalScope::note(WTERMSIG(Status));
      return;
    } else if (Each.MayRetry && Each.Tries == 0) {
      errs() << Outcome.Errors;
      Waiting.emplace_front(Each.Numbers, 1);
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
    settle(Each.Numbers.front(), std::move(Outcome));
  }

  void settle(size_t Number, JobOutcome Outcome) {
    if (Asked.OnEnded)
      Asked.OnEnded(Number, Outcome);
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
        // A batch tells what it has, and waits until that is read.
        drain(Each);
        if (Clock::now() > Limit)
          kill(Each.Process, SIGKILL);
        usleep(10000);
      }
      drain(Each);
      closeAll(Each.Ends);
    }
    Running.clear();
    for (auto &[Number, Outcome] : Done)
      OnFinished(Number, std::move(Outcome));
    Done.clear();
  }

  const Pool &Asked;
  const PoolSettings &Settings;
  /// At a time: what is asked for, or as many as could be started.
  size_t MostJobs = Settings.Jobs;
  const size_t Count;
  const Pool::Work &DoWork;
  const Pool::Finished &OnFinished;
  SignalScope TheSignals;
  std::list<Job> Running;
  /// With the number of tries so far.
  std::deque<std::pair<Pool::Jobs, unsigned>> Waiting;
  /// Ended, but not their turn yet.
  std::map<size_t, JobOutcome> Done;
  size_t Told = 0;
};

} // namespace

void JobControl::tell(char What) { writeAll(Channel, StringRef(&What, 1)); }

void JobControl::waitsFor(pid_t Other) {
  writeAll(Channel, WaitMark + std::to_string(Other) + " ");
}

int Pool::run(size_t Count, const Work &DoWork, const Finished &OnFinished) {
  return Run(*this, Count, DoWork, OnFinished).run();
}

} // namespace torchtidy::tool
