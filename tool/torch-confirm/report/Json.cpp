#include "report/Json.h"
#include "report/Report.h"
#include <map>

using nlohmann::ordered_json;

namespace torchtidy::confirm {

ordered_json toJson(const Verdict &V) {
  ordered_json Result = {{"verdict", nameOf(V.Result)},
                         {"sentence", V.Sentence}};
  if (V.Number) {
    Result["number"] = *V.Number;
    Result["unit"] = V.Unit;
  }
  if (V.Iterations)
    Result["iterations"] = V.Iterations;
  if (!V.Rule.empty())
    Result["rule"] = V.Rule;
  if (!V.CostText.empty())
    Result["cost"] = V.CostText;
  return Result;
}

ordered_json programJson(const Recording &Run) {
  ordered_json Result = {{"command", Run.Command}};
  if (Run.ExitCode)
    Result["exitCode"] = *Run.ExitCode;
  if (Run.Signal)
    Result["signal"] = *Run.Signal;
  if (Run.TimedOut)
    Result["timedOut"] = true;
  Result["seconds"] = Run.Seconds;
  Result["libtorch"] = Run.LibTorch;
  Result["cudaDevice"] = Run.CudaDevice;
  return Result;
}

std::string asJson(const Report &What) {
  std::map<std::string, size_t> Summary;
  for (Outcome Each : {Outcome::Confirmed, Outcome::Refuted,
                       Outcome::NotReached, Outcome::NotMeasurable})
    Summary[nameOf(Each)] = 0;
  ordered_json Findings = ordered_json::array();
  for (const auto &[Finding, V, Operations, Tried] : What.Judged) {
    ++Summary[nameOf(V.Result)];
    ordered_json Each = {{"check", Finding.Check},
                         {"file", Finding.Statement.File},
                         {"line", Finding.Line},
                         {"column", Finding.Column},
                         {"message", Finding.Message}};
    Each.update(toJson(V));
    for (const SeenOperation &Seen : Operations)
      Each["operations"].push_back(
          {{"name", Seen.Name}, {"hits", Seen.Hits}, {"shapes", Seen.Shapes}});
    if (Tried)
      Each["experiment"] = {{"action", Tried->Action},
                            {"without", Tried->Before},
                            {"with", Tried->After},
                            {"sentence", Tried->Sentence},
                            {"isProof", Tried->IsProof}};
    Findings.push_back(std::move(Each));
  }
  const ordered_json Result = {{"format", "torch-confirm verdicts"},
                               {"version", 1},
                               {"program", programJson(What.Run)},
                               {"summary", Summary},
                               {"findings", std::move(Findings)}};
  return Result.dump(1, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}

} // namespace torchtidy::confirm
