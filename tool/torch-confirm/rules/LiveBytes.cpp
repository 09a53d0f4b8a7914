// live-bytes-per-iteration: memory that an operation takes in each iteration,
// and that stays.
//
// The bytes of the whole process tell that something in a loop is kept, but not
// what. So they are compared with what the line takes that makes the memory,
// and where memory of this line is alive at the end, that is enough.
#include "rules/Rule.h"
#include "rules/Series.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

/// Of what each iteration takes, so much stays, or so little.
constexpr double ShareThatStays = 0.5;
constexpr double ShareThatIsNone = 0.1;
/// Memory of so many iterations, alive at the end, is kept.
constexpr double IterationsThatAreKept = 10;

struct Taken {
  const CallPath *Path = nullptr;
  /// In each iteration, and of all of it alive at the end.
  double Bytes = 0, AtEnd = 0;
};

Taken takenOn(const CallPath &Path) {
  Taken Result;
  Result.Path = &Path;
  for (const Site *S : Path.Sites) {
    Result.Bytes += double(S->AllocatedBytes + S->CudaAllocatedBytes);
    Result.AtEnd += double(std::max<int64_t>(S->LiveBytes, 0));
  }
  Result.Bytes /= double(std::max<uint64_t>(Path.Iterations, 1));
  return Result;
}

/// The way of calls on which most is taken.
std::optional<Taken> mostTaken(const std::vector<CallPath> &Paths) {
  std::optional<Taken> Result;
  for (const CallPath &Path : Paths) {
    const Taken Each = takenOn(Path);
    if (Each.Bytes > 0 && (!Result || Each.Bytes > Result->Bytes))
      Result = Each;
  }
  return Result;
}

class LiveBytes : public Rule {
public:
  std::string evidence() const override { return "live-bytes-per-iteration"; }
  std::vector<std::string> needs() const override {
    return {"operations", "cpu-memory"};
  }

  Verdict judge(const Places &Where) const override {
    if (Where.Finding.Kind == FindingKind::ViewSaved)
      return needsFile(Where);
    std::optional<Taken> Here = mostTaken(Where.Statement);
    if (!Here)
      Here = mostTaken(Where.IterationSite);
    Verdict V;
    V.Iterations = Here ? Here->Path->Iterations : Where.iterations();
    V.Rule = "bytes that stay of those that each iteration takes";
    V.Unit = "bytes per iteration";
    if (!Here) {
      V.Sentence = "no operation was seen that takes the memory";
      return V;
    }
    const double Iterations = double(V.Iterations);
    const std::string During = ", " + countText(Iterations, "iteration");
    const std::string Of = " of the " + bytesText(Here->Bytes) +
                           " that each iteration takes" + During;
    if (Here->AtEnd >= IterationsThatAreKept * Here->Bytes)
      return confirmed(
          std::move(V), Here->AtEnd / Iterations, Iterations,
          bytesText(Here->AtEnd) +
              " are alive at the end, of what this line has taken" + During);
    const auto Growth = growth(*Here->Path);
    if (!Growth) {
      V.Sentence = "too few iterations: " + numberText(Iterations);
      return V;
    }
    V.Number = std::max(*Growth, 0.0);
    if (*Growth >= ShareThatStays * Here->Bytes)
      return confirmed(std::move(V), *Growth, Iterations,
                       bytesText(*Growth) + " stay" + Of);
    V.Sentence = bytesText(*V.Number) + " stay" + Of;
    if (*Growth <= ShareThatIsNone * Here->Bytes)
      V.Result = Outcome::Refuted;
    return V;
  }

private:
  static std::optional<double> growth(const CallPath &Path) {
    if (!Path.Clock)
      return std::nullopt;
    const auto &Series = Path.Clock->Series;
    const auto Cpu = growthPerHit(Series, &Sample::CpuBytes);
    const auto Cuda = growthPerHit(Series, &Sample::CudaBytes);
    return Cpu ? std::optional<double>(std::max(*Cpu, Cuda.value_or(0))) : Cuda;
  }

  static Verdict confirmed(Verdict V, double Number, double Iterations,
                           std::string Sentence) {
    V.Result = Outcome::Confirmed;
    V.Number = Number;
    V.Sentence = std::move(Sentence);
    V.Cost = CostKind::Growth;
    V.CostAmount = Number * Iterations;
    V.CostText = bytesText(V.CostAmount) + " in this run";
    return V;
  }

  static Verdict needsFile(const Places &Where) {
    Verdict V;
    V.Iterations = Where.iterations();
    V.Rule = "needs the file";
    V.Sentence = "how large the file is shows only beside one of a copy, as in "
                 "'torch-confirm scenarios --check " +
                 Where.Finding.Check + "'";
    return V;
  }
};

const RegisterRule<LiveBytes> Register;

} // namespace
} // namespace torchtidy::confirm
