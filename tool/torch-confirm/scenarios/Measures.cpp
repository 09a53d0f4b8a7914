#include "scenarios/Measures.h"
#include "scenarios/Events.h"
#include <algorithm>
#include <cmath>
#include <functional>

namespace torchtidy::confirm::scenarios {

const char *const AnyMeasure = "<name>";

bool isLoopMeasure(const std::string &Name) {
  static const std::vector<std::string> Names = {
      "nodes-per-iteration", "bytes-per-iteration", "nodes-kept",
      "bytes-kept",          "peak-bytes",          "new-nodes",
      "allocations",         "allocated-bytes",     "copies",
      "copied-bytes",        "synchronisations",    "milliseconds"};
  return std::find(Names.begin(), Names.end(), Name) != Names.end();
}

bool isResult(const std::string &Name) {
  return !isLoopMeasure(Name) && !isEvent(Name) && Name != "uncleared-steps";
}

bool isTime(const std::string &Name) { return Name == "milliseconds"; }

std::vector<std::string> measuresOf(const std::string &Evidence) {
  static const std::map<std::string, std::vector<std::string>> Kinds = {
      {"graph-nodes-per-iteration", {"nodes-per-iteration"}},
      {"live-bytes-per-iteration", {"bytes-per-iteration"}},
      {"peak-bytes", {"peak-bytes"}},
      {"allocations-per-iteration", {"allocations"}},
      {"copies-per-iteration", {"copies"}},
      {"copied-bytes-per-iteration", {"copied-bytes"}},
      {"synchronisations-per-iteration", {"synchronisations"}},
      {"pageable-copies-per-iteration", {"synchronisations"}},
      {"element-operations", {"synchronisations"}},
      {"growing-copies", {"allocated-bytes"}},
      {"layout-copies", {"allocated-bytes"}},
      {"needless-backward", {"allocated-bytes", "allocations", "peak-bytes"}},
      {"gradient-accumulation", {"uncleared-steps"}},
      {"exception", {Exceptions}},
      {"sanitizer", {SanitizerReports}},
      {"parameters", {"parameters", "parameter-elements"}},
      {"value", {AnyMeasure}},
  };
  const auto It = Kinds.find(Evidence);
  return It == Kinds.end() ? std::vector<std::string>() : It->second;
}

namespace {

using Reader = std::function<double(const Sample &)>;

/// Per iteration, from the middle of the series on.
double rate(const std::vector<Sample> &Series, const Reader &Read) {
  // Of a long run not every iteration was kept, so the middle is looked for.
  const uint64_t Middle = (Series.front().Hit + Series.back().Hit) / 2;
  const auto From =
      std::find_if(Series.begin(), Series.end(),
                   [&](const Sample &S) { return S.Hit >= Middle; });
  const Sample &To = Series.back();
  if (From->Hit == To.Hit)
    return 0;
  return (Read(To) - Read(*From)) / static_cast<double>(To.Hit - From->Hit);
}

void measureValues(const std::string &Loop, const Site &Mark, Numbers &Result) {
  for (const auto &[Name, Number] : Mark.Values)
    Result.insert_or_assign({Loop, Name}, Number);
}

void measureLoop(const std::string &Loop, const Site &Mark, const Recording &R,
                 bool OnCuda, Numbers &Result) {
  const auto Put = [&](const char *Needs, const char *Measure, double Number) {
    if (R.has(Needs))
      Result.insert_or_assign({Loop, Measure}, Number);
  };
  const char *Memory = OnCuda ? "cuda-memory" : "cpu-memory";
  measureValues(Loop, Mark, Result);
  Put(Memory, "peak-bytes", static_cast<double>(Mark.PeakBytes));
  const std::vector<Sample> &Series = Mark.Series;
  if (Series.empty())
    return;

  const Reader Nodes = [](const Sample &S) -> double { return S.Nodes; };
  const Reader Bytes = [OnCuda](const Sample &S) -> double {
    return OnCuda ? S.CudaBytes : S.CpuBytes;
  };
  Put("graph-nodes", "nodes-per-iteration", rate(Series, Nodes));
  Put("graph-nodes", "nodes-kept",
      Nodes(Series.back()) - Nodes(Series.front()));
  Put("graph-nodes", "new-nodes",
      rate(Series, [](const Sample &S) -> double { return S.NodesMade; }));
  Put(Memory, "bytes-per-iteration", rate(Series, Bytes));
  Put(Memory, "bytes-kept", Bytes(Series.back()) - Bytes(Series.front()));
  Put(Memory, "allocations",
      rate(Series, [](const Sample &S) -> double { return S.Allocations; }));
  Put(Memory, "allocated-bytes",
      rate(Series, [](const Sample &S) -> double { return S.AllocatedBytes; }));
  Put("copies", "copies",
      rate(Series, [](const Sample &S) -> double { return S.Copies; }));
  Put("copies", "copied-bytes",
      rate(Series, [](const Sample &S) -> double { return S.CopiedBytes; }));
  Put("synchronisations", "synchronisations",
      rate(Series,
           [](const Sample &S) -> double { return S.Synchronisations; }));
}

} // namespace

Numbers measure(const Recording &R, bool OnCuda) {
  static const std::string Prefix = "mark:";
  Numbers Result;
  double Uncleared = 0, Thrown = 0;
  for (const Site &S : R.Sites) {
    Uncleared += static_cast<double>(S.UnclearedSteps);
    Thrown += static_cast<double>(S.Exceptions);
    if (S.Operation.compare(0, Prefix.size(), Prefix) != 0)
      continue;
    const std::string Loop = S.Operation.substr(Prefix.size());
    // What is reported outside of all loops.
    if (Loop.empty())
      measureValues("process", S, Result);
    else
      measureLoop(Loop, S, R, OnCuda, Result);
  }
  if (R.has("gradients"))
    Result.insert_or_assign({"process", "uncleared-steps"}, Uncleared);
  if (R.has("exceptions"))
    Result.insert_or_assign({"process", Exceptions}, Thrown);
  return Result;
}

bool isNear(double A, double B) {
  if (std::isnan(A) || std::isnan(B))
    return std::isnan(A) && std::isnan(B);
  return std::abs(A - B) <= 1e-3 * std::max(std::abs(A), std::abs(B));
}

} // namespace torchtidy::confirm::scenarios
