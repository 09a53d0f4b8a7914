#include "export/DiffRows.h"
#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

using nlohmann::json;

namespace torchtidy::confirm {
namespace {

/// What stays of a line when the file around it changes. Folders do not count:
/// the two may be built in different ones.
using LineKey = std::tuple<std::string, std::string, std::string>;

LineKey keyOf(const DiffRow &Of) {
  const json &Line = Of.Value->at("line");
  const std::filesystem::path File = Line.value("file", "");
  return {File.filename().string(), Line.value("function", ""), Of.Operation};
}

/// The operation that a row is about, or that of the site with most of it.
std::string operationOf(const json &Report, const json &Row) {
  if (Row.contains("operation"))
    return Row.at("operation");
  const json Sites = Row.value("sites", json::array());
  if (Sites.empty())
    return "";
  return Report.at("sites").at(Sites.at(0).get<size_t>()).at("operation");
}

/// Of one key there may be several: those at the same line are the same, and
/// the others are as they come.
void pairUp(std::vector<DiffRow> Before, std::vector<DiffRow> After,
            std::vector<DiffPair> &Into) {
  const bool SameCount = Before.size() == After.size();
  const auto InOrder = [](const DiffRow &A, const DiffRow &B) {
    return lineNumberOf(A) < lineNumberOf(B);
  };
  std::stable_sort(Before.begin(), Before.end(), InOrder);
  std::stable_sort(After.begin(), After.end(), InOrder);
  if (!SameCount)
    for (DiffRow &Each : Before) {
      const auto It =
          std::find_if(After.begin(), After.end(), [&](const DiffRow &Other) {
            return lineNumberOf(Other) == lineNumberOf(Each);
          });
      if (It == After.end())
        continue;
      Into.emplace_back(Each, *It);
      After.erase(It);
      Each.Value = nullptr;
    }
  Before.erase(std::remove_if(Before.begin(), Before.end(),
                              [](const DiffRow &Each) { return !Each.Value; }),
               Before.end());
  for (size_t I = 0; I < std::max(Before.size(), After.size()); ++I)
    Into.emplace_back(I < Before.size() ? Before[I] : DiffRow(),
                      I < After.size() ? After[I] : DiffRow());
}

} // namespace

unsigned lineNumberOf(const DiffRow &Of) {
  return Of.Value->at("line").value("line", 0u);
}

std::vector<DiffRow> rowsOf(const json &Report, const json &Values) {
  std::vector<DiffRow> Result;
  for (const json &Each : Values)
    Result.push_back({&Each, operationOf(Report, Each)});
  return Result;
}

std::vector<DiffPair> matched(const std::vector<DiffRow> &Before,
                              const std::vector<DiffRow> &After) {
  std::map<LineKey, std::pair<std::vector<DiffRow>, std::vector<DiffRow>>>
      ByKey;
  for (const DiffRow &Each : Before)
    ByKey[keyOf(Each)].first.push_back(Each);
  for (const DiffRow &Each : After)
    ByKey[keyOf(Each)].second.push_back(Each);
  std::vector<DiffPair> Result;
  for (auto &[Key, Both] : ByKey)
    pairUp(std::move(Both.first), std::move(Both.second), Result);
  return Result;
}

} // namespace torchtidy::confirm
