// allocations-per-iteration: a tensor that is made anew in each iteration.
#include "rules/Rule.h"
#include "rules/Scales.h"
#include <algorithm>
#include <cmath>

namespace torchtidy::confirm {
namespace {

/// In most iterations, so not only where a cache is filled.
constexpr double AllocationsThatCount = 0.5;

/// Operations that make a tensor from a shape; results of others have to be
/// allocated.
bool makesATensor(const Site &S) {
  static const char *const Names[] = {
      "empty",    "zeros",         "ones",       "full",     "rand",
      "normal",   "arange",        "linspace",   "eye",      "logspace",
      "new_",     "scalar_tensor", "range",      "tril_ind", "triu_i",
      "bartlett", "hann",          "hamming",    "blackman", "kaiser",
      "vander",   "complex",       "_efficientz"};
  // normal_() fills a tensor that is there.
  if (!startsWith(S.Operation, "aten::") || S.Operation.back() == '_')
    return false;
  return std::any_of(std::begin(Names), std::end(Names), [&](const char *Name) {
    return startsWith(S.Operation.substr(6), Name);
  });
}

/// Of so many hits in ten at least the sizes have to be the same.
constexpr double SameSizes = 0.9;
/// The last one may live until the next is there.
constexpr double AliveAtOnce = 3;
constexpr double KeptAtOnce = 10;

/// "[1,4]; [2,4]" where the sizes that it is given differ from hit to hit.
std::optional<std::string> differingSizes(const Site &S) {
  uint64_t Most = 0;
  std::string Text;
  for (const ShapeCount &Each : S.Shapes) {
    Most = std::max(Most, Each.Count);
    Text += (Text.empty() ? "" : "; ") + Each.Text;
  }
  if (S.Shapes.empty() || double(Most) >= SameSizes * double(S.Hits))
    return std::nullopt;
  return S.OtherShapes ? Text + "; and others" : Text;
}

/// How many of the tensors that it makes are alive at once at most.
double aliveAtOnce(const Site &S) {
  const double PerHit = double(S.AllocatedBytes + S.CudaAllocatedBytes) /
                        double(std::max<uint64_t>(S.Hits, 1));
  return PerHit > 0 ? double(S.MostLiveBytes) / PerHit : 0;
}

class Allocations : public Rule {
public:
  std::string evidence() const override { return "allocations-per-iteration"; }
  std::vector<std::string> needs() const override {
    return {"operations", "cpu-memory"};
  }

  Verdict judge(const Places &Where) const override {
    Verdict V;
    V.Rule = "allocations of the operations that make a tensor";
    V.Iterations = Where.iterations();
    V.Unit = "allocations per iteration";
    if (Where.Statement.empty()) {
      V.Result = Outcome::NotReached;
      V.Sentence = Where.unseenText();
      return V;
    }
    if (Where.Finding.Kind == FindingKind::UnfusedLogarithm)
      return ofLogarithm(std::move(V), Where);
    if (Where.Finding.Kind == FindingKind::InplaceRebound)
      return ofRebound(std::move(V), Where);
    if (isOfTemporaries(Where))
      return ofTemporaries(std::move(V), Where);
    double Number = 0, Bytes = 0;
    const Site *Factory = nullptr;
    for (const Site *S : sitesOf(Where.Statement)) {
      if (!makesATensor(*S))
        continue;
      if (!Factory || S->Hits > Factory->Hits)
        Factory = S;
      Number += double(S->Allocations + S->CudaAllocations);
      Bytes += double(S->AllocatedBytes + S->CudaAllocatedBytes);
    }
    const double Iterations = double(std::max<uint64_t>(V.Iterations, 1));
    V.Number = Number / Iterations;
    const std::string During = countText(double(V.Iterations), "iteration");
    if (!Factory) {
      V.Result = Outcome::Refuted;
      V.Sentence =
          "none of the operations of this line makes a tensor anew, " + During;
      return V;
    }
    if (V.Iterations < FewestIterations) {
      V.Result = Outcome::NotMeasurable;
      V.Sentence = "too few iterations: " + numberText(double(V.Iterations));
      return V;
    }
    if (*V.Number < AllocationsThatCount) {
      V.Result = Outcome::Refuted;
      V.Sentence = countText(Number, "allocation") + " in " + During;
      return V;
    }
    if (std::optional<Verdict> Needed = ofNeeded(V, *Factory))
      return *std::move(Needed);
    V.Result = Outcome::Confirmed;
    V.Sentence = countText(*V.Number, "allocation") + " of " +
                 bytesText(Bytes / Number) + " per iteration by " +
                 Factory->Operation + ", " + During;
    V.Cost = CostKind::Calls;
    V.CostAmount = Number + Bytes / 4096;
    V.CostText = countText(Number, "allocation") + ", " + bytesText(Bytes) +
                 " in this run";
    return V;
  }

private:
  /// Tensors that no single one could stand for: their sizes differ, or they
  /// are kept beside each other.
  static std::optional<Verdict> ofNeeded(Verdict V, const Site &Factory) {
    const std::string During = countText(double(V.Iterations), "iteration");
    if (const auto Sizes = differingSizes(Factory)) {
      V.Result = Outcome::Refuted;
      V.Rule = "sizes that differ";
      V.Sentence = "the sizes that " + Factory.Operation +
                   " is given differ: " + *Sizes + ", " + During;
      return V;
    }
    if (double(Factory.UsedLater) >=
        AllocationsThatCount * double(Factory.Hits)) {
      V.Result = Outcome::Refuted;
      V.Rule = "tensors that are used when the next one is there";
      V.Sentence =
          "the tensor of one iteration is used when that of the next is "
          "there, " +
          numberText(double(Factory.UsedLater)) + " of " +
          countText(double(Factory.Hits), "time");
      return V;
    }
    const double Alive = aliveAtOnce(Factory);
    if (Alive <= AliveAtOnce)
      return std::nullopt;
    V.Rule = "tensors that are kept";
    V.Sentence = "up to " + countText(std::round(Alive), "tensor") +
                 " of this line are alive at once, so one cannot stand for "
                 "all, " +
                 During;
    V.Result = Alive >= KeptAtOnce || 2 * Alive >= double(V.Iterations)
                   ? Outcome::Refuted
                   : Outcome::NotMeasurable;
    return V;
  }

  /// What an iteration makes of a tensor takes its place, and the tensor of
  /// before goes: whoever else held it would let them pile up.
  static Verdict ofRebound(Verdict V, const Places &Where) {
    V.Rule = "new memory for what takes the place of its operand";
    double Number = 0, Bytes = 0;
    const Site *Maker = nullptr;
    for (const Site *S : sitesOf(Where.Statement)) {
      Number += double(S->Allocations + S->CudaAllocations);
      Bytes += double(S->AllocatedBytes + S->CudaAllocatedBytes);
      if (!Maker || aliveAtOnce(*S) > aliveAtOnce(*Maker))
        Maker = S;
    }
    V.Number = Number / double(std::max<uint64_t>(V.Iterations, 1));
    const std::string During = countText(double(V.Iterations), "iteration");
    if (V.Iterations < FewestIterations) {
      V.Result = Outcome::NotMeasurable;
      V.Sentence = "too few iterations: " + numberText(double(V.Iterations));
      return V;
    }
    V.Sentence = countText(*V.Number, "allocation") +
                 " per iteration by the operations of this line, " + During;
    if (!Maker || *V.Number < AllocationsThatCount) {
      V.Result = Outcome::Refuted;
      return V;
    }
    const double Alive = std::max(1.0, std::round(aliveAtOnce(*Maker)));
    V.Sentence += ", at most " + countText(Alive, "tensor") + " alive at once";
    if (Alive > AliveAtOnce) {
      V.Rule = "tensors that are kept";
      V.Result =
          Alive >= KeptAtOnce ? Outcome::Refuted : Outcome::NotMeasurable;
      return V;
    }
    if (!isGivenBack(Where)) {
      V.Rule = "operands that go with the operation";
      V.Sentence += "; the tensor of before is there when the next operation "
                    "begins, which may be given it";
      return V;
    }
    V.Result = Outcome::Confirmed;
    V.Cost = CostKind::Calls;
    V.CostAmount = Number + Bytes / 4096;
    V.CostText = countText(Number, "allocation") + ", " + bytesText(Bytes) +
                 " in this run";
    return V;
  }

  /// What the new tensor was made of goes before anything else begins: its
  /// memory could have been used.
  static bool isGivenBack(const Places &Where) {
    const std::vector<const Site *> All = sitesOf(Where.Statement);
    return std::any_of(All.begin(), All.end(), [](const Site *S) {
      return S->OperandsFreed &&
             double(S->OperandsFreed) >= AllocationsThatCount * double(S->Hits);
    });
  }

  static double nodesOf(const Places &Where) {
    double Result = 0;
    for (const Site *S : sitesOf(Where.Statement))
      Result += double(S->NodesMade);
    return Result;
  }

  /// Autograd may have kept what the operations made, for a backward().
  static Verdict ofRecorded(Verdict V, double Nodes) {
    V.Result = Outcome::Refuted;
    V.Rule = "graphs of the operations";
    V.Sentence = "the operations of this line record a graph, which may need "
                 "what they make: " +
                 countText(Nodes, "graph node") + ", " +
                 countText(double(V.Iterations), "iteration");
    return V;
  }

  static bool isOfTemporaries(const Places &Where) {
    const auto &Kind = Where.Finding.Kind;
    return Kind == FindingKind::UnfusedProduct ||
           Kind == FindingKind::UnfusedScaling ||
           Kind == FindingKind::InplaceOpportunity;
  }

  static Verdict ofLogarithm(Verdict V, const Places &Where) {
    if (std::optional<Verdict> Seen = judgeScale(Where))
      return *std::move(Seen);
    V.Result = Outcome::NotMeasurable;
    V.Rule = "numbers that a logarithm is given";
    V.Sentence = "the numbers are on a device, where nobody has looked at them";
    return V;
  }

  /// What torch::add() with a factor and addcmul() do at once.
  static bool isMadeAndAdded(const Places &Where) {
    bool IsMade = false, IsAdded = false;
    for (const Site *S : sitesOf(Where.Statement)) {
      IsMade |= isProduct(*S);
      IsAdded |= startsWith(S->Operation, "aten::add") ||
                 startsWith(S->Operation, "aten::sub") ||
                 startsWith(S->Operation, "aten::rsub");
    }
    return IsMade && IsAdded;
  }

  static bool isProduct(const Site &S) {
    return S.Operation == "aten::mul" || S.Operation == "aten::div";
  }

  /// A product that is only added is gone when the statement ends.
  static bool isProductDropped(const Places &Where) {
    const LineRange Own = Where.known(Where.Finding.Statement);
    const std::vector<const Site *> All = sitesOf(Where.Statement);
    return std::any_of(All.begin(), All.end(), [&](const Site *S) {
      return isProduct(*S) && S->FreedThere &&
             double(S->FreedThere) >= AllocationsThatCount * double(S->Hits) &&
             std::any_of(S->FreedBehind.begin(), S->FreedBehind.end(),
                         [&](const SourceLine &L) { return isAt(L, Own); });
    });
  }

  /// An expression that makes one tensor in each iteration makes its result:
  /// what is beyond that is made on the way.
  static Verdict ofTemporaries(Verdict V, const Places &Where) {
    V.Rule = "tensors of the line beyond its result";
    double Number = 0, Bytes = 0;
    for (const Site *S : sitesOf(Where.Statement)) {
      Number += double(S->Allocations + S->CudaAllocations);
      Bytes += double(S->AllocatedBytes + S->CudaAllocatedBytes);
    }
    const double Iterations = double(std::max<uint64_t>(V.Iterations, 1));
    V.Number = Number / Iterations;
    const std::string During = countText(double(V.Iterations), "iteration");
    if (V.Iterations < FewestIterations) {
      V.Result = Outcome::NotMeasurable;
      V.Sentence = "too few iterations: " + numberText(double(V.Iterations));
      return V;
    }
    if (Where.Finding.Kind == FindingKind::InplaceOpportunity)
      if (const double Nodes = nodesOf(Where); Nodes > 0)
        return ofRecorded(std::move(V), Nodes);
    if (Where.Finding.Kind != FindingKind::InplaceOpportunity &&
        !isMadeAndAdded(Where)) {
      V.Result = Outcome::Refuted;
      V.Rule = "a product or quotient that is added";
      V.Sentence = "no operation of this line makes a product or quotient of a "
                   "tensor and another one adds it, " +
                   During;
      return V;
    }
    V.Sentence = countText(*V.Number, "allocation") +
                 " per iteration by the operations of this line, " + During;
    if (*V.Number < 1 + AllocationsThatCount) {
      V.Result = Outcome::Refuted;
      return V;
    }
    if (Where.Finding.Kind != FindingKind::InplaceOpportunity &&
        !isProductDropped(Where)) {
      V.Rule = "products that go with the statement";
      V.Sentence += "; the product is there when the statement has ended, and "
                    "may be used";
      return V;
    }
    V.Result = Outcome::Confirmed;
    const double Beyond = Number - Iterations;
    V.Cost = CostKind::Calls;
    V.CostAmount = Beyond + Bytes / 4096;
    V.CostText = countText(Beyond, "tensor") + " beyond the results, " +
                 bytesText(Bytes) + " with these in this run";
    return V;
  }
};

const RegisterRule<Allocations> RegisterAllocations;

} // namespace
} // namespace torchtidy::confirm
