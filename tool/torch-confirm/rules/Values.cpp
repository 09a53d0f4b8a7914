// value, parameters: what a run comes to is another thing than what it should
// have come to. Of some mistakes the run has a sign (Results.h); the others
// show beside a run without the mistake, as the scenario pair of the check
// does, and here it is said whether the line ran at all.
#include "rules/Results.h"
#include "rules/Rule.h"

namespace torchtidy::confirm {
namespace {

class ByComparison : public Rule {
public:
  std::vector<std::string> needs() const override { return {}; }

  Verdict judge(const Places &Where) const override {
    if (std::optional<Verdict> Seen = judgeResult(Where))
      return *std::move(Seen);
    Verdict V;
    V.Iterations = Where.iterations();
    V.Sentence = (Where.Statement.empty()
                      ? Where.unseenText()
                      : "the line ran, " +
                            countText(double(V.Iterations), "iteration")) +
                 "; " + advice(Where);
    V.Rule = "needs a run without the mistake";
    return V;
  }

  std::optional<Verdict> judgeUnseen(const Places &Where) const override {
    if (!Where.isFileKnown())
      return std::nullopt;
    Verdict V;
    V.Sentence = Where.unseenAloneText() + "; " + advice(Where);
    V.Rule = "needs a run without the mistake";
    return V;
  }

private:
  virtual std::string what() const = 0;

  std::string advice(const Places &Where) const {
    return what() +
           " shows only beside a run without the mistake, as in "
           "'torch-confirm scenarios --check " +
           Where.Finding.Check + "'";
  }
};

class Value : public ByComparison {
public:
  std::string evidence() const override { return "value"; }

private:
  std::string what() const override { return "a wrong result"; }
};

class ParameterCount : public ByComparison {
public:
  std::string evidence() const override { return "parameters"; }

private:
  std::string what() const override { return "a missing parameter"; }
};

const RegisterRule<Value> RegisterValue;
const RegisterRule<ParameterCount> RegisterParameters;

} // namespace
} // namespace torchtidy::confirm
