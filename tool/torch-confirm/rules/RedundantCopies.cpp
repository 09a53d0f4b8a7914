#include "rules/RedundantCopies.h"
#include "rules/Operations.h"
#include "rules/Rule.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

constexpr double ClonesThatCount = 0.5;

Verdict notReached(const Places &Where) {
  Verdict V;
  V.Result = Outcome::NotReached;
  V.Iterations = Where.iterations();
  V.Rule = "no operation at the line";
  V.Sentence = Where.unseenText();
  return V;
}

/// What the transfers of the line copy.
struct Moves {
  double Copies = 0;
  bool IsThere = false;
  /// One of them asks for a device, as far as the run can tell: nothing was
  /// converted.
  bool IsToDevice = false;
};

Moves movesOf(const Places &Where) {
  Moves Result;
  for (const Site *S : sitesOf(Where.Statement)) {
    if (!isTransfer(*S))
      continue;
    Result.IsThere = true;
    for (const CopyCount &Copy : S->Copies)
      Result.Copies += double(Copy.Count);
    Result.IsToDevice |= S->Operation == "aten::cuda";
  }
  return Result;
}

double madeBeside(const Places &Where) {
  double Result = 0;
  for (const Site *S : sitesOf(Where.Statement))
    if (S->Operation != "aten::clone")
      Result += double(S->Allocations + S->CudaAllocations);
  return Result;
}

/// What clone() allocates.
Verdict ofClone(const Places &Where) {
  double Number = 0, Bytes = 0;
  for (const Site *S : sitesOf(Where.Statement))
    if (S->Operation == "aten::clone") {
      Number += double(S->Allocations + S->CudaAllocations);
      Bytes += double(S->AllocatedBytes + S->CudaAllocatedBytes);
    }
  Verdict V;
  V.Rule = "allocations of clone()";
  V.Iterations = Where.iterations();
  V.Unit = "clones per iteration";
  const double Iterations = double(std::max<uint64_t>(V.Iterations, 1));
  V.Number = Number / Iterations;
  const std::string During = countText(double(V.Iterations), "iteration");
  if (*V.Number < ClonesThatCount) {
    V.Result = Outcome::Refuted;
    V.Sentence = countText(Number, "clone") + " in " + During;
    return V;
  }
  if (V.Iterations < FewestIterations) {
    V.Sentence = "too few iterations: " + numberText(double(V.Iterations));
    return V;
  }
  const Moves Beside = movesOf(Where);
  if (!Beside.IsThere) {
    // Of what an operation beside it computes, that is the first memory.
    if (madeBeside(Where) < Number) {
      V.Rule = "allocations beside clone()";
      V.Sentence = "no operation of the line but clone() makes a tensor each "
                   "time: what is cloned was made elsewhere, " +
                   During;
      return V;
    }
  } else if (Beside.Copies < Number) {
    const bool NeedsDevice = Beside.IsToDevice && Where.Run.CudaDevice.empty();
    V.Result = NeedsDevice ? Outcome::NotMeasurable : Outcome::Refuted;
    V.Rule = "copies of the transfer beside clone()";
    const std::string Only =
        Beside.Copies ? countText(Number - Beside.Copies, "time") + " of " +
                            numberText(Number) +
                            " the transfer beside clone() copies nothing"
                      : "the transfer beside clone() copies nothing";
    V.Sentence =
        Only + ", so the clone is the only copy" +
        std::string(NeedsDevice ? "; with a CUDA device it would, " : ", ") +
        During;
    return V;
  }
  V.Result = Outcome::Confirmed;
  V.Sentence = countText(*V.Number, "clone") + " of " +
               bytesText(Bytes / Number) + " per iteration, " + During;
  V.Cost = CostKind::Copies;
  V.CostAmount = Number * 1024 + Bytes;
  V.CostText = bytesText(Bytes) + " copied once more in this run";
  return V;
}

/// to() that returns its tensor: no copy, of a line that ran.
Verdict ofNothingToDo(const Places &Where, bool NeedsDevice) {
  const double Copied = movesOf(Where).Copies;
  Verdict V;
  V.Rule = "copies of a transfer that has nothing to do";
  V.Iterations = Where.iterations();
  V.Unit = "copies";
  V.Number = Copied;
  const std::string During = countText(double(V.Iterations), "iteration");
  // Of several calls in a line, one may have nothing to do.
  const std::vector<const Site *> All = sitesOf(Where.Statement);
  const bool IsOneIdle = std::any_of(All.begin(), All.end(), [](const Site *S) {
    return isTransfer(*S) && S->Hits && S->Copies.empty();
  });
  if (Copied && !IsOneIdle) {
    V.Result = Outcome::Refuted;
    V.Sentence = numberText(Copied) +
                 (Copied == 1 ? " copy in " : " copies in ") + During;
    return V;
  }
  if (NeedsDevice && Where.Run.CudaDevice.empty()) {
    V.Rule = "needs a device";
    V.Sentence =
        "nothing is copied between devices without a CUDA device, " + During;
    return V;
  }
  V.Result = Outcome::Confirmed;
  V.Sentence =
      Copied ? "a call of this line copies nothing, for the tensor is "
               "already there, " +
                   During
             : "nothing is copied, the tensor is already there, " + During;
  return V;
}

} // namespace

std::optional<Verdict> judgeRedundant(const Places &Where) {
  const auto Kind = Where.Finding.Kind;
  const bool IsDevice = Kind == FindingKind::RedundantTransfer;
  const bool IsType = Kind == FindingKind::RedundantConversion;
  if (!IsDevice && !IsType && Kind != FindingKind::RedundantClone)
    return std::nullopt;
  // A transfer with nothing to do may be seen by nobody.
  if (Where.Statement.empty() && !IsDevice)
    return notReached(Where);
  return Kind == FindingKind::RedundantClone ? ofClone(Where)
                                             : ofNothingToDo(Where, IsDevice);
}

} // namespace torchtidy::confirm
