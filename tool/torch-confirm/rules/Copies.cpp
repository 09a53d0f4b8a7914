// copies-per-iteration: a tensor that is copied to another device, or converted
// to another type, in each iteration.
#include "rules/Operations.h"
#include "rules/RedundantCopies.h"
#include "rules/Rule.h"
#include <algorithm>
#include <map>

namespace torchtidy::confirm {
namespace {

constexpr double CopiesThatCount = 0.5;

std::string kindOf(const CopyCount &Copy) {
  if (Copy.From == Copy.To)
    return Copy.Converts ? "conversion" : "copy";
  return "copy " + Copy.From + " to " + Copy.To +
         (Copy.Pinned ? " (pinned)" : " (pageable)");
}

/// "2 copies cpu to cuda (pageable)", "1 conversion"
std::string kindText(double Number, const std::string &Kind) {
  const std::string Text = numberText(Number);
  if (Text == "1")
    return Text + " " + Kind;
  return Text + " " +
         (startsWith(Kind, "copy") ? "copies" + Kind.substr(4) : Kind + "s");
}

class Copies : public Rule {
public:
  std::string evidence() const override { return "copies-per-iteration"; }
  std::vector<std::string> needs() const override { return {"copies"}; }

  Verdict judge(const Places &Where) const override {
    if (const std::optional<Verdict> Redundant = judgeRedundant(Where))
      return *Redundant;
    std::map<std::string, double> ByKind;
    double Number = 0, Bytes = 0;
    bool MayCopy = false;
    uint64_t Again = 0;
    for (const Site *S : sitesOf(Where.Statement)) {
      if (!mayCopy(*S))
        continue;
      MayCopy = true;
      Again += S->CopiedAgain;
      for (const CopyCount &Copy : S->Copies) {
        // One within a device that converts nothing is not recorded: what is
        // left is of a device that is neither.
        if (isOfDevice(Where) && Copy.From == Copy.To && Copy.Converts)
          continue;
        Number += double(Copy.Count);
        Bytes += double(Copy.Bytes);
        ByKind[kindOf(Copy)] += double(Copy.Count);
      }
    }
    if (!Number)
      return ofNone(Where, MayCopy);
    if (Where.Finding.Kind == FindingKind::TransferForMetadata)
      if (const std::optional<Verdict> Kept = ofUsed(Where, Number))
        return *Kept;
    Verdict V;
    V.Rule = "copies of the line";
    V.Iterations = Where.iterations();
    V.Unit = "copies per iteration";
    const double Iterations = double(std::max<uint64_t>(V.Iterations, 1));
    V.Number = Number / Iterations;
    const std::string During = countText(double(V.Iterations), "iteration");
    if (*V.Number < CopiesThatCount) {
      V.Result = Outcome::Refuted;
      V.Sentence = numberText(Number) +
                   (Number == 1 ? " copy in " : " copies in ") + During;
      return V;
    }
    if (V.Iterations < FewestIterations) {
      V.Result = Outcome::NotMeasurable;
      V.Sentence = "too few iterations: " + numberText(double(V.Iterations));
      return V;
    }
    if (saysSameTensor(Where) && double(Again) < CopiesThatCount * Number) {
      V.Result = Outcome::Refuted;
      V.Rule = "copies of the same tensor";
      V.Sentence = "what is copied is another tensor each time, or has "
                   "changed: " +
                   numberText(double(Again)) + " of " + numberText(Number) +
                   " copies repeat the one before, " + During;
      return V;
    }
    V.Result = Outcome::Confirmed;
    for (const auto &[Kind, Count] : ByKind)
      V.Sentence += (V.Sentence.empty() ? "" : " and ") +
                    kindText(Count / Iterations, Kind);
    V.Sentence += " per iteration, " + bytesText(Bytes / Iterations) +
                  " each time, " + During;
    V.Cost = CostKind::Copies;
    V.CostAmount = Number * 1024 + Bytes;
    V.CostText = bytesText(Bytes) + " copied in this run";
    return V;
  }

private:
  /// What the finding names goes to a device: conversions are none of it.
  static bool isOfDevice(const Places &Where) {
    const auto &Kind = Where.Finding.Kind;
    return Kind == FindingKind::DeviceRoundTrip ||
           Kind == FindingKind::AllocateOnDevice;
  }

  /// A copy that is only asked for its sizes is gone before another operation
  /// begins. One that stays longer may be read as well.
  static std::optional<Verdict> ofUsed(const Places &Where, double Copies) {
    double Gone = 0;
    for (const Site *S : sitesOf(Where.Statement))
      if (mayCopy(*S))
        Gone += double(S->DiedAtOnce);
    if (Gone >= CopiesThatCount * Copies)
      return std::nullopt;
    Verdict V;
    V.Rule = "copies that are gone before the next operation";
    V.Iterations = Where.iterations();
    V.Unit = "copies";
    V.Number = Gone;
    V.Sentence = "the copy is there when the next operation begins, which may "
                 "read its numbers: " +
                 numberText(Gone) + " of " + numberText(Copies) +
                 " copies were gone by then, " +
                 countText(double(V.Iterations), "iteration");
    return V;
  }

  static bool saysSameTensor(const Places &Where) {
    const auto &Kind = Where.Finding.Kind;
    return Kind == FindingKind::TransferMoves ||
           Kind == FindingKind::TransferConverts;
  }

  /// Nothing moves without a device; but whether it is the same tensor each
  /// time that would, the calls of to() tell.
  static std::optional<Verdict> ofOthers(const Places &Where, Verdict V) {
    uint64_t Asked = 0, Again = 0;
    for (const Site *S : sitesOf(Where.Statement))
      if (S->Operation == "aten::to") {
        Asked += S->Hits;
        Again += S->AskedAgain;
      }
    if (!saysSameTensor(Where) || Asked < FewestIterations ||
        double(Again) >= CopiesThatCount * double(Asked))
      return std::nullopt;
    V.Result = Outcome::Refuted;
    V.Rule = "calls of to() for the same tensor";
    V.Sentence = "what to() is called for is another tensor each time, or has "
                 "changed: " +
                 numberText(double(Again)) + " of " +
                 numberText(double(Asked)) + " calls repeat the one before, " +
                 countText(double(V.Iterations), "iteration");
    return V;
  }

  /// No copy was seen. Without a device that may be because all is on the CPU.
  static Verdict ofNone(const Places &Where, bool MayCopy) {
    Verdict V;
    V.Rule = "no copy at the line";
    V.Iterations = Where.iterations();
    V.Number = 0;
    V.Unit = "copies per iteration";
    const std::string During = countText(double(V.Iterations), "iteration");
    const bool IsOfType = Where.Finding.Kind == FindingKind::TransferConverts;
    const bool HasDevice = !Where.Run.CudaDevice.empty();
    if (isOfDevice(Where) && !HasDevice && MayCopy) {
      V.Sentence =
          "nothing is copied between devices without a CUDA device, " + During;
      V.Rule = "needs a device";
      return V;
    }
    if (!Where.Statement.empty() && !MayCopy) {
      V.Result = Outcome::Refuted;
      V.Sentence = "none of the operations of this line copies to a device or "
                   "converts, " +
                   During;
      return V;
    }
    if (std::optional<Verdict> Others = ofOthers(Where, V))
      return *std::move(Others);
    if (!IsOfType && !HasDevice) {
      V.Result = Outcome::NotMeasurable;
      V.Sentence =
          "nothing is copied between devices without a CUDA device, " + During;
      V.Rule = "needs a device";
      return V;
    }
    if (Where.Statement.empty()) {
      V.Result = Outcome::NotReached;
      V.Sentence = Where.unseenText();
      return V;
    }
    V.Result = Outcome::Refuted;
    V.Sentence = "nothing is copied, the tensor is already there, " + During;
    return V;
  }
};

const RegisterRule<Copies> RegisterCopies;

} // namespace
} // namespace torchtidy::confirm
