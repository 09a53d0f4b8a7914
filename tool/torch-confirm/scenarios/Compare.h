// Compares what the programs of a scenario measure with what the scenario
// states.
#ifndef TORCHTIDY_CONFIRM_SCENARIOS_COMPARE_H
#define TORCHTIDY_CONFIRM_SCENARIOS_COMPARE_H

#include "scenarios/Events.h"
#include "scenarios/Measures.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace torchtidy::confirm::scenarios {

/// What a program came to.
struct Ran {
  Numbers Values;
  std::vector<Event> Events;
};

/// What the programs of a pair came to at one size; Fixit is wrong.cpp with the
/// analyzer's fixes.
struct Runs {
  Ran Wrong, Fixed;
  std::optional<Ran> Fixit;
  /// A second run of the two, where results are asserted.
  std::optional<Numbers> WrongAgain, FixedAgain;
};

/// Runs under the sanitizer, of one size.
struct Sanitized {
  enum class State { Ran, Missing, LeftOut };
  State Is = State::LeftOut;
  /// Why it is missing or left out.
  std::string Why;
  Runs What;
};

enum class Verdict { Holds, Failed, Reported, LeftOut };
const char *name(Verdict V);

/// One quantity at one size.
struct Comparison {
  Quantity What;
  int Size = 1;
  std::optional<Number> Wrong, Fixed, Fixit;
  Verdict Says = Verdict::Reported;
  /// What was asked for, in words; what is wrong where it failed.
  std::string Why;

  /// Times as much; none where fixed is 0.
  std::optional<double> ratio() const;
};

/// How much more of one quantity the largest size shows than the smallest, in
/// wrong less fixed.
struct Growth {
  Quantity What;
  int From = 1, To = 1;
  std::optional<double> Times;
  double Expected = 1;
  Verdict Says = Verdict::Reported;
};

struct Outcome {
  std::vector<Comparison> Rows;
  std::vector<Growth> Growths;

  bool holds() const;
};

Outcome compare(const std::vector<Claim> &Claims, const std::string &Device,
                const std::map<int, Runs> &BySize,
                const Sanitized &Sanitizer = {});

} // namespace torchtidy::confirm::scenarios

#endif
