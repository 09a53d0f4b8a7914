#include "run/DeviceUse.h"
#include "run/Processes.h"
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <dlfcn.h>
#include <mutex>
#include <optional>
#include <thread>

namespace torchtidy::confirm {
namespace {

using Clock = std::chrono::steady_clock;

/// NVML's own window is a sixth of a second to a second.
constexpr auto Interval = std::chrono::milliseconds(200);
constexpr unsigned MostProcesses = 64;

// As nvml.h has them, which is not there where only a driver is.
using Device = void *;
struct Utilization {
  unsigned Gpu, Memory;
};
struct ComputeProcess {
  unsigned Id;
  unsigned long long Bytes;
  unsigned Instance, Part;
};

/// The library, open for good: there is no way to know who else uses it.
class Library {
public:
  Library() {
    Handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!Handle)
      return;
    int (*Init)() = nullptr;
    IsThere = find(Init, "nvmlInit_v2") &&
              find(Count, "nvmlDeviceGetCount_v2") &&
              find(ByIndex, "nvmlDeviceGetHandleByIndex_v2") &&
              find(Use, "nvmlDeviceGetUtilizationRates") &&
              find(Name, "nvmlDeviceGetName") && Init() == 0;
    // Drivers before 2022 have none with this layout.
    find(Processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  }

  bool isThere() const { return IsThere; }

  int (*Count)(unsigned *) = nullptr;
  int (*ByIndex)(unsigned, Device *) = nullptr;
  int (*Use)(Device, Utilization *) = nullptr;
  int (*Name)(Device, char *, unsigned) = nullptr;
  int (*Processes)(Device, unsigned *, ComputeProcess *) = nullptr;

private:
  template <class Function> bool find(Function &To, const char *Symbol) {
    To = reinterpret_cast<Function>(dlsym(Handle, Symbol));
    return To != nullptr;
  }

  void *Handle = nullptr;
  bool IsThere = false;
};

double secondsBetween(Clock::time_point From, Clock::time_point To) {
  return std::chrono::duration<double>(To - From).count();
}

} // namespace

class DeviceUse::Sampler {
public:
  explicit Sampler(pid_t Program)
      : Program(Program), Thread([this] { sample(); }) {}
  ~Sampler() { end(); }

  std::vector<DeviceBusy> end() {
    {
      std::lock_guard<std::mutex> Lock(Mutex);
      IsOver = true;
    }
    Wake.notify_all();
    if (Thread.joinable())
      Thread.join();
    return All;
  }

private:
  void sample() {
    const Library Nvml;
    unsigned Count = 0;
    if (!Nvml.isThere() || Nvml.Count(&Count) != 0)
      return;
    std::vector<Device> Devices(Count);
    for (unsigned I = 0; I < Count; ++I) {
      DeviceBusy &Each = All.emplace_back();
      Each.Index = I;
      char Text[96] = "";
      if (Nvml.ByIndex(I, &Devices[I]) == 0 &&
          Nvml.Name(Devices[I], Text, sizeof(Text)) == 0)
        Each.Name = Text;
    }
    Busy.resize(Count);
    auto Last = Clock::now();
    std::unique_lock<std::mutex> Lock(Mutex);
    while (!Wake.wait_for(Lock, Interval, [this] { return IsOver; })) {
      Lock.unlock();
      const auto Now = Clock::now();
      for (unsigned I = 0; I < Count; ++I)
        if (Devices[I])
          look(Nvml, Devices[I], I, secondsBetween(Last, Now));
      Last = Now;
      Lock.lock();
    }
  }

  void look(const Library &Nvml, Device Of, unsigned I, double Passed) {
    DeviceBusy &To = All[I];
    lookForProgram(Nvml, Of, I);
    Utilization Use = {};
    if (Nvml.Use(Of, &Use) != 0)
      return;
    To.Seconds += Passed;
    Busy[I] += Passed * std::min(Use.Gpu, 100U) / 100;
    To.Share = To.Seconds > 0 ? Busy[I] / To.Seconds : 0;
  }

  void lookForProgram(const Library &Nvml, Device Of, unsigned I) {
    DeviceBusy &To = All[I];
    ComputeProcess There[MostProcesses];
    unsigned Number = MostProcesses;
    if (!Nvml.Processes || Nvml.Processes(Of, &Number, There) != 0)
      return;
    const std::vector<Process> Own = processesOf(Program, "");
    for (unsigned P = 0; P < std::min(Number, MostProcesses); ++P) {
      const bool IsOwn =
          std::any_of(Own.begin(), Own.end(), [&](const Process &Each) {
            return Each.Id == pid_t(There[P].Id);
          });
      if (IsOwn && !To.IsUsed) {
        // What was before is not the program's.
        To.IsUsed = true;
        To.Seconds = Busy[I] = 0;
      }
      To.IsShared |= !IsOwn;
    }
  }

  const pid_t Program;
  std::mutex Mutex;
  std::condition_variable Wake;
  bool IsOver = false;
  std::vector<DeviceBusy> All;
  /// Seconds, of each.
  std::vector<double> Busy;
  std::thread Thread;
};

DeviceUse::DeviceUse(pid_t Program)
    : Samples(std::make_unique<Sampler>(Program)) {}

DeviceUse::~DeviceUse() = default;

std::vector<DeviceBusy> DeviceUse::stop() {
  // In a container the program has another number than the one NVML tells.
  std::vector<DeviceBusy> All = Samples->end();
  for (DeviceBusy &Each : All)
    Each.IsShared &= Each.IsUsed;
  return All;
}

} // namespace torchtidy::confirm
