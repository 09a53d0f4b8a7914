// One rule for each kind of evidence in checks/Checks.def. A rule is one file:
// it registers itself.
#ifndef TORCHTIDY_CONFIRM_RULES_RULE_H
#define TORCHTIDY_CONFIRM_RULES_RULE_H

#include "rules/Places.h"
#include "rules/Verdict.h"

namespace torchtidy::confirm {

/// Fewer iterations say nothing about what each of them does.
constexpr uint64_t FewestIterations = 5;
/// Nor fewer about what happens in the long run.
constexpr uint64_t FewestForTrend = 20;

class Rule {
public:
  virtual ~Rule() = default;
  /// As in Checks.def: "peak-bytes".
  virtual std::string evidence() const = 0;
  /// The quantities that have to be measured for it.
  virtual std::vector<std::string> needs() const = 0;
  /// The place was reached or may have been: Places says what was seen of it.
  virtual Verdict judge(const Places &Where) const = 0;
  /// Nothing was seen of it. Where nothing is said here, it was not reached;
  /// but lines of some kinds of findings run no operation that could be seen.
  virtual std::optional<Verdict> judgeUnseen(const Places & /*Where*/) const {
    return std::nullopt;
  }
  /// Whether it judges by stacks of operations.
  virtual bool needsStacks() const { return true; }
};

/// Null where there is none for it.
const Rule *findRule(const std::string &Evidence);
void registerRule(const Rule *Each);

template <typename T> struct RegisterRule {
  RegisterRule() {
    static const T Each;
    registerRule(&Each);
  }
};

} // namespace torchtidy::confirm

#endif
