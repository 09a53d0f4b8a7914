#include "live/Attach.h"
#include "recording/FromTrace.h"
#include "report/Report.h"
#include "support/Errors.h"
#include "trace/TraceFile.h"
#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <set>
#include <thread>
#include <unistd.h>

namespace torchtidy::confirm {
namespace {

constexpr const char *TraceVariable = "TORCH_CONFIRM_TRACE";

/// The trace of the process that has done most; of two that did as much the
/// one that was there first.
std::optional<trace::TraceData> busiestOf(const LiveRun &Which) {
  std::optional<trace::TraceData> Best;
  for (const std::string &Path : trace::tracesOf(Which.Trace)) {
    // One that is just being made is there the next time.
    std::string Ignored;
    auto Trace = trace::readTrace(Path, Ignored);
    if (Trace && Trace->Operations &&
        (!Best || Trace->Operations > Best->Operations))
      Best = std::move(Trace);
  }
  return Best;
}

int64_t residentBytes(pid_t Process) {
  std::ifstream Stream("/proc/" + std::to_string(Process) + "/statm");
  int64_t All = 0, Resident = -1;
  if (!(Stream >> All >> Resident))
    return -1;
  return Resident * sysconf(_SC_PAGESIZE);
}

std::vector<Held> heldNow(const Recording &Run) {
  std::vector<Held> Result;
  for (size_t I = 0; I < Run.Sites.size(); ++I) {
    const Site &Each = Run.Sites[I];
    if (Each.LiveBytes > 0 || Each.NodesAlive > 0)
      // On which device it is makes no difference here.
      Result.push_back({I, Each.LiveBytes, 0, Each.NodesAlive});
  }
  return Result;
}

std::string listOf(const std::vector<LiveRun> &All) {
  std::string Text;
  for (const LiveRun &Each : All) {
    const pid_t Process = Each.Busiest ? Each.Busiest : Each.Processes.front();
    Text += "\n  " + std::to_string(Process);
    for (const std::string &Word : Each.Command)
      Text += " " + Word;
  }
  return Text;
}

} // namespace

std::vector<LiveRun> liveRuns() {
  std::vector<LiveRun> Result;
  for (const WatchedProcess &Each : processesWith(TraceVariable)) {
    auto It =
        std::find_if(Result.begin(), Result.end(), [&](const LiveRun &Run) {
          return Run.Trace == Each.Value;
        });
    if (It == Result.end())
      It = Result.insert(It, LiveRun{Each.Value, {}, 0, {}});
    It->Processes.push_back(Each.Id);
  }
  for (LiveRun &Each : Result)
    if (const auto Trace = busiestOf(Each)) {
      Each.Busiest = pid_t(Trace->ProcessId);
      Each.Command = Trace->Command;
    }
  return Result;
}

std::vector<LiveRun> liveRunsOf(pid_t Process) {
  std::set<pid_t> Family;
  for (const confirm::Process &Each : processesOf(Process, ""))
    Family.insert(Each.Id);
  std::vector<LiveRun> Result;
  for (LiveRun &Each : liveRuns())
    if (std::any_of(Each.Processes.begin(), Each.Processes.end(),
                    [&](pid_t Id) { return Family.count(Id) > 0; }))
      Result.push_back(std::move(Each));
  return Result;
}

LiveRun liveRun(std::optional<pid_t> Process) {
  const std::vector<LiveRun> All = liveRuns();
  if (All.empty())
    throw UserError("no program of yours runs under torch-confirm now; start "
                    "one: torch-confirm report -- build/train");
  if (!Process) {
    if (All.size() == 1)
      return All.front();
    throw UserError("several programs run under torch-confirm; say which, by "
                    "its number:" +
                    listOf(All));
  }
  std::vector<LiveRun> Meant = liveRunsOf(*Process);
  if (!Meant.empty())
    return Meant.front();
  throw UserError("process " + std::to_string(*Process) +
                  " does not run under torch-confirm; these do:" + listOf(All));
}

std::optional<LiveLook> Follower::look() {
  const auto Trace = busiestOf(Which);
  if (!Trace)
    return std::nullopt;
  LiveLook Result;
  Result.Run = recordingOf(*Trace, Known);
  Result.Of = profileOf(Result.Run);
  Result.Now = heldNow(Result.Run);
  Result.ResidentBytes = residentBytes(pid_t(Trace->ProcessId));
  Result.Idle = std::max(0.0, difftime(std::time(nullptr), Trace->StartedAt) -
                                  Trace->Seconds);
  Result.HasTimeline = Trace->Timeline.has_value();
  return Result;
}

bool Follower::isAlive() const {
  const auto IsThere = [&] {
    const auto All = processesWith(TraceVariable);
    return std::any_of(All.begin(), All.end(), [&](const WatchedProcess &Each) {
      return Each.Value == Which.Trace;
    });
  };
  if (IsThere())
    return true;
  // A process that is within an exec has no variables for a moment.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return IsThere();
}

} // namespace torchtidy::confirm
