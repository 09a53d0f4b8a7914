#include "Pages.h"
#include "Registry.h"
#include "report/Sarif.h"
#include "run/Nolints.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace torchtidy::tool {

json::Object sarifText(StringRef Words) {
  return json::Object{{"text", json::fixUTF8(Words)}};
}

/// "TorchMissingZeroGrad", as SARIF wants the names of rules.
static std::string pascalCase(StringRef Check) {
  std::string Result;
  bool IsFirst = true;
  for (const char C : Check) {
    if (isAlnum(C))
      Result += IsFirst ? toUpper(C) : C;
    IsFirst = !isAlnum(C);
  }
  return Result;
}

json::Object sarifRule(StringRef Check, StringRef Executable) {
  json::Object Rule{{"id", Check}, {"name", pascalCase(Check)}};
  const CheckInfo *Info = findCheck(Check);
  if (Check == UnusedNolint) {
    Rule["shortDescription"] = sarifText(
        "a NOLINT comment names a torch check that reports nothing there");
    return Rule;
  }
  if (!Info) {
    if (Check != "clang-diagnostic-error")
      Rule["helpUri"] = stockPage(Check);
    return Rule;
  }
  // precision and problem.severity are what GitHub sorts by: of level 0 nearly
  // all findings in code that was not seen before were right
  // (docs/evidence/unseen.md).
  constexpr llvm::StringLiteral Severities[] = {"error", "warning",
                                                "recommendation"};
  Rule["properties"] =
      json::Object{{"level", Info->Level},
                   {"evidence", Info->Evidence},
                   {"precision", Info->Level ? "medium" : "high"},
                   {"problem.severity", Severities[Info->Level]},
                   {"tags", json::Array{"libtorch", Info->Folder}}};
  Rule["defaultConfiguration"] =
      json::Object{{"level", sarifLevel(Info->Level)}};
  ErrorOr<std::unique_ptr<MemoryBuffer>> Page = readPage(Check, Executable);
  if (!Page)
    return Rule;
  const StringRef Words = (*Page)->getBuffer();
  // Below the title: the sentences that say what is found.
  std::string Whole = Words.split("\n\n").second.split("\n\n").first.str();
  std::replace(Whole.begin(), Whole.end(), '\n', ' ');
  const PageSummary Summary = summaryOf(Words);
  Rule["shortDescription"] = sarifText(Summary.Finds);
  Rule["fullDescription"] = sarifText(Whole);
  // The page once: viewers that show text only are told where it is.
  Rule["help"] =
      json::Object{{"text", json::fixUTF8(Whole + " Harm: " + Summary.Harm +
                                          ". 'torch-tidy --explain " +
                                          Check.str() + "' prints the page.")},
                   {"markdown", json::fixUTF8(Words)}};
  return Rule;
}

} // namespace torchtidy::tool
