#include "recording/FromTrace.h"
#include "recording/FromTimeline.h"
#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>

namespace torchtidy::confirm {
namespace {

/// The call is before the address to which it returns.
constexpr uint64_t BeforeReturn = 1;

class Lines {
public:
  Lines(const trace::TraceData &Trace, SymbolCache &Cache) : Trace(Trace) {
    std::map<const trace::ModuleData *, AddressesOf> ByModule;
    for (const trace::SiteData &Site : Trace.Sites)
      for (uint64_t Frame : Site.Frames)
        if (const trace::ModuleData *Module = Trace.moduleOf(Frame))
          ByModule[Module].Addresses.push_back(address(Frame, *Module));
    for (auto &[Module, What] : ByModule) {
      auto &All = What.Addresses;
      std::sort(All.begin(), All.end());
      All.erase(std::unique(All.begin(), All.end()), All.end());
      What.Module = Module->Path;
      Known[Module] = &Cache.linesOf(What);
    }
  }

  std::vector<SourceLine> stack(const trace::SiteData &Site) {
    std::vector<SourceLine> Result;
    for (uint64_t Frame : Site.Frames) {
      const trace::ModuleData *Module = Trace.moduleOf(Frame);
      if (!Module)
        continue;
      const auto &OfModule = *Known[Module];
      const auto It = OfModule.find(address(Frame, *Module));
      if (It == OfModule.end())
        continue;
      HasAny |= !It->second.empty();
      for (const SourceLine &Line : It->second)
        if (!isOfLibraries(Line.File))
          Result.push_back(Line);
    }
    return Result;
  }

  bool hasAny() const { return HasAny; }

private:
  static uint64_t address(uint64_t Frame, const trace::ModuleData &Module) {
    return Frame - BeforeReturn - Module.LoadBase;
  }

  const trace::TraceData &Trace;
  std::map<const trace::ModuleData *, const std::map<uint64_t, Frames> *> Known;
  bool HasAny = false;
};

std::string nameOf(trace::Place Place) {
  switch (Place) {
  case trace::Place::Cpu:
    return "cpu";
  case trace::Place::Cuda:
    return "cuda";
  case trace::Place::Other:
    break;
  }
  return "other";
}

Sample sampleOf(const trace::Sample &From) {
  Sample Result;
  Result.Hit = From.Hit;
  Result.Seconds = double(From.Nanoseconds) / 1e9;
  Result.CpuBytes = From.CpuBytes;
  Result.CudaBytes = From.CudaBytes;
  Result.Nodes = From.Nodes;
  Result.HeapBytes = From.HeapBytes;
  Result.Allocations = From.Allocations;
  Result.AllocatedBytes = From.AllocatedBytes;
  Result.Copies = From.Copies;
  Result.CopiedBytes = From.CopiedBytes;
  Result.NodesMade = From.NodesMade;
  Result.Synchronisations = From.Synchronisations;
  return Result;
}

std::string demangled(const std::string &Type) {
  int Status = 0;
  char *Text = abi::__cxa_demangle(Type.c_str(), nullptr, nullptr, &Status);
  const std::string Result = Status == 0 && Text ? Text : Type;
  std::free(Text);
  return Result;
}

Site siteOf(const trace::SiteData &From) {
  Site Result;
  Result.Operation = From.Operation;
  Result.Hits = From.Hits;
  Result.Allocations = From.Allocations;
  Result.AllocatedBytes = From.AllocatedBytes;
  Result.CudaAllocations = From.CudaAllocations;
  Result.CudaAllocatedBytes = From.CudaAllocatedBytes;
  Result.LiveBytes = From.LiveBytes + From.CudaLiveBytes;
  Result.MostLiveBytes = From.MostOwnBytes + From.MostOwnCudaBytes;
  Result.OwnAtSecond = From.OwnAtSecond;
  Result.MostOwnAtHit = From.MostOwnAtHit;
  Result.DiedAtOnce = From.DiedAtOnce;
  Result.NodesRunOnce = From.NodesRunOnce;
  Result.NodesRunGone = From.NodesRunGone;
  Result.NodesStale = From.NodesStale;
  Result.NodesAllGone = From.NodesAllGone;
  Result.SweptNodes = From.SweptNodes;
  Result.SweptRoots = From.SweptRoots;
  Result.SweptChain = From.SweptChain;
  for (const trace::StretchData &Each : From.Stretches)
    Result.Stretches.push_back({Each.Number, Each.NodesMade, Each.NodesRun});
  Result.LeavesTrained = From.LeavesTrained;
  Result.LeavesStepped = From.LeavesStepped;
  Result.MadeAgain = From.MadeAgain;
  Result.CopiedAgain = From.CopiedAgain;
  Result.AskedAgain = From.AskedAgain;
  Result.OfOneElement = From.OfOneElement;
  Result.ResultsUsed = From.ResultsUsed;
  Result.UsedLater = From.UsedLater;
  Result.GradientsApplied = From.GradientsApplied;
  Result.GradientsDropped = From.GradientsDropped;
  Result.InTraining = From.InTraining;
  Result.GivenShares = From.GivenShares;
  Result.GivenFractions = From.GivenFractions;
  Result.GivenLogarithms = From.GivenLogarithms;
  Result.GivenNumbers = From.GivenNumbers;
  Result.WrapsOutlived = From.WrapsOutlived;
  Result.WrapsOnStack = From.WrapsOnStack;
  Result.WrapsGone = From.WrapsGone;
  Result.UsesOfGone = From.UsesOfGone;
  Result.WrapsBeyond = From.WrapsBeyond;
  Result.StaleCasts = From.StaleCasts;
  Result.FreshCasts = From.FreshCasts;
  Result.MembersReplaced = From.MembersReplaced;
  Result.CallsInOtherMode = From.CallsInOtherMode;
  Result.CallsInEvalMode = From.CallsInEvalMode;
  Result.MostListed = From.MostListed;
  Result.SharedWrites = From.SharedWrites;
  Result.BytesKept = From.BytesKept;
  Result.NodesRunAgain = From.NodesRunAgain;
  Result.WritesInto = From.WritesInto;
  Result.ElementsAsked = From.ElementsAsked;
  Result.HeldByView = From.HeldByView;
  Result.NotStretched = From.NotStretched;
  Result.FreedThere = From.FreedThere;
  Result.FreedElsewhere = From.FreedElsewhere;
  Result.OperandsFreed = From.OperandsFreed;
  Result.WholeLater = From.WholeLater * trace::WholeStride;
  Result.GradientsRead = From.GradientsRead;
  Result.SavedWrites = From.SavedWrites;
  Result.StaleLeaves = From.StaleLeaves;
  Result.HalvesOfAutocast = From.HalvesOfAutocast;
  Result.OtherHalves = From.OtherHalves;
  Result.HitsAskedGrad = From.HitsAskedGrad;
  Result.HookedAgain = From.HookedAgain;
  Result.PartsWritten = From.PartsWritten;
  Result.GivenParts = From.GivenParts;
  Result.InEvaluation = From.InEvaluation;
  Result.NodesMade = From.NodesMade;
  Result.NodesAlive = From.NodesAlive;
  Result.NodesRun = From.NodesRun;
  Result.MostNodesAlive = From.MostNodesAlive;
  Result.Synchronisations = From.Synchronisations;
  Result.Exceptions = From.Exceptions;
  Result.UnclearedSteps = From.UnclearedSteps;
  Result.Seconds = double(From.Nanoseconds) / 1e9;
  Result.HitsWithoutGrad = From.HitsWithoutGrad;
  Result.LeastLive = From.LeastLive;
  Result.MostLive = From.MostLive;
  Result.PeakBytes = From.PeakBytes;
  for (const trace::CopyData &Copy : From.Copies)
    Result.Copies.push_back({nameOf(Copy.Kind.From), nameOf(Copy.Kind.To),
                             Copy.Kind.Converts, Copy.Kind.Pinned, Copy.Number,
                             Copy.Bytes});
  for (const trace::ShapeData &Each : From.Shapes)
    Result.Shapes.push_back({Each.Text, Each.Number});
  Result.OtherShapes = From.OtherShapes;
  for (const trace::ThrownData &Each : From.Thrown)
    Result.Thrown.push_back({demangled(Each.Type), Each.Message, Each.Number,
                             double(Each.LastAt) / 1e9});
  for (const trace::Sample &S : From.Series)
    Result.Series.push_back(sampleOf(S));
  for (const trace::ValueData &Value : From.Values) {
    Result.Values[Value.Name] = Value.Last;
    Result.Values[Value.Name + ".first"] = Value.First;
    Result.Values[Value.Name + ".least"] = Value.Least;
    Result.Values[Value.Name + ".most"] = Value.Most;
    Result.Values[Value.Name + ".count"] = double(Value.Number);
    if (Value.Number)
      Result.Values[Value.Name + ".mean"] = Value.Sum / double(Value.Number);
  }
  return Result;
}

/// What a parent made and its child still has is told where there is a
/// timeline.
bool isHolding(const trace::TraceData &Trace, const trace::SiteData &Of) {
  return Trace.Timeline && (Of.LiveBytes || Of.CudaLiveBytes || Of.NodesAlive);
}

} // namespace

Recording recordingOf(const trace::TraceData &Trace) {
  SymbolCache Once;
  return recordingOf(Trace, Once);
}

Recording recordingOf(const trace::TraceData &Trace, SymbolCache &Cache) {
  Recording Result;
  Result.Command = Trace.Command;
  Result.Process = Trace.ProcessId;
  Result.Seconds = Trace.Seconds;
  Result.LibTorch = Trace.LibTorch;
  Result.CudaDevice = Trace.CudaDevice;
  Result.Operations = Trace.TopOperations;
  Result.PeakCpuBytes = Trace.PeakCpuBytes;
  Result.PeakCudaBytes = Trace.PeakCudaBytes;
  Result.LiveCpuBytes = Trace.LiveCpuBytes;
  Result.LiveCudaBytes = Trace.LiveCudaBytes;
  Result.PeakCudaReserved = Trace.PeakCudaReserved;
  Result.NodesAlive = Trace.NodesAlive;
  Result.NodesMade = Trace.NodesMade;
  Result.RuntimeCalls = Trace.RuntimeCalls;
  Result.UnattributedEvents = Trace.Unattributed;
  for (const auto &[Name, Known] : Trace.Capabilities)
    Result.Capabilities[Name] = {Known.IsAvailable, Known.Reason};

  Lines Known(Trace, Cache);
  PlacesOfSites Places(Trace.Sites.size());
  for (size_t I = 0; I < Trace.Sites.size(); ++I) {
    const trace::SiteData &From = Trace.Sites[I];
    // Of its parent: what ran there did not run here.
    if (Trace.ForkedFrom && !From.Hits && !isHolding(Trace, From))
      continue;
    Places[I] = Result.Sites.size();
    Result.Sites.push_back(siteOf(From));
    Result.Sites.back().Stack = Known.stack(From);
  }
  for (size_t I = 0; I < Trace.Sites.size(); ++I) {
    if (!Places[I])
      continue;
    const trace::SiteData &From = Trace.Sites[I];
    Site &To = Result.Sites[*Places[I]];
    if (const auto GoneAt = placeOf(Places, From.GoneAt))
      To.GoneAt = Result.Sites[*GoneAt].Stack;
    if (const auto Behind = placeOf(Places, From.FreedBehind))
      To.FreedBehind = Result.Sites[*Behind].Stack;
    for (const uint32_t Flow : From.FlowsInto)
      if (const auto Into = placeOf(Places, Flow))
        To.FlowsInto.push_back(*Into);
    if (const auto UsedAt = placeOf(Places, From.UsedAt)) {
      To.UsedAt = Result.Sites[*UsedAt].Stack;
      To.UsedBy = Result.Sites[*UsedAt].Operation;
    }
  }
  if (Trace.Timeline)
    addTimeline(Result, *Trace.Timeline, Places);
  Capability &LineNumbers = Result.Capabilities["line-numbers"];
  LineNumbers.IsAvailable = Known.hasAny();
  if (!Known.hasAny())
    LineNumbers.Reason =
        Trace.Sites.empty()
            ? "no operation of LibTorch was seen"
            : "the program has no line numbers; build it with -g";
  return Result;
}

} // namespace torchtidy::confirm
