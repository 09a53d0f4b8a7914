#include "Mapped.h"

#include <algorithm>

namespace torchtidy::confirm::trace {
namespace {

using Places = std::function<uint32_t(uint32_t)>;

MomentData momentOf(const Mapping &File, uint32_t Row, const Places &Place) {
  const Moment &From = File.at<Moment>(MomentsAt, Row);
  MomentData To;
  To.Kind = From.Kind <= MomentKind::Failure ? From.Kind : MomentKind::Regular;
  To.Nanoseconds = From.Nanoseconds;
  To.Iterations = From.Iterations;
  To.CpuBytes = From.CpuBytes;
  To.CudaBytes = From.CudaBytes;
  To.CudaReserved = From.CudaReserved;
  To.Nodes = From.Nodes;
  To.ResidentBytes = From.ResidentBytes;
  const uint32_t Sites = std::min(From.SiteCount, MaxSites - 1);
  for (uint32_t I = 1; I <= Sites; ++I) {
    const auto &Held = File.at<HeldBySite>(HeldAt + Row * HeldRow, I);
    const uint32_t At = Place(I);
    if (At != None && (Held.CpuBytes || Held.CudaBytes || Held.Nodes))
      To.Held.push_back({At, Held});
  }
  return To;
}

/// Of the two rows of a peak the one that is higher.
void keepHigher(std::vector<MomentData> &All, MomentKind Kind) {
  const auto BytesOf = [&](const MomentData &Of) {
    return Kind == MomentKind::CpuPeak ? Of.CpuBytes : Of.CudaBytes;
  };
  auto Best = All.end();
  for (auto It = All.begin(); It != All.end(); ++It)
    if (It->Kind == Kind &&
        (Best == All.end() || BytesOf(*It) > BytesOf(*Best)))
      Best = It;
  if (Best == All.end())
    return;
  const uint64_t At = Best->Nanoseconds;
  All.erase(std::remove_if(All.begin(), All.end(),
                           [&](const MomentData &Each) {
                             return Each.Kind == Kind && Each.Nanoseconds != At;
                           }),
            All.end());
}

std::vector<MomentData> momentsOf(const Mapping &File, const Places &Place) {
  std::vector<MomentData> All;
  for (uint32_t Row = 0; Row < AllMoments; ++Row)
    if (read(File.at<Moment>(MomentsAt, Row).State) == 2)
      All.push_back(momentOf(File, Row, Place));
  keepHigher(All, MomentKind::CpuPeak);
  keepHigher(All, MomentKind::CudaPeak);
  std::stable_sort(All.begin(), All.end(),
                   [](const MomentData &A, const MomentData &B) {
                     return A.Nanoseconds < B.Nanoseconds;
                   });
  return All;
}

void add(const Iteration &From, std::vector<IterationData> &To) {
  const uint64_t Number = read(From.Number);
  // What a killed program left half-written.
  if (!Number || From.Begin > From.End)
    return;
  To.push_back({Number, From.Begin, From.End, From.BackwardBegin,
                From.BackwardEnd, From.StepBegin, From.BytesBefore,
                From.BytesAtBackward, From.BytesAfterBackward, From.BytesAfter,
                From.Peak, From.NodesAfter});
}

std::vector<IterationData> iterationsOf(const Iterations &From) {
  std::vector<IterationData> All;
  const uint32_t Size = std::min(read(From.Size), MaxIterations);
  for (uint32_t I = 0; I < Size; ++I)
    add(From.Rows[I], All);
  add(From.Last, All);
  add(From.Worst, All);
  std::stable_sort(All.begin(), All.end(),
                   [](const IterationData &A, const IterationData &B) {
                     return A.Number < B.Number;
                   });
  All.erase(std::unique(All.begin(), All.end(),
                        [](const IterationData &A, const IterationData &B) {
                          return A.Number == B.Number;
                        }),
            All.end());
  return All;
}

std::vector<EventData> eventsOf(const Mapping &File, const Places &Place) {
  std::vector<EventData> All;
  for (uint32_t I = 0; I < FirstEvents + LastEvents; ++I) {
    const Event &From = File.at<Event>(EventsAt, I);
    const uint32_t At = Place(read(From.Site));
    if (At != None && From.Begin <= From.End)
      All.push_back({At, From.Thread, From.Begin, From.End});
  }
  // What began first and lasted longer is around the other.
  std::stable_sort(
      All.begin(), All.end(), [](const EventData &A, const EventData &B) {
        return A.Begin != B.Begin ? A.Begin < B.Begin : A.End > B.End;
      });
  return All;
}

} // namespace

TimelineData timelineOf(const Mapping &File, const Places &Place) {
  TimelineData To;
  To.Moments = momentsOf(File, Place);
  const auto &Iterations = File.at<trace::Iterations>(IterationsAt);
  To.Iterations = iterationsOf(Iterations);
  To.IterationSite = Place(read(Iterations.Site));
  To.IterationCount = read(Iterations.Number);
  To.Events = eventsOf(File, Place);
  To.EventCount = read(File.header().EventCount);
  const uint32_t Size = std::min(read(File.header().NetworkSize), MaxNetwork);
  for (uint32_t I = 0; I < Size; ++I) {
    const auto &From = File.at<NetworkTensor>(NetworkAt, I);
    To.Network.push_back({File.text(From.Name), File.text(From.Type),
                          File.text(From.Device), File.text(From.Shape),
                          From.Bytes, Place(From.Site), From.IsBuffer != 0,
                          From.NeedsGradient != 0, From.HasGradient != 0,
                          From.StateBytes});
  }
  return To;
}

} // namespace torchtidy::confirm::trace
