#include "export/Sarif.h"
#include "rules/Verdict.h"
#include "support/Fingerprint.h"
#include "support/Paths.h"
#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace torchtidy::confirm {
namespace {

constexpr const char *Base = "SRCROOT";

struct RuleText {
  const char *Id, *Level, *Summary, *Begin;
};

/// In the order of CauseKind.
constexpr RuleText Rules[] = {
    {"torch-confirm/kept-graphs", "warning",
     "Autograd graphs are kept from one iteration to the next.",
     "graphs are kept"},
    {"torch-confirm/kept-tensors", "warning",
     "Tensors without a graph are kept from one iteration to the next.",
     "tensors are kept"},
    {"torch-confirm/peak", "note",
     "Most of the memory at the peak is of this line.",
     "this makes the peak of memory"},
    {"torch-confirm/recorded-evaluation", "warning",
     "An autograd graph is recorded in an evaluation.",
     "a graph is recorded in an evaluation"},
};

const RuleText &ruleOf(const Cause &Of) { return Rules[size_t(Of.Kind)]; }

ordered_json text(const std::string &Words) { return {{"text", Words}}; }

std::string uriOf(const std::string &Path) {
  std::string Result;
  for (const char C : Path) {
    const auto Byte = static_cast<unsigned char>(C);
    if (std::isalnum(Byte) ||
        std::string("/-._~").find(C) != std::string::npos) {
      Result += C;
      continue;
    }
    const char *const Digits = "0123456789ABCDEF";
    Result += {'%', Digits[Byte >> 4], Digits[Byte & 15]};
  }
  return Result;
}

class GrowthLog {
public:
  GrowthLog(const Recording &Run, const Profile &What)
      : Run(Run), What(What), Root(fs::current_path()) {}

  ordered_json log() {
    ordered_json Results = ordered_json::array();
    for (const Cause &Each : What.Causes)
      Results.push_back(result(Each));
    ordered_json Driver = {{"name", "torch-confirm"}, {"version", version()}};
    Driver["rules"] = ordered_json::array();
    for (const RuleText &Each : Rules)
      Driver["rules"].push_back(
          {{"id", Each.Id},
           {"shortDescription", text(Each.Summary)},
           {"defaultConfiguration", {{"level", Each.Level}}}});
    const ordered_json TheRun = {
        {"tool", {{"driver", std::move(Driver)}}},
        {"columnKind", "unicodeCodePoints"},
        {"originalUriBaseIds",
         {{Base, {{"uri", "file://" + uriOf(Root.string()) + "/"}}}}},
        {"invocations", ordered_json::array({invocation()})},
        {"results", std::move(Results)}};
    return {{"$schema",
             "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/"
             "schemas/sarif-schema-2.1.0.json"},
            {"version", "2.1.0"},
            {"runs", ordered_json::array({TheRun})}};
  }

private:
  ordered_json artifact(const std::string &File) const {
    const fs::path Path = fs::path(File).lexically_normal();
    const fs::path Below =
        Path.is_absolute() ? Path.lexically_relative(Root) : Path;
    if (!Below.empty() && *Below.begin() != "..")
      return {{"uri", uriOf(Below.generic_string())}, {"uriBaseId", Base}};
    if (Path.is_absolute())
      return {{"uri", "file://" + uriOf(Path.generic_string())}};
    return {{"uri", uriOf(Path.generic_string())}};
  }

  ordered_json location(const SourceLine &At) const {
    ordered_json Place = {{"artifactLocation", artifact(At.File)}};
    // Lines count from 1; of some frames only the file is known.
    if (At.Line)
      Place["region"] = {{"startLine", At.Line}};
    ordered_json Result = {{"physicalLocation", std::move(Place)}};
    if (!At.Function.empty())
      Result["logicalLocations"] = ordered_json::array(
          {{{"fullyQualifiedName", At.Function}, {"kind", "function"}}});
    return Result;
  }

  /// What the result is about, wherever its line moves.
  std::string fingerprint(const Cause &Of) const {
    Fingerprint Result;
    Result.add(ruleOf(Of).Id)
        .add(fs::path(Of.Line.File).filename().string())
        .add(Of.Line.Function);
    if (!Of.Sites.empty() && Of.Sites.front() < Run.Sites.size())
      Result.add(Run.Sites[Of.Sites.front()].Operation);
    return Result.text();
  }

  std::string message(const Cause &Of) const {
    std::string Result = ruleOf(Of).Begin;
    if (Of.BytesPerUnit > 0 || Of.NodesPerUnit > 0) {
      Result += ": " + bytesText(Of.BytesPerUnit);
      if (Of.NodesPerUnit > 0)
        Result += " and " + countText(Of.NodesPerUnit, "graph node");
      Result += " more per " + What.Unit + ", " + bytesText(double(Of.Bytes)) +
                " at most";
    } else {
      Result += ": " + bytesText(double(Of.Bytes));
    }
    if (Of.Share > 0)
      Result += " (" + std::to_string(std::lround(Of.Share * 100)) + " % of " +
                (Of.Kind == CauseKind::Peak ||
                         Of.Kind == CauseKind::RecordedEvaluation
                     ? "the peak"
                     : "what grows") +
                ")";
    if (Of.PeakWithout > 0)
      Result += "; without it the run would need " +
                bytesText(double(Of.PeakWithout)) + " at most";
    if (!Of.Cure.empty())
      Result += "; " + Of.Cure;
    if (Result.back() != '.')
      Result += '.';
    if (!Of.Check.empty())
      Result += " [" + Of.Check + "]";
    return Result;
  }

  ordered_json result(const Cause &Of) const {
    const RuleText &Rule = ruleOf(Of);
    ordered_json Result = {{"ruleId", Rule.Id},
                           {"ruleIndex", size_t(Of.Kind)},
                           {"level", Rule.Level},
                           {"message", text(message(Of))}};
    if (!Of.Line.File.empty()) {
      Result["locations"] = ordered_json::array({location(Of.Line)});
      Result["partialFingerprints"] = {{"torchConfirm/v1", fingerprint(Of)}};
    }
    addStack(Of, Result);
    ordered_json Own = {{"bytes", Of.Bytes},
                        {"nodes", Of.Nodes},
                        {"bytesPerUnit", Of.BytesPerUnit},
                        {"nodesPerUnit", Of.NodesPerUnit},
                        {"unit", What.Unit},
                        {"share", Of.Share},
                        {"peakWithout", Of.PeakWithout}};
    if (!Of.Check.empty())
      Own["check"] = Of.Check;
    Result["properties"] = {{"torchConfirm", std::move(Own)}};
    return Result;
  }

  /// Once as a stack and once as related locations: services show these.
  void addStack(const Cause &Of, ordered_json &Result) const {
    ordered_json Frames = ordered_json::array(),
                 Related = ordered_json::array();
    for (const SourceLine &Each : Of.Stack) {
      if (Each.File.empty())
        continue;
      ordered_json At = location(Each);
      Frames.push_back({{"location", At}});
      if (Each.File == Of.Line.File && Each.Line == Of.Line.Line)
        continue;
      At["id"] = Related.size() + 1;
      At["message"] = text(Each.Function.empty() ? "on the call chain"
                                                 : "in " + Each.Function);
      Related.push_back(std::move(At));
    }
    if (!Related.empty())
      Result["relatedLocations"] = std::move(Related);
    if (!Frames.empty())
      Result["stacks"] =
          ordered_json::array({{{"message", text("where the memory is taken")},
                                {"frames", std::move(Frames)}}});
  }

  ordered_json invocation() const {
    ordered_json Result = {
        {"executionSuccessful",
         !Run.Signal && !Run.TimedOut && Run.ExitCode.value_or(0) == 0}};
    if (!Run.Command.empty())
      Result["arguments"] = Run.Command;
    if (Run.ExitCode)
      Result["exitCode"] = *Run.ExitCode;
    if (Run.Signal)
      Result["exitSignalNumber"] = *Run.Signal;
    if (!What.Headline.empty())
      Result["toolExecutionNotifications"] = ordered_json::array(
          {{{"level", "note"}, {"message", text(What.Headline)}}});
    return Result;
  }

  const Recording &Run;
  const Profile &What;
  const fs::path Root;
};

} // namespace

std::string growthSarif(const Recording &Run, const Profile &What) {
  return GrowthLog(Run, What).log().dump(
             2, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}

} // namespace torchtidy::confirm
