// What a run says about one finding.
#ifndef TORCHTIDY_CONFIRM_RULES_VERDICT_H
#define TORCHTIDY_CONFIRM_RULES_VERDICT_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace torchtidy::confirm {

struct CallPath;

enum class Outcome { Confirmed, Refuted, NotReached, NotMeasurable };

/// "CONFIRMED"
std::string nameOf(Outcome Result);

/// By what a developer would mend first; amounts are compared within one kind.
enum class CostKind { None, Calls, Copies, Peak, Growth, WrongResult };

struct Verdict {
  Outcome Result = Outcome::NotMeasurable;
  /// What was measured, or why it was not: lower case, no full stop.
  std::string Sentence;
  /// The measure, where there is one, and its unit: "graph nodes per
  /// iteration".
  std::optional<double> Number;
  std::string Unit;
  /// How often the flagged place ran; 0 where that is not known.
  uint64_t Iterations = 0;
  /// The rule that decided: its name, and the part of it.
  std::string Rule;

  /// Where the number is the growth of the whole process per hit: the place
  /// whose hits they are, and what of it the place itself makes and keeps, in
  /// all its iterations. Other places may have measured the same growth.
  std::shared_ptr<const CallPath> Grows;
  double OwnNodes = 0;
  /// What grew in all; 0 where bytes are not known.
  double GrownBytes = 0;

  CostKind Cost = CostKind::None;
  double CostAmount = 0;
  /// "2.1 MiB kept in this run"
  std::string CostText;
};

inline Verdict verdict(Outcome Result, std::string Sentence) {
  Verdict V;
  V.Result = Result;
  V.Sentence = std::move(Sentence);
  return V;
}

/// CONFIRMED: so often something is wrong.
inline Verdict wrongResult(Verdict V, double Amount, std::string Sentence,
                           std::string CostText = "wrong results") {
  V.Result = Outcome::Confirmed;
  V.Sentence = std::move(Sentence);
  V.Cost = CostKind::WrongResult;
  V.CostAmount = Amount;
  V.CostText = std::move(CostText);
  return V;
}

// How numbers are written.
/// "8.2 KiB"
std::string bytesText(double Bytes);
/// "10,000"; "0.5"
std::string numberText(double Number);
/// "1 iteration", "10,000 iterations"
std::string countText(double Number, const std::string &Noun);

} // namespace torchtidy::confirm

#endif
