// Times, copies, iterations, and what the network is made of.
#include "profile/Parts.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

constexpr size_t MostRows = 200;

void addTimes(const Recording &Run, Profile &To) {
  std::map<std::tuple<std::string, unsigned, std::string>, size_t> Known;
  for (size_t I = 0; I < Run.Sites.size(); ++I) {
    const Site &S = Run.Sites[I];
    if (S.Seconds <= 0)
      continue;
    To.SecondsByPhase[size_t(To.Sites[I].Phase)] += S.Seconds;
    const SourceLine Line = lineOf(S);
    const auto [It, IsNew] =
        Known.try_emplace({Line.File, Line.Line, S.Operation}, To.Times.size());
    if (IsNew) {
      To.Times.emplace_back();
      To.Times.back().Operation = S.Operation;
      To.Times.back().Line = Line;
    }
    TimeRow &Row = To.Times[It->second];
    Row.Sites.push_back(I);
    Row.Seconds += S.Seconds;
    Row.Hits += S.Hits;
    Row.Waits += S.Synchronisations;
  }
  for (TimeRow &Each : To.Times)
    Each.Share = Run.Seconds > 0 ? Each.Seconds / Run.Seconds : 0;
  std::stable_sort(
      To.Times.begin(), To.Times.end(),
      [](const TimeRow &A, const TimeRow &B) { return A.Seconds > B.Seconds; });
  if (To.Times.size() > MostRows)
    To.Times.resize(MostRows);
}

void addCopies(const Recording &Run, Profile &To) {
  for (size_t I = 0; I < Run.Sites.size(); ++I)
    for (const CopyCount &Each : Run.Sites[I].Copies)
      To.Copies.push_back(
          {lineOf(Run.Sites[I]), I, Each, Run.Sites[I].CopiedAgain});
  std::stable_sort(To.Copies.begin(), To.Copies.end(),
                   [](const CopyRow &A, const CopyRow &B) {
                     return A.Copies.Bytes > B.Copies.Bytes;
                   });
  if (To.Copies.size() > MostRows)
    To.Copies.resize(MostRows);
}

void addIterations(const Recording &Run, Profile &To) {
  if (Run.Iterations.empty())
    return;
  const auto &All = Run.Iterations;
  std::vector<const Iteration *> ByTime;
  for (const Iteration &Each : All)
    ByTime.push_back(&Each);
  std::nth_element(ByTime.begin(),
                   ByTime.begin() + std::ptrdiff_t(ByTime.size() / 2),
                   ByTime.end(), [](const Iteration *A, const Iteration *B) {
                     return A->End - A->Begin < B->End - B->Begin;
                   });
  const auto Worst = std::max_element(
      All.begin(), All.end(),
      [](const Iteration &A, const Iteration &B) { return A.Peak < B.Peak; });
  To.Iterations.push_back({"first", All.front()});
  To.Iterations.push_back({"typical", *ByTime[ByTime.size() / 2]});
  To.Iterations.push_back({"last", All.back()});
  To.Iterations.push_back({"worst", *Worst});
}

void addEvaluation(const Recording &Run, Profile &To) {
  for (size_t I = 0; I < Run.Sites.size(); ++I) {
    if (To.Sites[I].Phase != WorkPhase::Evaluation)
      continue;
    To.EvaluationPeak = std::max(To.EvaluationPeak, Run.Sites[I].MostLive);
    To.EvaluationHits += Run.Sites[I].Hits;
  }
}

std::string kindOf(const NetworkTensor &Of) {
  return Of.Type + " on " + Of.Device;
}

void addModules(const Recording &Run, Profile &To) {
  std::map<std::string, size_t> Known;
  for (const NetworkTensor &Each : Run.Network) {
    const size_t Dot = Each.Name.rfind('.');
    const std::string Path =
        Dot == std::string::npos ? "" : Each.Name.substr(0, Dot);
    const auto [It, IsNew] = Known.try_emplace(Path, To.Modules.size());
    if (IsNew) {
      To.Modules.emplace_back();
      To.Modules.back().Path = Path;
    }
    ModuleRow &Row = To.Modules[It->second];
    (Each.IsBuffer ? Row.BufferBytes : Row.ParameterBytes) += Each.Bytes;
    ++(Each.IsBuffer ? Row.Buffers : Row.Parameters);
    Row.WithGradient += Each.HasGradient;
    Row.GradientBytes += Each.HasGradient ? Each.Bytes : 0;
    Row.StateBytes += Each.StateBytes;
    const std::string Kind = kindOf(Each);
    if (std::find(Row.Kinds.begin(), Row.Kinds.end(), Kind) == Row.Kinds.end())
      Row.Kinds.push_back(Kind);
  }
}

/// Those that are not as most are. What: the words before a value, with a
/// space.
template <typename Of>
void addOdd(const Recording &Run, Profile &To, const Of &Property,
            const char *What) {
  std::map<std::string, size_t> Count;
  for (const NetworkTensor &Each : Run.Network)
    if (const std::string Value = Property(Each); !Value.empty())
      ++Count[Value];
  if (Count.size() < 2)
    return;
  const auto Usual = std::max_element(
      Count.begin(), Count.end(),
      [](const auto &A, const auto &B) { return A.second < B.second; });
  for (const NetworkTensor &Each : Run.Network) {
    const std::string Value = Property(Each);
    if (Value.empty() || Value == Usual->first)
      continue;
    To.Oddities.push_back(
        {std::string(Each.IsBuffer ? "buffer '" : "parameter '") + Each.Name +
             "' is " + What + Value + ", " + std::to_string(Usual->second) +
             " others are " + What + Usual->first,
         Each.Name});
  }
}

bool isFloating(const std::string &Type) {
  return Type == "Float" || Type == "Double" || Type == "Half" ||
         Type == "BFloat16";
}

void addOddities(const Recording &Run, Profile &To) {
  addOdd(Run, To, [](const NetworkTensor &T) { return T.Device; }, "on ");
  addOdd(
      Run, To,
      [](const NetworkTensor &T) {
        return isFloating(T.Type) ? T.Type : std::string();
      },
      "");
  const auto Trained =
      std::count_if(Run.Network.begin(), Run.Network.end(),
                    [](const NetworkTensor &T) { return T.HasGradient; });
  for (const NetworkTensor &Each : Run.Network)
    if (Trained && Each.NeedsGradient && !Each.HasGradient)
      To.Oddities.push_back({"parameter '" + Each.Name +
                                 "' has got no gradient, " +
                                 std::to_string(Trained) + " others have",
                             Each.Name});
}

/// In a container NVML knows the program by another number: then the only
/// device is the one that it had memory on.
std::vector<DeviceBusy> usedDevices(const Recording &Run) {
  std::vector<DeviceBusy> Used;
  for (const DeviceBusy &Each : Run.Devices)
    if (Each.Seconds > 0 &&
        (Each.IsUsed || (Run.Devices.size() == 1 && !Run.CudaDevice.empty())))
      Used.push_back(Each);
  return Used;
}

} // namespace

void addTables(const Recording &Run, Profile &To) {
  addTimes(Run, To);
  addCopies(Run, To);
  To.Devices = usedDevices(Run);
  addIterations(Run, To);
  To.Epochs = epochsOf(Run, To);
  addEvaluation(Run, To);
  addModules(Run, To);
  addOddities(Run, To);
}

} // namespace torchtidy::confirm
