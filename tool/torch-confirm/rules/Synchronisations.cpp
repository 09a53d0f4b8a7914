// synchronisations-per-iteration: the host waits for the device in each
// iteration. Without a device it is told how often it would.
#include "rules/Rule.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

constexpr double WaitsThatCount = 0.5;

/// Waits are counted by the names of operations, and item() of a tensor on the
/// host is none.
bool isOnHost(const Site &S) {
  return !S.Shapes.empty() &&
         std::all_of(S.Shapes.begin(), S.Shapes.end(),
                     [](const ShapeCount &Each) {
                       return Each.Text.find(" on cpu") != std::string::npos &&
                              Each.Text.find("cuda") == std::string::npos;
                     }) &&
         std::all_of(
             S.Copies.begin(), S.Copies.end(),
             [](const CopyCount &Each) { return Each.From == Each.To; });
}

class Synchronisations : public Rule {
public:
  std::string evidence() const override {
    return "synchronisations-per-iteration";
  }
  std::vector<std::string> needs() const override {
    return {"synchronisations"};
  }

  Verdict judge(const Places &Where) const override {
    if (Where.Statement.empty())
      return verdict(Outcome::NotReached, Where.unseenText());
    const bool HasDevice = !Where.Run.CudaDevice.empty();
    uint64_t Waits = 0, OnHost = 0;
    bool AreAllKnown = true;
    for (const Site *S : sitesOf(Where.Statement))
      if (HasDevice && isOnHost(*S)) {
        OnHost += S->Synchronisations;
        AreAllKnown &= !S->Synchronisations || !S->OtherShapes;
      } else {
        Waits += S->Synchronisations;
      }
    Verdict V;
    V.Rule = "waits of the operations of the line";
    V.Iterations = Where.iterations();
    V.Unit = "waits per iteration";
    V.Number = double(Waits) / double(std::max<uint64_t>(V.Iterations, 1));
    const std::string During = countText(double(V.Iterations), "iteration");
    if (!Waits && !HasDevice &&
        Where.Finding.Kind == FindingKind::SyncCopiesToHost) {
      V.Sentence =
          "nothing is copied to the host without a CUDA device, " + During;
      V.Rule = "needs a device";
      return V;
    }
    if (!Waits && OnHost) {
      V.Result = AreAllKnown ? Outcome::Refuted : Outcome::NotMeasurable;
      V.Rule = "devices of what the operations are given";
      V.Sentence = "what is read at this line is on the host already, " +
                   countText(double(OnHost), "time") +
                   (AreAllKnown ? ", " : " as far as that is known, ") + During;
      return V;
    }
    if (*V.Number < WaitsThatCount) {
      V.Result = Outcome::Refuted;
      V.Sentence =
          Waits ? countText(double(Waits), "wait") + " in " + During
                : "no operation of this line makes the host wait, " + During;
      return V;
    }
    if (V.Iterations < FewestIterations) {
      V.Sentence = "too few iterations: " + numberText(double(V.Iterations));
      return V;
    }
    // On the CPU a number is there, and the tensor may be of the host on
    // purpose.
    if (!HasDevice) {
      V.Rule = "needs a device";
      V.Sentence = "nothing waits without a CUDA device; of a tensor that is "
                   "on one the host would wait, " +
                   countText(*V.Number, "time") + " per iteration, " + During;
      return V;
    }
    V.Result = Outcome::Confirmed;
    V.Sentence = "the host waits, " + countText(*V.Number, "time") +
                 " per iteration, " + During;
    V.Cost = CostKind::Calls;
    V.CostAmount = double(Waits);
    V.CostText = countText(double(Waits), "wait") + " in this run";
    return V;
  }
};

const RegisterRule<Synchronisations> RegisterSynchronisations;

} // namespace
} // namespace torchtidy::confirm
