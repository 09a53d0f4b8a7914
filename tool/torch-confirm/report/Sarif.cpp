#include "report/Json.h"
#include "report/Report.h"
#include "support/Errors.h"

using nlohmann::ordered_json;

namespace torchtidy::confirm {
namespace {

/// Puts the new words behind a message, in place of those of an earlier run.
void append(ordered_json &Message, const char *Kind, const std::string &Old,
            const std::string &New) {
  auto It = Message.find(Kind);
  if (It == Message.end() || !It->is_string())
    return;
  std::string Text = It->get<std::string>();
  if (!Old.empty() && Text.size() >= Old.size() &&
      Text.compare(Text.size() - Old.size(), Old.size(), Old) == 0)
    Text.resize(Text.size() - Old.size());
  *It = Text + New;
}

/// How much a verdict says.
int weightOf(const std::string &Name) {
  if (Name == nameOf(Outcome::NotReached))
    return 1;
  if (Name == nameOf(Outcome::NotMeasurable))
    return 2;
  return Name.empty() ? 0 : 3;
}

} // namespace

std::string asSarif(const Report &What) {
  if (What.Input.SarifText.empty())
    throw UserError("verdicts can be written into SARIF only, and '" +
                    What.Input.Path + "' is none");
  // In the order of the file.
  ordered_json File = ordered_json::parse(What.Input.SarifText);
  for (const auto &[Finding, V, Operations, Tried] : What.Judged) {
    ordered_json &Result =
        File["runs"][Finding.SarifRun]["results"][Finding.SarifResult];
    ordered_json &Properties = Result["properties"];
    std::string Old;
    if (auto It = Properties.find("torchConfirm"); It != Properties.end()) {
      Old = It->value("appended", "");
      if (weightOf(nameOf(V.Result)) < weightOf(It->value("verdict", "")))
        continue;
    }
    const std::string New = " (" + nameOf(V.Result) + ": " + V.Sentence + ")";
    if (Result.contains("message")) {
      append(Result["message"], "text", Old, New);
      append(Result["message"], "markdown", Old, New);
    }
    ordered_json Own = toJson(V);
    Own["appended"] = New;
    Own["program"] = programJson(What.Run);
    Properties["torchConfirm"] = std::move(Own);
  }
  return File.dump(2, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}

} // namespace torchtidy::confirm
