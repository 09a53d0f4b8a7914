#include "recording/Json.h"
#include "support/Errors.h"
#include "support/Files.h"

using nlohmann::json;

namespace torchtidy::confirm {

// Where the enumeration is, or it would be written as a number.
NLOHMANN_JSON_SERIALIZE_ENUM(LineState,
                             {{LineState::Unknown, "unknown"},
                              {LineState::DidNotRun, "did not run"},
                              {LineState::MayHaveRun, "may have run"},
                              {LineState::Ran, "ran"}})

NLOHMANN_JSON_SERIALIZE_ENUM(MomentKind, {{MomentKind::Regular, "regular"},
                                          {MomentKind::AfterStep, "after step"},
                                          {MomentKind::CpuPeak, "cpu peak"},
                                          {MomentKind::CudaPeak, "cuda peak"},
                                          {MomentKind::Failure, "failure"}})

namespace {

constexpr const char *Format = "torch-confirm recording";
constexpr int FormatVersion = 2;

/// Writes or reads fields: one list of names serves both ways.
class Writer {
public:
  json Object = json::object();

  template <typename T> void field(const char *Name, const T &Value) {
    // Most counts of most sites are zero.
    if (Value != T())
      Object[Name] = Value;
  }
  template <typename T>
  void field(const char *Name, const std::optional<T> &Value) {
    if (Value)
      Object[Name] = *Value;
  }
  /// Where the usual value is another one.
  template <typename T>
  void field(const char *Name, const T &Value, const T &Default) {
    if (Value != Default)
      Object[Name] = Value;
  }
  template <typename T> void list(const char *Name, const std::vector<T> &All) {
    if (All.empty())
      return;
    json Array = json::array();
    for (const T &Each : All)
      Array.push_back(written(Each));
    Object[Name] = std::move(Array);
  }
  template <typename T> static json written(const T &Value) {
    Writer W;
    visit(W, const_cast<T &>(Value));
    return std::move(W.Object);
  }
};

class Reader {
public:
  explicit Reader(const json &Object) : Object(Object) {}

  template <typename T> void field(const char *Name, T &Value) {
    if (auto It = Object.find(Name); It != Object.end())
      Value = valueOf<T>(*It);
  }
  template <typename T> void field(const char *Name, std::optional<T> &Value) {
    if (auto It = Object.find(Name); It != Object.end())
      Value = valueOf<T>(*It);
  }
  template <typename T> void field(const char *Name, T &Value, const T &) {
    field(Name, Value);
  }
  template <typename T> void list(const char *Name, std::vector<T> &All) {
    auto It = Object.find(Name);
    if (It == Object.end())
      return;
    for (const json &Each : *It) {
      Reader R(Each);
      visit(R, All.emplace_back());
    }
  }

private:
  /// 1e99 fits no integer, and what a conversion makes of it is undefined.
  template <typename T> static T valueOf(const json &Value) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      if (Value.is_number_float())
        throw json::type_error::create(
            302, Value.dump() + " stands for a whole number", &Value);
    return Value.get<T>();
  }

  const json &Object;
};

template <typename V> void visit(V &Fields, SourceLine &Line) {
  Fields.field("file", Line.File);
  Fields.field("line", Line.Line);
  Fields.field("function", Line.Function);
}

template <typename V> void visit(V &Fields, CopyCount &Copy) {
  Fields.field("from", Copy.From);
  Fields.field("to", Copy.To);
  Fields.field("converts", Copy.Converts);
  Fields.field("pinned", Copy.Pinned);
  Fields.field("count", Copy.Count);
  Fields.field("bytes", Copy.Bytes);
}

template <typename V> void visit(V &Fields, ShapeCount &Shape) {
  Fields.field("shape", Shape.Text);
  Fields.field("count", Shape.Count);
}

template <typename V> void visit(V &Fields, Stretch &S) {
  Fields.field("count", S.Count);
  Fields.field("nodesMade", S.NodesMade);
  Fields.field("nodesRun", S.NodesRun);
}

template <typename V> void visit(V &Fields, ThrownCount &Thrown) {
  Fields.field("type", Thrown.Type);
  Fields.field("message", Thrown.Message);
  Fields.field("count", Thrown.Count);
  Fields.field("seconds", Thrown.Seconds);
}

template <typename V> void visit(V &Fields, Sample &S) {
  Fields.field("hit", S.Hit);
  Fields.field("seconds", S.Seconds);
  Fields.field("cpuBytes", S.CpuBytes);
  Fields.field("cudaBytes", S.CudaBytes);
  Fields.field("nodes", S.Nodes);
  Fields.field("heapBytes", S.HeapBytes, int64_t(-1));
  Fields.field("allocations", S.Allocations);
  Fields.field("allocatedBytes", S.AllocatedBytes);
  Fields.field("copies", S.Copies);
  Fields.field("copiedBytes", S.CopiedBytes);
  Fields.field("nodesMade", S.NodesMade);
  Fields.field("synchronisations", S.Synchronisations);
}

template <typename V> void visit(V &Fields, Held &H) {
  Fields.field("site", H.Site);
  Fields.field("cpuBytes", H.CpuBytes);
  Fields.field("cudaBytes", H.CudaBytes);
  Fields.field("nodes", H.Nodes);
}

template <typename V> void visit(V &Fields, Moment &M) {
  Fields.field("kind", M.Kind, MomentKind::Regular);
  Fields.field("seconds", M.Seconds);
  Fields.field("iterations", M.Iterations);
  Fields.field("cpuBytes", M.CpuBytes);
  Fields.field("cudaBytes", M.CudaBytes);
  Fields.field("cudaReserved", M.CudaReserved);
  Fields.field("nodes", M.Nodes);
  Fields.field("residentBytes", M.ResidentBytes, int64_t(-1));
  Fields.list("by", M.By);
}

template <typename V> void visit(V &Fields, Iteration &I) {
  Fields.field("number", I.Number);
  Fields.field("begin", I.Begin);
  Fields.field("end", I.End);
  Fields.field("backwardBegin", I.BackwardBegin);
  Fields.field("backwardEnd", I.BackwardEnd);
  Fields.field("stepBegin", I.StepBegin);
  Fields.field("bytesBefore", I.BytesBefore);
  Fields.field("bytesAtBackward", I.BytesAtBackward);
  Fields.field("bytesAfterBackward", I.BytesAfterBackward);
  Fields.field("bytesAfter", I.BytesAfter);
  Fields.field("peak", I.Peak);
  Fields.field("nodesAfter", I.NodesAfter);
}

template <typename V> void visit(V &Fields, Event &E) {
  Fields.field("site", E.Site);
  Fields.field("thread", E.Thread);
  Fields.field("begin", E.Begin);
  Fields.field("end", E.End);
}

template <typename V> void visit(V &Fields, NetworkTensor &T) {
  Fields.field("name", T.Name);
  Fields.field("type", T.Type);
  Fields.field("device", T.Device);
  Fields.field("shape", T.Shape);
  Fields.field("bytes", T.Bytes);
  Fields.field("site", T.Site);
  Fields.field("buffer", T.IsBuffer);
  Fields.field("needsGradient", T.NeedsGradient);
  Fields.field("hasGradient", T.HasGradient);
  Fields.field("stateBytes", T.StateBytes);
}

template <typename V> void visit(V &Fields, Site &S) {
  Fields.field("operation", S.Operation);
  Fields.list("stack", S.Stack);
  Fields.field("hits", S.Hits);
  Fields.field("allocations", S.Allocations);
  Fields.field("allocatedBytes", S.AllocatedBytes);
  Fields.field("cudaAllocations", S.CudaAllocations);
  Fields.field("cudaAllocatedBytes", S.CudaAllocatedBytes);
  Fields.field("liveBytes", S.LiveBytes);
  Fields.field("mostLiveBytes", S.MostLiveBytes, int64_t(-1));
  Fields.field("ownAtSecond", S.OwnAtSecond);
  Fields.field("mostOwnAtHit", S.MostOwnAtHit);
  Fields.field("diedAtOnce", S.DiedAtOnce);
  Fields.field("nodesMade", S.NodesMade);
  Fields.field("nodesAlive", S.NodesAlive);
  Fields.field("nodesRun", S.NodesRun);
  Fields.field("mostNodesAlive", S.MostNodesAlive, int64_t(-1));
  Fields.field("nodesRunOnce", S.NodesRunOnce);
  Fields.field("nodesRunGone", S.NodesRunGone);
  Fields.field("nodesStale", S.NodesStale);
  Fields.field("nodesAllGone", S.NodesAllGone);
  Fields.field("sweptNodes", S.SweptNodes);
  Fields.field("sweptRoots", S.SweptRoots);
  Fields.field("sweptChain", S.SweptChain);
  Fields.list("stretches", S.Stretches);
  Fields.list("copies", S.Copies);
  Fields.list("shapes", S.Shapes);
  Fields.field("otherShapes", S.OtherShapes);
  Fields.field("synchronisations", S.Synchronisations);
  Fields.field("exceptions", S.Exceptions);
  Fields.list("thrown", S.Thrown);
  Fields.field("unclearedSteps", S.UnclearedSteps);
  Fields.field("leavesTrained", S.LeavesTrained);
  Fields.field("leavesStepped", S.LeavesStepped);
  Fields.field("madeAgain", S.MadeAgain);
  Fields.field("copiedAgain", S.CopiedAgain);
  Fields.field("askedAgain", S.AskedAgain);
  Fields.field("ofOneElement", S.OfOneElement);
  Fields.field("resultsUsed", S.ResultsUsed);
  Fields.field("usedLater", S.UsedLater);
  Fields.field("gradientsApplied", S.GradientsApplied);
  Fields.field("gradientsDropped", S.GradientsDropped);
  Fields.field("inTraining", S.InTraining);
  Fields.field("inEvaluation", S.InEvaluation);
  Fields.field("givenShares", S.GivenShares);
  Fields.field("givenFractions", S.GivenFractions);
  Fields.field("givenLogarithms", S.GivenLogarithms);
  Fields.field("givenNumbers", S.GivenNumbers);
  Fields.field("wrapsOutlived", S.WrapsOutlived);
  Fields.field("wrapsOnStack", S.WrapsOnStack);
  Fields.field("wrapsGone", S.WrapsGone);
  Fields.field("usesOfGone", S.UsesOfGone);
  Fields.field("wrapsBeyond", S.WrapsBeyond);
  Fields.field("staleCasts", S.StaleCasts);
  Fields.field("freshCasts", S.FreshCasts);
  Fields.field("membersReplaced", S.MembersReplaced);
  Fields.field("callsInOtherMode", S.CallsInOtherMode);
  Fields.field("callsInEvalMode", S.CallsInEvalMode);
  Fields.field("mostListed", S.MostListed);
  Fields.field("sharedWrites", S.SharedWrites);
  Fields.field("bytesKept", S.BytesKept);
  Fields.field("nodesRunAgain", S.NodesRunAgain);
  Fields.field("writesInto", S.WritesInto);
  Fields.field("elementsAsked", S.ElementsAsked);
  Fields.field("heldByView", S.HeldByView);
  Fields.field("notStretched", S.NotStretched);
  Fields.field("freedThere", S.FreedThere);
  Fields.field("freedElsewhere", S.FreedElsewhere);
  Fields.field("operandsFreed", S.OperandsFreed);
  Fields.field("wholeLater", S.WholeLater);
  Fields.field("gradientsRead", S.GradientsRead);
  Fields.field("savedWrites", S.SavedWrites);
  Fields.field("staleLeaves", S.StaleLeaves);
  Fields.field("halvesOfAutocast", S.HalvesOfAutocast);
  Fields.field("otherHalves", S.OtherHalves);
  Fields.field("hitsAskedGrad", S.HitsAskedGrad);
  Fields.field("hookedAgain", S.HookedAgain);
  Fields.field("partsWritten", S.PartsWritten);
  Fields.field("givenParts", S.GivenParts);
  Fields.list("freedBehind", S.FreedBehind);
  Fields.field("flowsInto", S.FlowsInto);
  Fields.list("goneAt", S.GoneAt);
  Fields.list("usedAt", S.UsedAt);
  Fields.field("usedBy", S.UsedBy);
  Fields.field("leastLive", S.LeastLive);
  Fields.field("mostLive", S.MostLive);
  Fields.field("peakBytes", S.PeakBytes);
  Fields.field("values", S.Values);
  Fields.list("series", S.Series);
  Fields.field("seconds", S.Seconds);
  Fields.field("hitsWithoutGrad", S.HitsWithoutGrad);
}

template <typename V> void visit(V &Fields, DeviceBusy &Of) {
  Fields.field("index", Of.Index);
  Fields.field("name", Of.Name);
  Fields.field("share", Of.Share);
  Fields.field("seconds", Of.Seconds);
  Fields.field("used", Of.IsUsed);
  Fields.field("shared", Of.IsShared);
}

template <typename V> void visit(V &Fields, SanitizerReport &Report) {
  Fields.field("kind", Report.Kind);
  Fields.field("access", Report.Access);
  Fields.list("use", Report.Use);
  Fields.list("freed", Report.Freed);
  Fields.list("allocated", Report.Allocated);
}

template <typename V> void visit(V &Fields, LineHits &Line) {
  Fields.field("file", Line.File);
  Fields.field("line", Line.Line);
  Fields.field("state", Line.State, LineState::Unknown);
  Fields.field("places", Line.Places);
  Fields.field("reason", Line.Reason);
}

template <typename V> void visit(V &Fields, Recording &Run) {
  Fields.field("command", Run.Command);
  Fields.field("process", Run.Process);
  Fields.field("exitCode", Run.ExitCode);
  Fields.field("signal", Run.Signal);
  Fields.field("timedOut", Run.TimedOut);
  Fields.field("killedForMemory", Run.WasKilledForMemory);
  Fields.field("seconds", Run.Seconds);
  Fields.field("libtorch", Run.LibTorch);
  Fields.field("cudaDevice", Run.CudaDevice);
  Fields.field("operations", Run.Operations);
  Fields.field("peakCpuBytes", Run.PeakCpuBytes);
  Fields.field("peakCudaBytes", Run.PeakCudaBytes);
  Fields.field("liveCpuBytes", Run.LiveCpuBytes);
  Fields.field("liveCudaBytes", Run.LiveCudaBytes);
  Fields.field("peakCudaReserved", Run.PeakCudaReserved);
  Fields.field("nodesAlive", Run.NodesAlive);
  Fields.field("nodesMade", Run.NodesMade);
  Fields.field("runtimeCalls", Run.RuntimeCalls);
  Fields.field("unattributedEvents", Run.UnattributedEvents);
  Fields.list("sites", Run.Sites);
  Fields.list("moments", Run.Moments);
  Fields.list("iterations", Run.Iterations);
  Fields.field("iterationSite", Run.IterationSite);
  Fields.field("iterationCount", Run.IterationCount);
  Fields.list("events", Run.Events);
  Fields.field("eventCount", Run.EventCount);
  Fields.list("network", Run.Network);
  Fields.field("peakResidentBytes", Run.PeakResidentBytes, int64_t(-1));
  Fields.list("devices", Run.Devices);
  Fields.list("sanitizerReports", Run.SanitizerReports);
  Fields.list("lines", Run.Lines);
}

} // namespace

json toJson(const Recording &Run) {
  json Result = Writer::written(Run);
  Result["format"] = Format;
  Result["version"] = FormatVersion;
  json Capabilities = json::object();
  for (const auto &[Name, Known] : Run.Capabilities) {
    Capabilities[Name]["available"] = Known.IsAvailable;
    if (!Known.Reason.empty())
      Capabilities[Name]["reason"] = Known.Reason;
  }
  Result["capabilities"] = std::move(Capabilities);
  return Result;
}

Recording recordingFromJson(const json &Text, const std::string &Name) {
  if (!Text.is_object() || Text.value("format", json()) != Format)
    throw UserError("'" + Name +
                    "' is no recording of torch-confirm; 'torch-confirm run "
                    "--recording FILE' writes them");
  if (Text.value("version", json()) != FormatVersion)
    throw UserError("'" + Name +
                    "' was recorded by another version of torch-confirm");
  Recording Result;
  try {
    Reader R(Text);
    visit(R, Result);
    const json Capabilities = Text.value("capabilities", json::object());
    for (const auto &[Quantity, Known] : Capabilities.items())
      Result.Capabilities[Quantity] = {Known.value("available", false),
                                       Known.value("reason", "")};
  } catch (const json::exception &Error) {
    throw UserError("'" + Name + "' is a damaged recording: " + Error.what());
  }
  return Result;
}

void writeRecording(const Recording &Run, const std::string &Path) {
  // Arguments and names of files may be no UTF-8.
  writeFile(Path,
            toJson(Run).dump(1, ' ', false, json::error_handler_t::replace) +
                '\n');
}

Recording readRecording(const std::string &Path) {
  const json Text = json::parse(readFile(Path), nullptr, false);
  return recordingFromJson(Text, Path);
}

} // namespace torchtidy::confirm
