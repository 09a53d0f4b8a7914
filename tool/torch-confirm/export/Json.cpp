#include "export/Json.h"
#include "export/JsonParts.h"
#include "export/Text.h"

using nlohmann::ordered_json;

namespace torchtidy::confirm {

static const char *nameOf(CauseKind Of) {
  switch (Of) {
  case CauseKind::KeptGraphs:
    return "kept graphs";
  case CauseKind::KeptTensors:
    return "kept tensors";
  case CauseKind::RecordedEvaluation:
    return "recorded evaluation";
  case CauseKind::Peak:
    break;
  }
  return "peak";
}

static const char *nameOf(Trend Of) {
  switch (Of) {
  case Trend::Grows:
    return "grows";
  case Trend::Level:
    return "level";
  case Trend::Unknown:
    break;
  }
  return "unknown";
}

static ordered_json programOf(const Recording &Run) {
  ordered_json Result = {{"command", Run.Command}};
  if (Run.Process)
    Result["process"] = Run.Process;
  if (Run.ExitCode)
    Result["exitCode"] = *Run.ExitCode;
  if (Run.Signal)
    Result["signal"] = *Run.Signal;
  Result["timedOut"] = Run.TimedOut;
  Result["killedForMemory"] = Run.WasKilledForMemory;
  Result["seconds"] = Run.Seconds;
  if (!Run.LibTorch.empty())
    Result["libtorch"] = Run.LibTorch;
  if (!Run.CudaDevice.empty())
    Result["cudaDevice"] = Run.CudaDevice;
  return Result;
}

static ordered_json totalsOf(const Recording &Run) {
  ordered_json Result = ordered_json::object();
  if (Run.has("operations"))
    Result["operations"] = Run.Operations;
  if (Run.has("cpu-memory")) {
    Result["peakCpu"] = Run.PeakCpuBytes;
    Result["cpuAtEnd"] = Run.LiveCpuBytes;
  }
  if (Run.has("cuda-memory")) {
    Result["peakCuda"] = Run.PeakCudaBytes;
    Result["peakReserved"] = Run.PeakCudaReserved;
    Result["cudaAtEnd"] = Run.LiveCudaBytes;
  }
  if (Run.PeakResidentBytes >= 0)
    Result["peakResident"] = Run.PeakResidentBytes;
  if (Run.has("graph-nodes")) {
    Result["nodesMade"] = Run.NodesMade;
    Result["nodesAtEnd"] = Run.NodesAlive;
  }
  Result["unattributedEvents"] = Run.UnattributedEvents;
  return Result;
}

static ordered_json causeJson(const Cause &From, bool HasNodes) {
  ordered_json Result = {{"kind", nameOf(From.Kind)},
                         {"line", toJson(From.Line)},
                         {"stack", toJson(From.Stack)},
                         {"sites", From.Sites},
                         {"bytes", From.Bytes}};
  if (HasNodes)
    Result["nodes"] = From.Nodes;
  // Of a peak there is no growth to tell.
  if (From.BytesPerUnit || From.NodesPerUnit) {
    Result["bytesPerUnit"] = From.BytesPerUnit;
    if (HasNodes)
      Result["nodesPerUnit"] = From.NodesPerUnit;
  }
  Result["share"] = From.Share;
  Result["peakWithout"] = From.PeakWithout;
  if (!From.Check.empty())
    Result["check"] = From.Check;
  if (!From.Cure.empty())
    Result["cure"] = From.Cure;
  return Result;
}

static ordered_json failureJson(const Recording &Run,
                                const FailedAllocation &From) {
  ordered_json Result = {
      {"text", failureText(Run, From)}, {"site", From.Site},
      {"seconds", From.Seconds},        {"type", From.Type},
      {"message", From.Message},        {"count", From.Count}};
  if (From.Asked)
    Result["asked"] = *From.Asked;
  if (From.Moment)
    Result["moment"] = *From.Moment;
  return Result;
}

static ordered_json growthOf(const Recording &Run, const Profile &Of) {
  ordered_json Result = {{"trend", nameOf(Of.Memory)}, {"unit", Of.Unit}};
  if (Of.Memory == Trend::Unknown)
    return Result;
  Result["bytesPerUnit"] = Of.BytesPerUnit;
  if (Run.has("graph-nodes"))
    Result["nodesPerUnit"] = Of.NodesPerUnit;
  Result["grown"] = Of.Grown;
  return Result;
}

static ordered_json peakJson(const PeakProfile &From, bool HasNodes) {
  ordered_json Result = {{"seconds", From.Seconds},
                         {"bytes", From.Bytes},
                         {"highest", From.Highest},
                         {"moment", From.Moment}};
  for (size_t I = 0; I < MemoryKindCount; ++I)
    Result["byKind"][nameOf(MemoryKind(I))] = From.ByKind[I];
  for (size_t I = 0; I < WorkPhaseCount; ++I)
    Result["byPhase"][nameOf(WorkPhase(I))] = From.ByPhase[I];
  Result["byModule"] = ordered_json::array();
  for (const auto &[Module, Bytes] : From.ByModule)
    Result["byModule"].push_back({{"module", Module}, {"activations", Bytes}});
  Result["varying"] = ordered_json::array();
  for (const VaryingLine &Each : From.Varying)
    Result["varying"].push_back({{"line", toJson(Each.Line)},
                                 {"kinds", Each.Kinds},
                                 {"bytes", Each.Bytes}});
  Result["lines"] = ordered_json::array();
  for (const LineMemory &Each : From.Lines) {
    ordered_json Line = {{"line", toJson(Each.Line)},
                         {"sites", Each.Sites},
                         {"bytes", Each.Bytes}};
    if (HasNodes)
      Line["nodes"] = Each.Nodes;
    Result["lines"].push_back(std::move(Line));
  }
  return Result;
}

static ordered_json timesOf(const Recording &Run, const Profile &Of) {
  ordered_json Phases = ordered_json::object(), Rows = ordered_json::array();
  for (size_t I = 0; I < WorkPhaseCount; ++I)
    Phases[nameOf(WorkPhase(I))] = Of.SecondsByPhase[I];
  for (const TimeRow &Each : Of.Times) {
    ordered_json Row = {
        {"operation", Each.Operation}, {"line", toJson(Each.Line)},
        {"sites", Each.Sites},         {"seconds", Each.Seconds},
        {"share", Each.Share},         {"hits", Each.Hits}};
    if (Run.has("synchronisations"))
      Row["waits"] = Each.Waits;
    Rows.push_back(std::move(Row));
  }
  return {{"byPhase", std::move(Phases)}, {"rows", std::move(Rows)}};
}

static ordered_json copiesOf(const Profile &Of) {
  ordered_json Result = ordered_json::array();
  for (const CopyRow &Each : Of.Copies)
    Result.push_back({{"line", toJson(Each.Line)},
                      {"site", Each.Site},
                      {"from", Each.Copies.From},
                      {"to", Each.Copies.To},
                      {"converts", Each.Copies.Converts},
                      {"pinned", Each.Copies.Pinned},
                      {"count", Each.Copies.Count},
                      {"bytes", Each.Copies.Bytes},
                      {"again", Each.Again}});
  return Result;
}

static ordered_json modulesOf(const Profile &Of) {
  ordered_json Result = ordered_json::array();
  for (const ModuleRow &Each : Of.Modules)
    Result.push_back({{"path", Each.Path},
                      {"parameters", Each.Parameters},
                      {"parameterBytes", Each.ParameterBytes},
                      {"withGradient", Each.WithGradient},
                      {"gradientBytes", Each.GradientBytes},
                      {"optimizerBytes", Each.StateBytes},
                      {"buffers", Each.Buffers},
                      {"bufferBytes", Each.BufferBytes},
                      {"kinds", Each.Kinds}});
  return Result;
}

static ordered_json devicesOf(const Profile &Of) {
  ordered_json Result = ordered_json::array();
  for (const DeviceBusy &Each : Of.Devices)
    Result.push_back({{"index", Each.Index},
                      {"name", Each.Name},
                      {"idleShare", 1 - Each.Share},
                      {"seconds", Each.Seconds},
                      {"shared", Each.IsShared}});
  return Result;
}

static ordered_json checkedOf(const Profile &Of) {
  ordered_json Result = ordered_json::array();
  for (const Checked &Each : Of.Looked) {
    Result.push_back({{"what", Each.What}, {"fine", Each.IsFine}});
    if (Each.IsFine)
      continue;
    Result.back()["seen"] = Each.Seen;
    Result.back()["line"] = toJson(Each.Line);
    Result.back()["check"] = Each.Check;
  }
  return Result;
}

/// What was not measured, and limits of what was.
static void addCapabilities(const Recording &Run, ordered_json &To) {
  To["notMeasured"] = To["limits"] = ordered_json::array();
  for (const auto &[Quantity, Can] : Run.Capabilities) {
    ordered_json Each = {{"quantity", Quantity}};
    if (!Can.Reason.empty())
      Each["reason"] = Can.Reason;
    if (!Can.IsAvailable)
      To["notMeasured"].push_back(std::move(Each));
    else if (!Can.Reason.empty())
      To["limits"].push_back(std::move(Each));
  }
}

ordered_json jsonOf(const Recording &Run, const Profile &Of) {
  const bool HasNodes = Run.has("graph-nodes");
  ordered_json Result = {
      {"format", "torch-confirm report"}, {"version", 1},
      {"headline", Of.Headline},          {"program", programOf(Run)},
      {"growth", growthOf(Run, Of)},      {"causes", ordered_json::array()},
      {"totals", totalsOf(Run)}};
  for (const Cause &Each : Of.Causes)
    Result["causes"].push_back(causeJson(Each, HasNodes));
  if (Of.Failure)
    Result["failure"] = failureJson(Run, *Of.Failure);
  if (Of.EvaluationHits)
    Result["evaluation"] = {{"peak", Of.EvaluationPeak},
                            {"operations", Of.EvaluationHits}};
  Result["peaks"] = ordered_json::object();
  if (Of.CpuPeak)
    Result["peaks"]["cpu"] = peakJson(*Of.CpuPeak, HasNodes);
  if (Of.CudaPeak)
    Result["peaks"]["cuda"] = peakJson(*Of.CudaPeak, HasNodes);
  Result["iterations"] = iterationsOf(Run, Of);
  Result["times"] = timesOf(Run, Of);
  Result["copies"] = copiesOf(Of);
  Result["devices"] = devicesOf(Of);
  Result["modules"] = modulesOf(Of);
  Result["oddities"] = ordered_json::array();
  for (const Oddity &Each : Of.Oddities) {
    Result["oddities"].push_back({{"text", Each.Text}});
    if (!Each.Name.empty())
      Result["oddities"].back()["name"] = Each.Name;
  }
  Result["checked"] = checkedOf(Of);
  addCapabilities(Run, Result);
  Result["curves"] = curvesJson(Run);
  Result["moments"] = momentsOf(Run);
  Result["sites"] = sitesOf(Run, Of);
  return Result;
}

} // namespace torchtidy::confirm
