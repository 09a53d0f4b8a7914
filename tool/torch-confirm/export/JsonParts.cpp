#include "export/JsonParts.h"
#include "export/Curves.h"
#include <algorithm>

using nlohmann::ordered_json;

namespace torchtidy::confirm {

ordered_json toJson(const SourceLine &Of) {
  ordered_json Result = ordered_json::object();
  if (!Of.File.empty())
    Result["file"] = Of.File;
  if (Of.Line)
    Result["line"] = Of.Line;
  if (!Of.Function.empty())
    Result["function"] = Of.Function;
  return Result;
}

ordered_json toJson(const std::vector<SourceLine> &Stack) {
  ordered_json Result = ordered_json::array();
  for (const SourceLine &Frame : Stack)
    Result.push_back(toJson(Frame));
  return Result;
}

static ordered_json toJson(const Iteration &Of, bool HasNodes) {
  ordered_json Result = {
      {"number", Of.Number}, {"begin", Of.Begin}, {"end", Of.End}};
  if (Of.BackwardEnd > 0) {
    Result["backwardBegin"] = Of.BackwardBegin;
    Result["backwardEnd"] = Of.BackwardEnd;
  }
  if (Of.StepBegin > 0)
    Result["stepBegin"] = Of.StepBegin;
  Result["bytesBefore"] = Of.BytesBefore;
  if (Of.BackwardEnd > 0) {
    Result["bytesAtBackward"] = Of.BytesAtBackward;
    Result["bytesAfterBackward"] = Of.BytesAfterBackward;
  }
  Result["bytesAfter"] = Of.BytesAfter;
  Result["peak"] = Of.Peak;
  if (HasNodes)
    Result["nodesAfter"] = Of.NodesAfter;
  return Result;
}

ordered_json iterationsOf(const Recording &Run, const Profile &Of) {
  const bool HasNodes = Run.has("graph-nodes");
  ordered_json Result = {{"count", Run.IterationCount}};
  if (Run.IterationSite)
    Result["site"] = *Run.IterationSite;
  Result["rows"] = Result["recorded"] = ordered_json::array();
  for (const IterationRow &Each : Of.Iterations) {
    ordered_json Row = {{"which", Each.Which}};
    Row.update(toJson(Each.Of, HasNodes));
    Result["rows"].push_back(std::move(Row));
  }
  for (const Iteration &Each : Run.Iterations)
    Result["recorded"].push_back(toJson(Each, HasNodes));
  Result["epochs"] = ordered_json::array();
  for (const EpochRow &Each : Of.Epochs)
    Result["epochs"].push_back({{"first", Each.First},
                                {"last", Each.Last},
                                {"begin", Each.Begin},
                                {"end", Each.End},
                                {"peak", Each.Peak},
                                {"bytesAfter", Each.BytesAfter}});
  return Result;
}

static const char *nameOf(MomentKind Of) {
  switch (Of) {
  case MomentKind::AfterStep:
    return "after step";
  case MomentKind::CpuPeak:
    return "cpu peak";
  case MomentKind::CudaPeak:
    return "cuda peak";
  case MomentKind::Failure:
    return "failure";
  case MomentKind::Regular:
    break;
  }
  return "regular";
}

/// "cpu", "cuda" and "nodes", as far as they are measured.
template <typename State>
static void addState(const Recording &Run, const State &Of, ordered_json &To) {
  if (Run.has("cpu-memory"))
    To["cpu"] = Of.CpuBytes;
  if (Run.has("cuda-memory"))
    To["cuda"] = Of.CudaBytes;
  if (Run.has("graph-nodes"))
    To["nodes"] = Of.Nodes;
}

ordered_json momentsOf(const Recording &Run) {
  ordered_json Result = ordered_json::array();
  for (const Moment &From : Run.Moments) {
    ordered_json Each = {{"kind", nameOf(From.Kind)},
                         {"seconds", From.Seconds},
                         {"iterations", From.Iterations}};
    addState(Run, From, Each);
    if (Run.has("cuda-memory"))
      Each["reserved"] = From.CudaReserved;
    if (From.ResidentBytes >= 0)
      Each["resident"] = From.ResidentBytes;
    Each["held"] = ordered_json::array();
    for (const Held &Part : From.By) {
      ordered_json Row = {{"site", Part.Site}};
      addState(Run, Part, Row);
      Each["held"].push_back(std::move(Row));
    }
    Result.push_back(std::move(Each));
  }
  return Result;
}

static void addMemory(const Recording &Run, const Site &From,
                      ordered_json &To) {
  if (Run.has("cpu-memory")) {
    To["allocations"] = From.Allocations;
    To["allocatedBytes"] = From.AllocatedBytes;
  }
  if (Run.has("cuda-memory")) {
    To["cudaAllocations"] = From.CudaAllocations;
    To["cudaAllocatedBytes"] = From.CudaAllocatedBytes;
  }
  if (Run.has("cpu-memory") || Run.has("cuda-memory"))
    To["bytesAtEnd"] = From.LiveBytes;
  if (From.MostLiveBytes >= 0)
    To["mostBytes"] = From.MostLiveBytes;
  if (!Run.has("graph-nodes"))
    return;
  To["nodesMade"] = From.NodesMade;
  To["nodesAtEnd"] = From.NodesAlive;
  if (From.MostNodesAlive >= 0)
    To["mostNodes"] = From.MostNodesAlive;
}

ordered_json sitesOf(const Recording &Run, const Profile &Of) {
  ordered_json Result = ordered_json::array();
  for (size_t I = 0; I < Run.Sites.size(); ++I) {
    const Site &From = Run.Sites[I];
    ordered_json Each = {{"operation", From.Operation}};
    if (I < Of.Sites.size()) {
      Each["phase"] = nameOf(Of.Sites[I].Phase);
      Each["memory"] = nameOf(Of.Sites[I].Memory);
    }
    Each["stack"] = toJson(From.Stack);
    Each["hits"] = From.Hits;
    Each["hitsWithoutGrad"] = From.HitsWithoutGrad;
    Each["seconds"] = From.Seconds;
    Each["shapes"] = ordered_json::array();
    for (const ShapeCount &Shape : From.Shapes)
      Each["shapes"].push_back({{"text", Shape.Text}, {"count", Shape.Count}});
    Each["otherShapes"] = From.OtherShapes;
    addMemory(Run, From, Each);
    if (Run.has("synchronisations"))
      Each["waits"] = From.Synchronisations;
    for (const ThrownCount &Thrown : From.Thrown)
      Each["thrown"].push_back({{"type", Thrown.Type},
                                {"message", Thrown.Message},
                                {"count", Thrown.Count}});
    Result.push_back(std::move(Each));
  }
  return Result;
}

ordered_json curvesJson(const Recording &Run) {
  const std::vector<CurvePoint> Points = curvesOf(Run);
  ordered_json Result = {{"seconds", ordered_json::array()}};
  for (const CurvePoint &Each : Points)
    Result["seconds"].push_back(Each.Seconds);
  const auto Add = [&](const char *Name,
                       std::optional<int64_t> CurvePoint::*Of) {
    // A quantity of which nothing is known has no column.
    if (std::none_of(Points.begin(), Points.end(),
                     [&](const CurvePoint &Each) { return Each.*Of; }))
      return;
    for (const CurvePoint &Each : Points)
      Result[Name].push_back(Each.*Of ? ordered_json(*(Each.*Of))
                                      : ordered_json(nullptr));
  };
  Add("cpu", &CurvePoint::Cpu);
  Add("cuda", &CurvePoint::Cuda);
  Add("reserved", &CurvePoint::Reserved);
  Add("resident", &CurvePoint::Resident);
  Add("nodes", &CurvePoint::Nodes);
  return Result;
}

} // namespace torchtidy::confirm
