#include "export/Diff.h"
#include "export/DiffRows.h"
#include <algorithm>
#include <cmath>
#include <map>

using nlohmann::json;
using nlohmann::ordered_json;

namespace torchtidy::confirm {
namespace {

/// An amount of either; absent where it is unknown.
ordered_json both(const json &Before, const json &After,
                  const json::json_pointer &At) {
  ordered_json Result = ordered_json::object();
  if (Before.contains(At))
    Result["before"] = Before.at(At);
  if (After.contains(At))
    Result["after"] = After.at(At);
  return Result;
}

double amountOf(const DiffRow &Of, const char *Name) {
  return Of.Value ? Of.Value->value(Name, 0.0) : 0.0;
}

/// The line as it is after, or as it was.
ordered_json placeOf(const DiffPair &Of) {
  const DiffRow &Shown = Of.second.Value ? Of.second : Of.first;
  ordered_json Result = {{"line", Shown.Value->at("line")}};
  if (Of.first.Value && Of.second.Value &&
      lineNumberOf(Of.first) != lineNumberOf(Of.second))
    Result["lineBefore"] = Of.first.Value->at("line");
  if (!Shown.Operation.empty())
    Result["operation"] = Shown.Operation;
  return Result;
}

/// Those that changed, by how much.
ordered_json changes(const std::vector<DiffPair> &Pairs, const char *Name) {
  std::vector<ordered_json> Result;
  for (const DiffPair &Each : Pairs) {
    const auto Amount = [&](const DiffRow &Of) {
      return Of.Value ? Of.Value->value(Name, json(0)) : json(0);
    };
    const json Before = Amount(Each.first), After = Amount(Each.second);
    if (Before == After)
      continue;
    ordered_json Row = placeOf(Each);
    Row["before"] = Before;
    Row["after"] = After;
    Result.push_back(std::move(Row));
  }
  const auto Size = [](const ordered_json &Of) {
    return std::abs(Of["after"].get<double>() - Of["before"].get<double>());
  };
  std::stable_sort(Result.begin(), Result.end(),
                   [&](const ordered_json &A, const ordered_json &B) {
                     return Size(A) > Size(B);
                   });
  return Result;
}

ordered_json amountsOf(const json &Cause) {
  ordered_json Result;
  for (const char *Name :
       {"bytes", "nodes", "bytesPerUnit", "nodesPerUnit", "share"})
    if (Cause.contains(Name))
      Result[Name] = Cause[Name];
  return Result;
}

/// A quantity of two runs is never quite the same.
bool isAlike(double Before, double After) {
  return std::abs(After - Before) <= 0.05 * std::max(Before, After);
}

const char *stateOf(const DiffPair &Of) {
  if (!Of.first.Value)
    return "new";
  if (!Of.second.Value)
    return "gone";
  const bool IsSame =
      isAlike(amountOf(Of.first, "bytesPerUnit"),
              amountOf(Of.second, "bytesPerUnit")) &&
      isAlike(amountOf(Of.first, "bytes"), amountOf(Of.second, "bytes"));
  return IsSame ? "same" : "changed";
}

ordered_json causes(const json &Before, const json &After) {
  const auto Rows = [](const json &Report) {
    std::vector<DiffRow> Result = rowsOf(Report, Report.at("causes"));
    // One line may be the cause of two things.
    for (DiffRow &Each : Result)
      Each.Operation += "\n" + Each.Value->at("kind").get<std::string>();
    return Result;
  };
  ordered_json Result = ordered_json::array();
  std::vector<DiffPair> Pairs = matched(Rows(Before), Rows(After));
  // What is new first, then what is there still; each by its weight.
  const auto Rank = [](const DiffPair &Of) {
    const std::string State = stateOf(Of);
    return std::make_pair(
        State == "new"       ? 0
        : State == "changed" ? 1
        : State == "gone"    ? 2
                             : 3,
        -std::max(amountOf(Of.first, "bytes"), amountOf(Of.second, "bytes")));
  };
  std::stable_sort(
      Pairs.begin(), Pairs.end(),
      [&](const DiffPair &A, const DiffPair &B) { return Rank(A) < Rank(B); });
  for (const DiffPair &Each : Pairs) {
    const DiffRow &Shown = Each.second.Value ? Each.second : Each.first;
    ordered_json Place = placeOf(Each);
    Place.erase("operation");
    ordered_json Cause = {{"state", stateOf(Each)},
                          {"kind", Shown.Value->at("kind")}};
    Cause.update(Place);
    if (Each.first.Value)
      Cause["before"] = amountsOf(*Each.first.Value);
    if (Each.second.Value)
      Cause["after"] = amountsOf(*Each.second.Value);
    for (const char *Name : {"check", "cure"})
      if (Shown.Value->contains(Name))
        Cause[Name] = Shown.Value->at(Name);
    Result.push_back(std::move(Cause));
  }
  return Result;
}

ordered_json linesAtPeak(const json &Before, const json &After,
                         const char *Device) {
  const auto Rows = [&](const json &Report) {
    const auto At = json::json_pointer("/peaks") / Device / "lines";
    return Report.contains(At) ? rowsOf(Report, Report.at(At))
                               : std::vector<DiffRow>();
  };
  return changes(matched(Rows(Before), Rows(After)), "bytes");
}

/// How long a typical iteration takes.
std::optional<double> typicalOf(const json &Report) {
  for (const json &Each : Report.at("iterations").at("rows"))
    if (Each.at("which") == "typical")
      return Each.at("end").get<double>() - Each.at("begin").get<double>();
  return std::nullopt;
}

ordered_json programOf(const json &Report) {
  return {{"headline", Report.at("headline")},
          {"command", Report.at("program").at("command")}};
}

} // namespace

ordered_json diffJson(const json &Before, const json &After) {
  const auto Pointer = [](const char *Text) {
    return json::json_pointer(Text);
  };
  ordered_json Result = {{"format", "torch-confirm diff"},
                         {"version", 1},
                         {"before", programOf(Before)},
                         {"after", programOf(After)}};
  Result["unit"] = After.at("growth").at("unit");
  for (const auto &[Name, At] : std::map<std::string, const char *>{
           {"peakCpu", "/totals/peakCpu"},
           {"peakCuda", "/totals/peakCuda"},
           {"peakReserved", "/totals/peakReserved"},
           {"peakResident", "/totals/peakResident"},
           {"bytesPerUnit", "/growth/bytesPerUnit"},
           {"nodesPerUnit", "/growth/nodesPerUnit"},
           {"trend", "/growth/trend"},
           {"seconds", "/program/seconds"}})
    if (ordered_json Amounts = both(Before, After, Pointer(At));
        !Amounts.empty())
      Result["totals"][Name] = std::move(Amounts);
  ordered_json Typical = ordered_json::object();
  if (const auto Seconds = typicalOf(Before))
    Typical["before"] = *Seconds;
  if (const auto Seconds = typicalOf(After))
    Typical["after"] = *Seconds;
  if (!Typical.empty())
    Result["totals"]["iterationSeconds"] = std::move(Typical);
  Result["causes"] = causes(Before, After);
  Result["linesAtPeak"] = {{"cpu", linesAtPeak(Before, After, "cpu")},
                           {"cuda", linesAtPeak(Before, After, "cuda")}};
  const auto Times = [&](const json &Report) {
    return rowsOf(Report, Report.at("times").at("rows"));
  };
  Result["times"] = changes(matched(Times(Before), Times(After)), "seconds");
  return Result;
}

std::optional<double> moreGrowthOf(const ordered_json &Diff) {
  const ordered_json &Totals = Diff.at("totals");
  if (!Totals.contains("bytesPerUnit") ||
      !Totals["bytesPerUnit"].contains("after"))
    return std::nullopt;
  const ordered_json &Growth = Totals["bytesPerUnit"];
  return Growth["after"].get<double>() - Growth.value("before", 0.0);
}

} // namespace torchtidy::confirm
