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
  case Verdict::LeftOut:
    return "left out";
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

std::string wordsOfValue(const Claim &C) {
  std::string Result;
  if (C.Differs)
    Result = *C.Differs ? "differs by " + formatNumber(*C.Differs) + " or more"
                        : "differs";
  for (const auto &[Name, Is] :
       {std::pair("wrong", C.WrongIs), std::pair("fixed", C.FixedIs)})
    if (Is)
      Result += (Result.empty() ? "" : ", ") + std::string(Name) + " is " +
                formatNumber(*Is);
  return Result;
}

/// What the claim asks for, in words.
std::string words(const Claim &C) {
  if (C.Same)
    return "the same";
  if (C.isOfValue())
    return wordsOfValue(C);
  std::string Result;
  if (C.Factor)
    Result = formatNumber(*C.Factor) + " times or more";
  if (C.More)
    Result +=
        (Result.empty() ? "" : ", ") + formatNumber(*C.More) + " more or more";
  return Result;
}

bool separatesValues(const Claim &C, double Wrong, double Fixed) {
  // What is no number differs from any by as much as one likes.
  const bool IsOneNoNumber = std::isnan(Wrong) != std::isnan(Fixed);
  if (C.Differs && (isNear(Wrong, Fixed) ||
                    (!IsOneNoNumber && std::abs(Wrong - Fixed) < *C.Differs)))
    return false;
  return (!C.WrongIs || isNear(Wrong, *C.WrongIs)) &&
         (!C.FixedIs || isNear(Fixed, *C.FixedIs));
}

/// What a second run gave, if it was another number: "3, and 4 in a second run
/// of wrong.cpp".
std::string unsteady(const Claim &C, const Runs &R) {
  if (!C.isOfValue())
    return "";
  const auto Differ = [&](const Ran &First,
                          const std::optional<Numbers> &Second,
                          const char *Name) -> std::string {
    const auto A = find(First.Values, C.What);
    const auto B = Second ? find(*Second, C.What) : std::nullopt;
    if (!A || !B || A->Value == B->Value ||
        (std::isnan(A->Value) && std::isnan(B->Value)))
      return "";
    return std::string("is not the same in each run of ") + Name + ": " +
           formatNumber(A->Value) + " and " + formatNumber(B->Value);
  };
  const std::string Wrong = Differ(R.Wrong, R.WrongAgain, "wrong.cpp");
  return Wrong.empty() ? Differ(R.Fixed, R.FixedAgain, "fixed.cpp") : Wrong;
}

bool separates(const Claim &C, double Wrong, double Fixed) {
  if (C.Same)
    return isNear(Wrong, Fixed);
  if (C.isOfValue())
    return separatesValues(C, Wrong, Fixed);
  if (C.Factor && !(Wrong > Fixed && Wrong >= *C.Factor * Fixed))
    return false;
  return !C.More || Wrong - Fixed >= *C.More;
}

Comparison compareOne(const Claim &C, int Size, const Runs &R) {
  Comparison Result;
  Result.What = C.What;
  Result.Size = Size;
  Result.Wrong = find(R.Wrong.Values, C.What);
  Result.Fixed = find(R.Fixed.Values, C.What);
  if (R.Fixit)
    Result.Fixit = find(R.Fixit->Values, C.What);
  Result.Why = words(C);
  if (!C.isAsserted())
    return Result;

  Result.Says = Verdict::Failed;
  if (!Result.Wrong || !Result.Fixed || (R.Fixit && !Result.Fixit)) {
    Result.Why = "not measured";
  } else if (const std::string Why = unsteady(C, R); !Why.empty()) {
    Result.Why = Why;
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

bool isMeant(const Claim &C, const Event &E) {
  return E.Measure == C.What.Measure && (C.Type.empty() || E.Type == C.Type) &&
         E.Words.find(C.Words) != std::string::npos;
}

double countOf(const Claim &C, const Ran &R) {
  double Result = 0;
  for (const Event &E : R.Events)
    // A fixed program has no report of any kind.
    if (isMeant(C, E) ||
        (C.What.Measure == SanitizerReports && E.Measure == SanitizerReports))
      Result += static_cast<double>(E.Count);
  return Result;
}

std::string listed(const std::set<unsigned> &Lines) {
  std::string Result;
  for (unsigned Line : Lines)
    Result += (Result.empty() ? "" : ", ") + std::to_string(Line);
  return Result;
}

/// What is wrong with where the events of wrong.cpp are; empty where nothing
/// is.
std::string misplaced(const Claim &C, const Ran &Wrong) {
  for (const Attribution &At : C.At) {
    std::set<unsigned> Missing = At.Lines;
    for (const Event &E : Wrong.Events) {
      if (!isMeant(C, E) || !E.Count)
        continue;
      const auto It = E.Lines.find(At.Stack);
      const std::set<unsigned> Lines =
          It == E.Lines.end() ? std::set<unsigned>() : It->second;
      bool IsMarked = false;
      for (unsigned Line : Lines)
        if (At.Lines.count(Line)) {
          Missing.erase(Line);
          IsMarked = true;
        }
      if (!IsMarked)
        return E.Type + (E.Words.empty() ? "" : " (" + E.Words + ")") +
               (Lines.empty() ? ": no line of wrong.cpp is in its stack"
                              : " at wrong.cpp:" + listed(Lines) +
                                    ", which is not marked") +
               (At.Stack == AnyStack ? "" : " (" + At.Stack + "=)");
    }
    if (!Missing.empty())
      return "none at wrong.cpp:" + listed(Missing) +
             (At.Stack == AnyStack ? "" : " (" + At.Stack + "=)");
  }
  return "";
}

/// Of exceptions and reports at marked lines.
Comparison compareEvents(const Claim &C, int Size, const Runs &R) {
  Comparison Result;
  Result.What = C.What;
  Result.What.Measure += C.Type.empty() ? "" : " (" + C.Type + ")";
  Result.Size = Size;
  double Wrong = 0;
  for (const Event &E : R.Wrong.Events)
    Wrong += isMeant(C, E) ? static_cast<double>(E.Count) : 0;
  Result.Wrong = Wrong;
  Result.Fixed = countOf(C, R.Fixed);
  if (R.Fixit)
    Result.Fixit = countOf(C, *R.Fixit);
  Result.Says = Verdict::Failed;
  Result.Why = misplaced(C, R.Wrong);
  if (Result.Why.empty() && Result.Fixed->Value != 0)
    Result.Why = "fixed.cpp has some too";
  else if (Result.Why.empty() && R.Fixit && C.IsFixed &&
           Result.Fixit->Value != 0)
    Result.Why = "with the analyzer's fixes there still are some";
  if (Result.Why.empty()) {
    Result.Why = "at each marked line, none in fixed";
    Result.Says = Verdict::Holds;
  }
  return Result;
}

Comparison compareSanitized(const Claim &C, int Size, const Sanitized &All) {
  if (All.Is == Sanitized::State::Ran)
    return compareEvents(C, Size, All.What);
  Comparison Result;
  Result.What = C.What;
  Result.Size = Size;
  Result.Why = All.Why;
  Result.Says =
      All.Is == Sanitized::State::Missing ? Verdict::Failed : Verdict::LeftOut;
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
                const std::map<int, Runs> &BySize, const Sanitized &Sanitizer) {
  Outcome Result;
  for (const Claim &C : Claims) {
    if (!C.Device.empty() && C.Device != Device)
      continue;
    std::vector<Comparison> Rows;
    for (const auto &[Size, R] : BySize) {
      if (C.What.Measure != SanitizerReports)
        Rows.push_back(C.At.empty() ? compareOne(C, Size, R)
                                    : compareEvents(C, Size, R));
      else if (Rows.empty())
        Rows.push_back(compareSanitized(C, Size, Sanitizer));
    }
    if (C.Growth && Rows.size() > 1)
      Result.Growths.push_back(growthOf(C, Rows));
    Result.Rows.insert(Result.Rows.end(), Rows.begin(), Rows.end());
  }
  return Result;
}

} // namespace torchtidy::confirm::scenarios
