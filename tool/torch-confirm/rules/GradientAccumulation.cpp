// gradient-accumulation: steps of an optimizer that apply gradients which an
// earlier step has applied already.
#include "rules/Rule.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

/// One step says nothing about the next.
constexpr uint64_t FewestSteps = 3;
/// A single one may be a first batch that clears nothing on purpose.
constexpr uint64_t FewestRepeats = 2;

class GradientAccumulation : public Rule {
public:
  std::string evidence() const override { return "gradient-accumulation"; }
  std::vector<std::string> needs() const override { return {"gradients"}; }

  Verdict judge(const Places &Where) const override {
    uint64_t Steps = 0, Repeats = 0, Writes = 0;
    for (const CallPath &Path : Where.Statement)
      for (const Site *S : Path.Sites) {
        Repeats += S->UnclearedSteps;
        if (startsWith(S->Operation, "step"))
          Steps += S->Hits;
        else if (S->UnclearedSteps)
          Writes = std::max(Writes, S->Hits);
      }
    // Parameters that are changed by hand have no step().
    if (!Steps)
      Steps = Writes;
    Verdict V;
    V.Iterations = Steps;
    V.Unit = "steps with old gradients";
    V.Rule = "steps whose gradients were applied before";
    if (Where.Statement.empty()) {
      V.Result = Outcome::NotReached;
      V.Sentence =
          "no step of this line was seen, though " + Where.reachedText();
      return V;
    }
    if (!Steps) {
      V.Result = Outcome::NotMeasurable;
      V.Sentence = "the line runs, but no step of an optimizer that the probe "
                   "knows";
      return V;
    }
    V.Number = double(Repeats);
    if (Repeats >= FewestRepeats || (Repeats && Repeats + 1 >= Steps)) {
      return wrongResult(
          V, double(Repeats),
          numberText(double(Repeats)) + " of " +
              countText(double(Steps), "step") +
              " left gradients behind that the next step applied again");
    }
    if (Steps < FewestSteps || Repeats) {
      V.Result = Outcome::NotMeasurable;
      V.Sentence = "too few steps: " + numberText(double(Repeats)) + " of " +
                   countText(double(Steps), "step") +
                   " left gradients behind that the next step applied again";
      return V;
    }
    V.Result = Outcome::Refuted;
    V.Sentence = "gradients were cleared between all steps, " +
                 countText(double(Steps), "step");
    return V;
  }
};

const RegisterRule<GradientAccumulation> RegisterGradientAccumulation;

} // namespace
} // namespace torchtidy::confirm
