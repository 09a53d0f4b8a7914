#include "fix/FixReport.h"
#include "report/Json.h"
#include "report/Report.h"
#include <map>

using nlohmann::ordered_json;

namespace torchtidy::confirm::fix {
namespace {

std::string padded(const std::string &Text, size_t Width,
                   bool IsRight = false) {
  // A sign of two bytes is one column.
  size_t Columns = 0;
  for (const char C : Text)
    Columns += (C & 0xC0) != 0x80;
  const std::string Blanks(Width > Columns ? Width - Columns : 0, ' ');
  return IsRight ? Blanks + Text : Text + Blanks;
}

std::string lineOf(const std::string &Name, const std::string &Before,
                   const std::string &After, const std::string &Change) {
  std::string Result = "  " + padded(Name, 38) + padded(Before, 14, true) +
                       padded(After, 14, true);
  if (!Change.empty())
    Result += padded(Change, 9, true);
  return Result + "\n";
}

std::string lines(size_t Count) { return countText(double(Count), "line"); }

std::string outputText(const Comparison &What) {
  std::string Result;
  if (!What.Output.isSame()) {
    Result = "  standard output differs in " + lines(What.Output.Count) + ":\n";
    for (const DifferentLine &Each : What.Output.First)
      Result += "    line " + std::to_string(Each.Number) + ": " + Each.Before +
                "\n         now: " + Each.After + "\n";
  } else {
    Result = "  standard output is the same, " +
             lines(What.Output.LinesBefore) + "\n";
  }
  if (What.Output.Ignored)
    Result += "  " + lines(What.Output.Ignored) +
              " of --ignore-lines were not compared\n";
  if (What.Unsteady)
    Result += "  " + lines(What.Unsteady) +
              " differ between two runs of the fixed program as well, and were "
              "not compared\n";
  return Result;
}

std::string tableOf(const FixReport &What) {
  std::string Result = lineOf("", "as it is", "fixed", "");
  Result += lineOf("ends with", What.Together->EndBefore,
                   What.Together->EndAfter, "");
  for (const Row &Each : What.Totals)
    Result +=
        lineOf(Each.Name, textOf(Each, Each.Before), textOf(Each, Each.After),
               Each.IsSeconds ? "" : changeOf(Each));
  return Result + outputText(*What.Together);
}

std::string aloneText(const FixedFinding &Each, const Recording &Before) {
  std::string Result = "    alone: ";
  bool IsFirst = true;
  for (const Row &Total : compareTotals(Before, *Each.AloneRun, {}))
    if (!Total.IsSeconds &&
        textOf(Total, Total.Before) != textOf(Total, Total.After)) {
      Result += (IsFirst ? "" : ", ") + Total.Name + " " +
                textOf(Total, Total.Before) + " -> " +
                textOf(Total, Total.After);
      IsFirst = false;
    }
  Result += std::string(IsFirst ? "all totals are the same" : "") + "\n";
  for (const DifferentLine &Line : Each.Alone->Output.First)
    Result += "    line " + std::to_string(Line.Number) + ": " + Line.Before +
              "\n         now: " + Line.After + "\n";
  return Result;
}

std::string headOf(const FixReport &What) {
  std::string Result =
      "torch-confirm: " + shortPath(What.Before->Command[0]) +
      (What.Together ? ", as it is and with " + fixes(What.Applied) + " applied"
                     : ", as it is and with each fix alone");
  if (!What.Before->LibTorch.empty())
    Result += ", LibTorch " + What.Before->LibTorch;
  return Result + ", " +
         (What.Before->CudaDevice.empty() ? "no CUDA device"
                                          : What.Before->CudaDevice) +
         "\n";
}

std::string summaryOf(const FixReport &What) {
  std::map<FixOutcome, size_t> Number;
  for (const FixedFinding &Each : What.Findings)
    ++Number[Each.Result.Result];
  std::string Result =
      countText(double(What.Findings.size()), "finding") + " with a fix: ";
  bool IsFirst = true;
  for (const auto &[Which, Count] : Number) {
    std::string Name = nameOf(Which);
    for (char &C : Name)
      C = char(std::tolower(static_cast<unsigned char>(C)));
    Result += (IsFirst ? "" : ", ") + std::to_string(Count) + " " + Name;
    IsFirst = false;
  }
  if (What.WithoutFix)
    Result += "; " + std::to_string(What.WithoutFix) + " without a fix";
  return Result + "\n";
}

ordered_json comparisonJson(const Comparison &What) {
  ordered_json Lines = ordered_json::array();
  for (const DifferentLine &Each : What.Output.First)
    Lines.push_back({{"line", Each.Number},
                     {"before", Each.Before},
                     {"after", Each.After}});
  return {
      {"endsSame", What.EndsSame},        {"endBefore", What.EndBefore},
      {"endAfter", What.EndAfter},        {"outputSame", What.Output.isSame()},
      {"lines", What.Output.LinesBefore}, {"differentLines", What.Output.Count},
      {"unsteadyLines", What.Unsteady},   {"firstDifferent", std::move(Lines)}};
}

ordered_json totalsJson(const std::vector<Row> &Totals) {
  ordered_json Result = ordered_json::object();
  for (const Row &Each : Totals) {
    Result[Each.Key] = {{"before", nullptr}, {"after", nullptr}};
    if (Each.Before)
      Result[Each.Key]["before"] = *Each.Before;
    if (Each.After)
      Result[Each.Key]["after"] = *Each.After;
  }
  return Result;
}

} // namespace

std::string fixes(size_t Count) {
  return std::to_string(Count) + (Count == 1 ? " fix" : " fixes");
}

std::string asText(const FixReport &What) {
  std::string Result = headOf(What) + summaryOf(What) + "\n";
  if (What.Together)
    Result += tableOf(What) + "\n";
  if (What.Mended)
    Result += "  " + fixes(What.Mended) +
              " of wrong results may change what is printed. The others are "
              "judged beside the\n  program with " +
              (What.Mended == 1 ? "that one" : "these") + " alone.\n\n";
  for (const FixedFinding &Each : What.Findings) {
    const FixVerdict &V = Each.Result;
    Result += nameOf(V.Result) + "  " + placeOf(Each.Finding) + "  [" +
              Each.Finding.Check + "]\n";
    // There may be many: those of the other programs of a project.
    if (V.Result == FixOutcome::NotReached)
      continue;
    if (!V.Before.Sentence.empty())
      Result += "    as it is: " + V.Before.Sentence + "\n";
    if (V.After)
      Result += "    fixed: " + V.After->Sentence + "\n";
    if (!V.Sentence.empty())
      Result += "    " + V.Sentence + "\n";
    if (Each.Alone)
      Result += aloneText(Each, *What.Before);
    Result += "\n";
  }
  while (Result.size() > 1 && Result[Result.size() - 2] == '\n')
    Result.pop_back();
  return Result;
}

std::string asJson(const FixReport &What) {
  ordered_json Findings = ordered_json::array();
  for (const FixedFinding &Each : What.Findings) {
    ordered_json One = {{"check", Each.Finding.Check},
                        {"file", Each.Finding.Statement.File},
                        {"line", Each.Finding.Line},
                        {"column", Each.Finding.Column},
                        {"message", Each.Finding.Message},
                        {"verdict", nameOf(Each.Result.Result)},
                        {"sentence", Each.Result.Sentence},
                        {"before", toJson(Each.Result.Before)}};
    if (Each.Result.After)
      One["after"] = toJson(*Each.Result.After);
    if (Each.Alone) {
      One["comparison"] = comparisonJson(*Each.Alone);
      One["totals"] =
          totalsJson(compareTotals(*What.Before, *Each.AloneRun, {}));
    }
    Findings.push_back(std::move(One));
  }
  ordered_json Result = {{"format", "torch-confirm fix"},
                         {"version", 1},
                         {"program", programJson(*What.Before)}};
  if (What.Together) {
    Result["fixed"] = programJson(*What.After);
    Result["comparison"] = comparisonJson(*What.Together);
    Result["totals"] = totalsJson(What.Totals);
  }
  Result["withoutFix"] = What.WithoutFix;
  Result["findings"] = std::move(Findings);
  return Result.dump(1, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}

} // namespace torchtidy::confirm::fix
