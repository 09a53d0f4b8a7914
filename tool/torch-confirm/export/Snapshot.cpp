#include "export/Snapshot.h"
#include "export/BlockOwners.h"
#include "export/Blocks.h"
#include "export/PickleWriter.h"
#include <algorithm>
#include <cmath>
#include <functional>
#include <ostream>

namespace torchtidy::confirm {
namespace {

constexpr int64_t CpuAddress = int64_t(1) << 44, CudaAddress = int64_t(0x7f)
                                                               << 40;

struct Device {
  /// "CPU", "CUDA"
  const char *Name;
  int64_t FirstAddress;
  int64_t Held::*Part;
  int64_t Moment::*All;
  const std::optional<PeakProfile> *Peak;
};

class Snapshot {
public:
  Snapshot(std::ostream &Out, const Recording &Run, const Profile &What)
      : Run(Run), Known(Run, What), Pickle(Out) {
    const bool HasCuda = std::any_of(
        Run.Moments.begin(), Run.Moments.end(), [](const Moment &Each) {
          return Each.CudaBytes > 0 || Each.CudaReserved > 0;
        });
    if (HasCuda)
      Devices.push_back({"CUDA", CudaAddress, &Held::CudaBytes,
                         &Moment::CudaBytes, &What.CudaPeak});
    Devices.push_back(
        {"CPU", CpuAddress, &Held::CpuBytes, &Moment::CpuBytes, &What.CpuPeak});
  }

  void write() {
    Pickle.dictionary([&] {
      Pickle.key("segments");
      Pickle.list([&] {
        for (size_t I = 0; I < Devices.size(); ++I)
          segmentAtPeak(Devices[I], Devices.size() + I);
      });
      Pickle.key("device_traces");
      Pickle.list([&] {
        for (const Device &Each : Devices) {
          Pickle.item();
          Pickle.list([&] { trace(Each); });
        }
        for (const Device &Each : Devices) {
          Pickle.item();
          Pickle.list([&] { traceToPeak(Each); });
        }
      });
      Pickle.key("allocator_settings");
      Pickle.dictionary([&] {
        Pickle.pair("PYTORCH_CUDA_ALLOC_CONF", "");
        Pickle.pair("max_split_size", int64_t(-1));
        Pickle.pair("garbage_collection_threshold", 0.0);
        Pickle.pair("expandable_segments", false);
      });
      Pickle.key("external_annotations");
      Pickle.list([] {});
    });
    Pickle.finish();
  }

private:
  /// Of the frames that were written, by owner, to write them once.
  using FrameNumbers = std::vector<std::optional<uint32_t>>;

  void frame(const std::string &File, unsigned Line, const std::string &Name) {
    Pickle.item();
    Pickle.dictionary([&] {
      Pickle.pair("filename", File);
      Pickle.pair("line", int64_t(Line));
      Pickle.pair("name", Name);
    });
  }

  /// \param Where "CPU", "CPU at its peak"; \p Numbers has them by owner.
  void frames(size_t Owner, const std::string &Where, FrameNumbers &Numbers) {
    Pickle.key("frames");
    Numbers.resize(Known.count());
    if (Numbers[Owner])
      return Pickle.again(*Numbers[Owner]);
    Pickle.list([&] {
      frame(Where, 0, Known.title(Owner));
      for (const SourceLine &Each : Known.stack(Owner))
        frame(Each.File, Each.Line,
              Each.Function.empty() ? "??" : Each.Function);
    });
    Numbers[Owner] = Pickle.keep();
  }

  void noFrames() {
    Pickle.key("frames");
    Pickle.list([] {});
  }

  void entry(const char *Action, int64_t Address, int64_t Bytes, double Seconds,
             const std::function<void()> &Rest) {
    Pickle.item();
    Pickle.dictionary([&] {
      Pickle.pair("action", Action);
      Pickle.pair("addr", Address);
      Pickle.pair("size", Bytes);
      Pickle.pair("stream", int64_t(0));
      Pickle.pair("time_us", int64_t(std::llround(Seconds * 1e6)));
      Rest();
    });
  }

  void entries(const std::vector<BlockAction> &Actions, double Seconds,
               const std::string &Where, FrameNumbers &Numbers) {
    for (const BlockAction &Each : Actions) {
      const auto Owned = [&] {
        Pickle.pair("category", Known.category(Each.Owner));
        frames(Each.Owner, Where, Numbers);
      };
      const auto Write = [&](const char *Action, const auto &Rest) {
        entry(Action, Each.Address, Each.Bytes, Seconds, Rest);
      };
      switch (Each.What) {
      case BlockAction::Alloc:
        Write("alloc", Owned);
        break;
      case BlockAction::Free:
        Write("free_requested", Owned);
        Write("free_completed", Owned);
        break;
      case BlockAction::SegmentAlloc:
        Write("segment_alloc", [&] { noFrames(); });
        break;
      case BlockAction::SegmentFree:
        Write("segment_free", [&] { noFrames(); });
        break;
      }
    }
  }

  /// What there is room for from the beginning: of the CPU nothing is known,
  /// and a segment for each growth would hide the rest.
  int64_t roomOf(const Device &Of) const {
    int64_t Result = 0;
    if (Of.All == &Moment::CpuBytes)
      for (const Moment &Each : Run.Moments)
        Result = std::max(Result, Each.CpuBytes);
    return Result;
  }

  void trace(const Device &Of) {
    Blocks Allocator(Of.FirstAddress);
    FrameNumbers Numbers;
    const int64_t Room = roomOf(Of);
    double Last = 0;
    for (size_t I = 0; I < Run.Moments.size(); ++I) {
      const Moment &Each = Run.Moments[I];
      Last = Each.Seconds;
      entries(Allocator.hold(Known.heldAt(Each, Of.Part, Of.All),
                             reserved(Each, Of, Room)),
              Last, Of.Name, Numbers);
      if (*Of.Peak && (*Of.Peak)->Moment == I)
        snapshotMark(Last);
    }
    if (!*Of.Peak)
      snapshotMark(Last);
    entries(Allocator.end(), std::max(Last, Run.Seconds), Of.Name, Numbers);
  }

  /// Where the peak is. It brings the category that the viewer wants.
  void snapshotMark(double Seconds) {
    entry("snapshot", 0, 0, Seconds, [&] {
      Pickle.pair("category", "unknown");
      noFrames();
    });
  }

  static int64_t reserved(const Moment &At, const Device &Of, int64_t Room) {
    return Of.All == &Moment::CudaBytes ? At.CudaReserved : Room;
  }

  const Moment *peakOf(const Device &Of) const {
    if (!*Of.Peak || (*Of.Peak)->Moment >= Run.Moments.size())
      return nullptr;
    return &Run.Moments[(*Of.Peak)->Moment];
  }

  /// All at once, the largest first: from a segment alone the viewer draws in
  /// one colour.
  std::vector<BlockAction> blocksAtPeak(const Moment &At,
                                        const Device &Of) const {
    return Blocks(Of.FirstAddress)
        .hold(Known.heldAt(At, Of.Part, Of.All), reserved(At, Of, 0));
  }

  static std::string atPeak(const Device &Of) {
    return std::string(Of.Name) + " at its peak";
  }

  void traceToPeak(const Device &Of) {
    FrameNumbers Numbers;
    if (const Moment *At = peakOf(Of))
      entries(blocksAtPeak(*At, Of), At->Seconds, atPeak(Of), Numbers);
  }

  void segmentAtPeak(const Device &Of, size_t Index) {
    const Moment *At = peakOf(Of);
    if (!At)
      return;
    const std::vector<BlockAction> Actions = blocksAtPeak(*At, Of);
    int64_t Total = 0, Used = 0;
    for (const BlockAction &Each : Actions)
      (Each.What == BlockAction::SegmentAlloc ? Total : Used) += Each.Bytes;
    if (Total == 0)
      return;
    Pickle.item();
    Pickle.dictionary([&] {
      Pickle.pair("device", int64_t(Index));
      Pickle.pair("address", Of.FirstAddress);
      Pickle.pair("total_size", Total);
      for (const char *Name :
           {"allocated_size", "active_size", "requested_size"})
        Pickle.pair(Name, Used);
      Pickle.pair("stream", int64_t(0));
      Pickle.pair("segment_type", "large");
      Pickle.pair("is_expandable", false);
      noFrames();
      Pickle.key("blocks");
      Pickle.list([&] {
        FrameNumbers Numbers;
        for (const BlockAction &Each : Actions)
          if (Each.What == BlockAction::Alloc)
            block(Each.Address, Each.Bytes, "active_allocated",
                  [&] { frames(Each.Owner, atPeak(Of), Numbers); });
        if (Total > Used)
          block(Of.FirstAddress + Used, Total - Used, "inactive",
                [&] { noFrames(); });
      });
    });
  }

  void block(int64_t Address, int64_t Bytes, const char *State,
             const std::function<void()> &Frames) {
    Pickle.item();
    Pickle.dictionary([&] {
      Pickle.pair("address", Address);
      Pickle.pair("size", Bytes);
      Pickle.pair("requested_size", Bytes);
      Pickle.pair("state", State);
      Frames();
    });
  }

  const Recording &Run;
  const BlockOwners Known;
  PickleWriter Pickle;
  std::vector<Device> Devices;
};

} // namespace

void writeSnapshot(std::ostream &Out, const Recording &Run,
                   const Profile &What) {
  Snapshot(Out, Run, What).write();
}

} // namespace torchtidy::confirm
