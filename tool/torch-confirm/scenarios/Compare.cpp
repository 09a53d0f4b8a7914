#include "scenarios/Compare.h"
#include "scenarios/Format.h"
#include <algorithm>
#include <cmath>

namespace torchtidy::confirm::scenarios {

const char *name(Verdict V) {
  switch (V) {
  case Verdict::Holds:
    return "holds";
  case Verdict::Failed:
    return "FAILED";
  case Verdict::Reported:
    break;
  }
  return "reported";
}

std::optional<double> Comparison::ratio() const {
  if (!Wrong || !Fixed || Fixed->Value == 0)
    return std::nullopt;
  return Wrong->Value / Fixed->Value;
}

bool Outcome::holds() const {
  const auto Fails = [](const auto &Each) {
    return Each.Says == Verdict::Failed;
  };
  return std::none_of(Rows.begin(), Rows.end(), Fails) &&
         std::none_of(Growths.begin(), Growths.end(), Fails);
}

namespace {

std::optional<Number> find(const Numbers &All, const Quantity &What) {
  const auto It = All.find(What);
  if (It == All.end())
    return std::nullopt;
  return It->second;
}

/// What the claim asks for, in words.
std::string words(const Claim &C) {
  if (C.Same)
    return "the same";
  std::string Result;
  if (C.Factor)
    Result = formatNumber(*C.Factor) + " times or more";
  if (C.More)
    Result +=
        (Result.empty() ? "" : ", ") + formatNumber(*C.More) + " more or more";
  return Result;
}

bool separates(const Claim &C, double Wrong, double Fixed) {
  if (C.Same)
    return isNear(Wrong, Fixed);
  if (C.Factor && !(Wrong > Fixed && Wrong >= *C.Factor * Fixed))
    return false;
  return !C.More || Wrong - Fixed >= *C.More;
}

Comparison compareOne(const Claim &C, int Size, const Runs &R) {
  Comparison Result;
  Result.What = C.What;
  Result.Size = Size;
  Result.Wrong = find(R.Wrong, C.What);
  Result.Fixed = find(R.Fixed, C.What);
  if (R.Fixit)
    Result.Fixit = find(*R.Fixit, C.What);
  Result.Why = words(C);
  if (!C.isAsserted())
    return Result;

  Result.Says = Verdict::Failed;
  if (!Result.Wrong || !Result.Fixed || (R.Fixit && !Result.Fixit)) {
    Result.Why = "not measured";
  } else if (separates(C, Result.Wrong->Value, Result.Fixed->Value)) {
    // Where the fix and fixed.cpp do the same at different places, sums may
    // differ in their last digits.
    if (Result.Fixit && C.IsFixed &&
        !isNear(Result.Fixit->Value, Result.Fixed->Value))
      Result.Why = "with the analyzer's fixes it is not as in fixed.cpp";
    else
      Result.Says = Verdict::Holds;
  }
  return Result;
}

Growth growthOf(const Claim &C, const std::vector<Comparison> &Rows) {
  const Comparison &Small = Rows.front(), &Large = Rows.back();
  Growth Result;
  Result.What = C.What;
  Result.From = Small.Size;
  Result.To = Large.Size;
  Result.Expected =
      std::pow(static_cast<double>(Large.Size) / Small.Size, *C.Growth);
  Result.Says = Verdict::Failed;
  if (!Small.Wrong || !Small.Fixed || !Large.Wrong || !Large.Fixed)
    return Result;
  const double Before = Small.Wrong->Value - Small.Fixed->Value;
  if (Before == 0)
    return Result;
  Result.Times = (Large.Wrong->Value - Large.Fixed->Value) / Before;
  // The first iterations may not count: 199 steps of 200, 399 of 400.
  if (std::abs(*Result.Times / Result.Expected - 1) <= 0.1)
    Result.Says = Verdict::Holds;
  return Result;
}

} // namespace

Outcome compare(const std::vector<Claim> &Claims, const std::string &Device,
                const std::map<int, Runs> &BySize) {
  Outcome Result;
  for (const Claim &C : Claims) {
    if (!C.Device.empty() && C.Device != Device)
      continue;
    std::vector<Comparison> Rows;
    for (const auto &[Size, R] : BySize)
      Rows.push_back(compareOne(C, Size, R));
    if (C.Growth && Rows.size() > 1)
      Result.Growths.push_back(growthOf(C, Rows));
    Result.Rows.insert(Result.Rows.end(), Rows.begin(), Rows.end());
  }
  return Result;
}

} // namespace torchtidy::confirm::scenarios
