#include "recording/FromTimeline.h"

namespace torchtidy::confirm {
namespace {

double seconds(uint64_t Nanoseconds) { return double(Nanoseconds) / 1e9; }

MomentKind kindOf(trace::MomentKind Kind) {
  switch (Kind) {
  case trace::MomentKind::AfterStep:
    return MomentKind::AfterStep;
  case trace::MomentKind::CpuPeak:
    return MomentKind::CpuPeak;
  case trace::MomentKind::CudaPeak:
    return MomentKind::CudaPeak;
  case trace::MomentKind::Failure:
    return MomentKind::Failure;
  case trace::MomentKind::Regular:
    break;
  }
  return MomentKind::Regular;
}

Moment momentOf(const trace::MomentData &From, const PlacesOfSites &Places) {
  Moment To;
  To.Kind = kindOf(From.Kind);
  To.Seconds = seconds(From.Nanoseconds);
  To.Iterations = From.Iterations;
  To.CpuBytes = From.CpuBytes;
  To.CudaBytes = From.CudaBytes;
  To.CudaReserved = From.CudaReserved;
  To.Nodes = From.Nodes;
  To.ResidentBytes = From.ResidentBytes;
  for (const trace::HeldData &Each : From.Held)
    if (const auto Site = placeOf(Places, Each.Site))
      To.By.push_back(
          {*Site, Each.Bytes.CpuBytes, Each.Bytes.CudaBytes, Each.Bytes.Nodes});
  return To;
}

Iteration iterationOf(const trace::IterationData &From) {
  Iteration To;
  To.Number = From.Number;
  To.Begin = seconds(From.Begin);
  To.End = seconds(From.End);
  To.BackwardBegin = seconds(From.BackwardBegin);
  To.BackwardEnd = seconds(From.BackwardEnd);
  To.StepBegin = seconds(From.StepBegin);
  To.BytesBefore = From.BytesBefore;
  To.BytesAtBackward = From.BytesAtBackward;
  To.BytesAfterBackward = From.BytesAfterBackward;
  To.BytesAfter = From.BytesAfter;
  To.Peak = From.Peak;
  To.NodesAfter = From.NodesAfter;
  return To;
}

} // namespace

std::optional<size_t> placeOf(const PlacesOfSites &Places, uint32_t Site) {
  return Site < Places.size() ? Places[Site] : std::nullopt;
}

void addTimeline(Recording &To, const trace::TimelineData &From,
                 const PlacesOfSites &Places) {
  for (const trace::MomentData &Each : From.Moments)
    To.Moments.push_back(momentOf(Each, Places));
  for (const trace::IterationData &Each : From.Iterations)
    To.Iterations.push_back(iterationOf(Each));
  To.IterationSite = placeOf(Places, From.IterationSite);
  To.IterationCount = From.IterationCount;
  for (const trace::EventData &Each : From.Events)
    if (const auto Site = placeOf(Places, Each.Site))
      To.Events.push_back(
          {*Site, Each.Thread, seconds(Each.Begin), seconds(Each.End)});
  To.EventCount = From.EventCount;
  for (const trace::NetworkData &Each : From.Network)
    To.Network.push_back({Each.Name, Each.Type, Each.Device, Each.Shape,
                          Each.Bytes, placeOf(Places, Each.Site), Each.IsBuffer,
                          Each.NeedsGradient, Each.HasGradient,
                          Each.StateBytes});
}

} // namespace torchtidy::confirm
