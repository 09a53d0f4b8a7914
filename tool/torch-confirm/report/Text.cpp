#include "report/Report.h"
#include <filesystem>
#include <map>

namespace fs = std::filesystem;

namespace torchtidy::confirm {
namespace {

/// As one would type it from here.
std::string shortPath(const std::string &File) {
  std::error_code Error;
  const fs::path Here = fs::current_path(Error);
  const std::string Prefix = Here.string() + "/";
  return !Error && File.rfind(Prefix, 0) == 0 ? File.substr(Prefix.size())
                                              : File;
}

std::string placeOf(const DiagnosedFinding &Finding) {
  std::string Result =
      shortPath(Finding.Statement.File) + ":" + std::to_string(Finding.Line);
  if (Finding.Column)
    Result += ":" + std::to_string(Finding.Column);
  return Result;
}

std::string headOf(const Recording &Run) {
  std::string Result = "torch-confirm: ";
  Result += Run.Command.empty() ? "the program" : shortPath(Run.Command[0]);
  if (Run.TimedOut)
    Result += " did not end in time (--timeout) and was ended";
  else if (Run.Signal)
    Result += " ended by signal " + std::to_string(*Run.Signal);
  else if (Run.ExitCode && *Run.ExitCode)
    Result += " ended with " + std::to_string(*Run.ExitCode);
  else
    Result += " ran";
  Result += ", " + numberText(double(int64_t(Run.Seconds * 10)) / 10) + " s";
  if (!Run.LibTorch.empty())
    Result += ", LibTorch " + Run.LibTorch;
  Result += ", ";
  Result += Run.CudaDevice.empty() ? "no CUDA device" : Run.CudaDevice;
  if (Run.TimedOut)
    Result += "\nThe verdicts are about what it did until then.";
  return Result + "\n";
}

} // namespace

std::string asText(const Report &What) {
  std::string Result = headOf(What.Run) + "\n";
  std::map<Outcome, size_t> Number;
  for (const auto &[Finding, V, Operations] : What.Judged) {
    ++Number[V.Result];
    Result += nameOf(V.Result) + "  " + placeOf(Finding) + "  [" +
              Finding.Check + "]\n";
    Result += "    " + V.Sentence + "\n";
    // There is nothing to look at yet, and there may be many: those of the
    // other programs of a project.
    if (V.Result == Outcome::NotReached)
      continue;
    Result += "    finding: " + Finding.Message + "\n";
    for (const SeenOperation &Each : Operations)
      Result += "    ran: " + Each.Name + ", " +
                countText(double(Each.Hits), "time") + ", " + Each.Shapes +
                "\n";
    if (!V.Rule.empty())
      Result += "    rule: " + V.Rule + "\n";
    if (!V.CostText.empty())
      Result += "    cost: " + V.CostText + "\n";
    Result += "\n";
  }
  if (Number[Outcome::NotReached])
    Result += "\n";
  Result += countText(double(What.Judged.size()), "finding") + ": " +
            std::to_string(Number[Outcome::Confirmed]) + " confirmed, " +
            std::to_string(Number[Outcome::Refuted]) + " refuted, " +
            std::to_string(Number[Outcome::NotReached]) + " not reached, " +
            std::to_string(Number[Outcome::NotMeasurable]) +
            " not measurable here";
  if (What.Input.Others)
    Result += "; " +
              countText(double(What.Input.Others), "finding of another tool") +
              " left out";
  return Result + "\n";
}

} // namespace torchtidy::confirm
