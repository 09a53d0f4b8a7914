#include "TraceFile.h"

#include "Mapped.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace torchtidy::confirm::trace {
namespace {

/// Samples that a killed program left half-moved are dropped: what stays is in
/// the order of hits.
void keepOrdered(std::vector<Sample> &Samples) {
  std::vector<Sample> Kept;
  for (const Sample &Each : Samples)
    if (Each.Hit != 0 && (Kept.empty() || Each.Hit > Kept.back().Hit))
      Kept.push_back(Each);
  Samples = std::move(Kept);
}

std::vector<Sample> seriesOf(const Mapping &File, const Site &From) {
  std::vector<Sample> Samples{From.First};
  const uint32_t Index = read(From.Series);
  if (Index < MaxSeries) {
    const Series &Kept = File.at<Series>(SeriesAt, Index);
    const uint32_t Size = std::min(read(Kept.Size), MaxSamples);
    Samples.insert(Samples.end(), Kept.Samples, Kept.Samples + Size);
  }
  Samples.push_back(From.Last[read(From.LastIndex) & 1]);
  keepOrdered(Samples);
  return Samples;
}

SiteData siteOf(const Mapping &File, const Site &From) {
  SiteData To;
  To.Kind = From.Kind;
  To.Operation = File.text(From.Operation);
  const uint32_t Frames = std::min(From.FrameCount, MaxFrames);
  To.Frames.assign(From.Frames, From.Frames + Frames);
  To.IsShortened = From.IsShortened != 0;
  To.Hits = read(From.Hits);
  To.Allocations = read(From.Allocations);
  To.AllocatedBytes = read(From.AllocatedBytes);
  To.CudaAllocations = read(From.CudaAllocations);
  To.CudaAllocatedBytes = read(From.CudaAllocatedBytes);
  To.LiveBytes = read(From.LiveBytes);
  To.CudaLiveBytes = read(From.CudaLiveBytes);
  To.MostOwnBytes = read(From.MostOwnBytes);
  To.MostOwnCudaBytes = read(From.MostOwnCudaBytes);
  To.NodesMade = read(From.NodesMade);
  To.NodesAlive = read(From.NodesAlive);
  To.MostNodesAlive = read(From.MostNodesAlive);
  To.NodesRun = read(From.NodesRun);
  To.OwnAtSecond = read(From.OwnAtSecond);
  To.MostOwnAtHit = read(From.MostOwnAtHit);
  To.DiedAtOnce = read(From.DiedAtOnce);
  To.NodesRunOnce = read(From.NodesRunOnce);
  To.NodesRunGone = read(From.NodesRunGone);
  To.NodesStale = read(From.NodesStale);
  To.NodesAllGone = read(From.NodesAllGone);
  To.SweptNodes = read(From.SweptNodes);
  To.SweptRoots = read(From.SweptRoots);
  To.SweptChain = read(From.SweptChain);
  To.LeavesTrained = read(From.LeavesTrained);
  To.LeavesStepped = read(From.LeavesStepped);
  To.MadeAgain = read(From.MadeAgain);
  To.CopiedAgain = read(From.CopiedAgain);
  To.AskedAgain = read(From.AskedAgain);
  To.OfOneElement = read(From.OfOneElement);
  To.ResultsUsed = read(From.ResultsUsed);
  To.UsedLater = read(From.UsedLater);
  To.GradientsApplied = read(From.GradientsApplied);
  To.GradientsDropped = read(From.GradientsDropped);
  To.InTraining = read(From.InTraining);
  To.InEvaluation = read(From.InEvaluation);
  To.GivenShares = read(From.GivenShares);
  To.GivenFractions = read(From.GivenFractions);
  To.GivenLogarithms = read(From.GivenLogarithms);
  To.GivenNumbers = read(From.GivenNumbers);
  To.WrapsOutlived = read(From.WrapsOutlived);
  To.WrapsOnStack = read(From.WrapsOnStack);
  To.WrapsGone = read(From.WrapsGone);
  To.UsesOfGone = read(From.UsesOfGone);
  To.WrapsBeyond = read(From.WrapsBeyond);
  To.StaleCasts = read(From.StaleCasts);
  To.FreshCasts = read(From.FreshCasts);
  To.MembersReplaced = read(From.MembersReplaced);
  To.CallsInOtherMode = read(From.CallsInOtherMode);
  To.CallsInEvalMode = read(From.CallsInEvalMode);
  To.MostListed = read(From.MostListed);
  To.SharedWrites = read(From.SharedWrites);
  To.BytesKept = read(From.BytesKept);
  To.NodesRunAgain = read(From.NodesRunAgain);
  To.WritesInto = read(From.WritesInto);
  To.ElementsAsked = read(From.ElementsAsked);
  To.HeldByView = read(From.HeldByView);
  To.NotStretched = read(From.NotStretched);
  To.FreedThere = read(From.FreedThere);
  To.FreedElsewhere = read(From.FreedElsewhere);
  To.OperandsFreed = read(From.OperandsFreed);
  To.WholeLater = read(From.WholeLater);
  To.GradientsRead = read(From.GradientsRead);
  To.SavedWrites = read(From.SavedWrites);
  To.StaleLeaves = read(From.StaleLeaves);
  To.HitsUnderAutocast = read(From.HitsUnderAutocast);
  To.HalvesOfAutocast = read(From.HalvesOfAutocast);
  To.OtherHalves = read(From.OtherHalves);
  To.HitsAskedGrad = read(From.HitsAskedGrad);
  To.HookedAgain = read(From.HookedAgain);
  To.PartsWritten = read(From.PartsWritten);
  To.GivenParts = read(From.GivenParts);
  for (const StretchCounts &Each : From.Stretches)
    if (const uint64_t Number = read(Each.Number))
      To.Stretches.push_back(
          {Number, read(Each.NodesMade), read(Each.NodesRun)});
  if (const uint64_t Made = read(From.MadeSince))
    To.Stretches.push_back({1, Made, read(From.RunSince)});
  To.Synchronisations = read(From.Synchronisations);
  To.Exceptions = read(From.Exceptions);
  To.UnclearedSteps = read(From.UnclearedSteps);
  To.LeastLive = read(From.LeastLive);
  To.MostLive = read(From.MostLive);
  To.Nanoseconds = read(From.Nanoseconds);
  To.HitsWithoutGrad = read(From.HitsWithoutGrad);
  To.PeakBytes = read(From.PeakBytes);
  To.PeakCpuBytes = read(From.PeakCpuBytes);
  To.PeakCudaBytes = read(From.PeakCudaBytes);
  for (uint32_t I = 0; I < CopyKindCount; ++I) {
    const CopyCounts &Copies = From.Copies[I];
    if (const uint64_t Number = read(Copies.Number))
      To.Copies.push_back({CopyKinds[I], Number, read(Copies.Bytes)});
  }
  for (const ShapeCounts &Each : From.Shapes)
    if (const uint64_t Number = read(Each.Number); Number && read(Each.Hash))
      To.Shapes.push_back({File.text(read(Each.Text)), Number});
  To.OtherShapes = read(From.OtherShapes);
  To.Series = seriesOf(File, From);
  return To;
}

ValueData valueOf(const Mapping &File, const Value &From) {
  ValueData To;
  To.Name = File.text(From.Name);
  To.Number = From.Number;
  To.First = From.First;
  To.Last = From.Last;
  To.Sum = From.Sum;
  To.Least = From.Least;
  To.Most = From.Most;
  const uint32_t Size = std::min(From.SampleCount, MaxSamples);
  To.Samples.assign(From.Samples, From.Samples + Size);
  return To;
}

ModuleData moduleOf(const Mapping &File, const Module &From) {
  ModuleData To;
  To.Path = File.text(From.Path);
  To.IsUser = From.IsUser != 0;
  To.LoadBase = From.LoadBase;
  To.Begin = From.Begin;
  To.End = From.End;
  static const char Digits[] = "0123456789abcdef";
  const size_t Size = std::min<size_t>(From.BuildIdSize, sizeof(From.BuildId));
  for (size_t I = 0; I < Size; ++I) {
    To.BuildId += Digits[From.BuildId[I] >> 4];
    To.BuildId += Digits[From.BuildId[I] & 15];
  }
  return To;
}

std::vector<std::string> commandOf(const Mapping &File) {
  std::vector<std::string> Words;
  TextOffset Offset = File.header().Arguments;
  for (uint32_t I = 0; I < File.header().ArgumentCount && Offset < TextSize;
       ++I) {
    Words.push_back(File.text(Offset));
    Offset += static_cast<TextOffset>(Words.back().size()) + 1;
  }
  return Words;
}

} // namespace

const ModuleData *TraceData::moduleOf(uint64_t Address) const {
  for (const ModuleData &Each : Modules)
    if (Each.Begin <= Address && Address < Each.End)
      return &Each;
  return nullptr;
}

std::optional<TraceData> readTrace(const std::string &Path,
                                   std::string &Error) {
  Mapping File;
  Error = File.open(Path);
  if (!Error.empty()) {
    Error = Path + ": " + Error;
    return std::nullopt;
  }
  const Header &From = File.header();

  TraceData To;
  To.ProcessId = From.ProcessId;
  To.ForkedFrom = From.ForkedFrom;
  To.Command = commandOf(File);
  To.WorkingFolder = File.text(From.WorkingFolder);
  To.LibTorch = File.text(From.LibTorch);
  To.CudaDevice = File.text(read(From.CudaDevice));
  To.Unwinder = File.text(From.Unwinder);
  To.SamplesHeap = From.SamplesHeap != 0;
  To.StartedAt = From.StartedAt;
  for (uint32_t I = 0; I < QuantityCount; ++I) {
    const Capability &Each = From.Capabilities[I];
    To.Capabilities[QuantityNames[I]] = {read(Each.Available) != 0,
                                         File.text(read(Each.Reason))};
  }

  To.TopOperations = read(From.TopOperations);
  To.Operations = read(From.Operations);
  To.LiveCpuBytes = read(From.LiveCpuBytes);
  To.LiveCudaBytes = read(From.LiveCudaBytes);
  To.PeakCpuBytes = read(From.PeakCpuBytes);
  To.PeakCudaBytes = read(From.PeakCudaBytes);
  To.PeakCudaReserved = read(From.PeakCudaReserved);
  To.NodesAlive = read(From.NodesAlive);
  To.PeakNodes = read(From.PeakNodes);
  To.NodesMade = read(From.NodesMade);
  To.NodesRun = read(From.NodesRun);
  To.Allocations = read(From.Allocations);
  To.AllocatedBytes = read(From.AllocatedBytes);
  To.Copies = read(From.Copies);
  To.CopiedBytes = read(From.CopiedBytes);
  To.Synchronisations = read(From.Synchronisations);
  To.Exceptions = read(From.Exceptions);
  To.Backwards = read(From.Backwards);
  To.Steps = read(From.Steps);
  To.UnclearedSteps = read(From.UnclearedSteps);
  To.Unattributed = read(From.Unattributed);
  To.StackWalks = read(From.StackWalks);
  To.StackChecks = read(From.StackChecks);
  To.StackCheckFailures = read(From.StackCheckFailures);
  To.UnknownFrees = read(From.UnknownFrees);
  To.Seconds = static_cast<double>(read(From.LastHit)) / 1e9;
  for (const RuntimeCall &Call : From.RuntimeCalls)
    if (const TextOffset Name = read(Call.Name))
      To.RuntimeCalls[File.text(Name)] += read(Call.Number);

  const uint32_t Modules = std::min(read(From.ModuleCount), MaxModules);
  for (uint32_t I = 0; I < Modules; ++I)
    To.Modules.push_back(moduleOf(File, File.at<Module>(ModulesAt, I)));

  // Indices of sites in the file and in the result differ where one is not
  // complete.
  std::vector<size_t> Places(MaxSites, MaxSites);
  for (uint32_t I = 0; I < MaxSites; ++I) {
    const Site &Each = File.at<Site>(SitesAt, I);
    if (read(Each.State) != 2)
      continue;
    Places[I] = To.Sites.size();
    To.Sites.push_back(siteOf(File, Each));
  }
  const auto Place = [&](uint32_t Site) {
    return Site && Site < MaxSites && Places[Site] < To.Sites.size()
               ? static_cast<uint32_t>(Places[Site])
               : None;
  };
  for (uint32_t I = 0; I < MaxSites; ++I)
    if (Places[I] < To.Sites.size()) {
      const Site &Each = File.at<Site>(SitesAt, I);
      To.Sites[Places[I]].GoneAt = Place(read(Each.GoneAt));
      To.Sites[Places[I]].UsedAt = Place(read(Each.UsedAt));
      To.Sites[Places[I]].FreedBehind = Place(read(Each.FreedBehind));
      for (const auto &Flow : Each.FlowsInto)
        if (const uint32_t Into = Place(read(Flow)); Into != None)
          To.Sites[Places[I]].FlowsInto.push_back(Into);
    }
  for (uint32_t I = 0; I < MaxValues; ++I) {
    const Value &Each = File.at<Value>(ValuesAt, I);
    if (read(Each.State) == 2 && Each.Site < MaxSites &&
        Places[Each.Site] < To.Sites.size())
      To.Sites[Places[Each.Site]].Values.push_back(valueOf(File, Each));
  }
  for (uint32_t I = 0; I < MaxThrown; ++I) {
    const Thrown &Each = File.at<Thrown>(ThrownAt, I);
    const uint64_t Number = read(Each.Number);
    if (read(Each.State) == 2 && Number && Each.Site < MaxSites &&
        Places[Each.Site] < To.Sites.size())
      To.Sites[Places[Each.Site]].Thrown.push_back({File.text(Each.Type),
                                                    File.text(Each.Message),
                                                    Number, read(Each.LastAt)});
  }
  if (From.HasTimeline)
    To.Timeline = timelineOf(File, Place);
  return To;
}

std::vector<std::string> tracesOf(const std::string &Path) {
  namespace fs = std::filesystem;
  std::vector<std::string> Others;
  std::error_code Ignored;
  fs::path Folder = fs::path(Path).parent_path();
  const std::string Prefix = fs::path(Path).filename().string() + ".";
  for (const fs::directory_entry &Entry :
       fs::directory_iterator(Folder.empty() ? "." : Folder, Ignored)) {
    const std::string Name = Entry.path().filename().string();
    if (Name.size() > Prefix.size() &&
        Name.compare(0, Prefix.size(), Prefix) == 0 &&
        Name.find_first_not_of("0123456789", Prefix.size()) ==
            std::string::npos)
      Others.push_back((Folder / Name).string());
  }
  std::sort(Others.begin(), Others.end());
  if (fs::exists(Path, Ignored))
    Others.insert(Others.begin(), Path);
  return Others;
}

} // namespace torchtidy::confirm::trace
