#include "cli/Judging.h"
#include "cli/Analyze.h"
#include "recording/Sanitizer.h"
#include "report/Report.h"
#include "support/Errors.h"
#include "support/Files.h"
#include "trace/TraceFile.h"
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <tuple>
#include <unistd.h>

namespace torchtidy::confirm {

void Judging::addOptions(CLI::App &App) {
  App.add_option("--findings", FindingsPath,
                 "The findings: SARIF (torch-tidy --sarif=FILE), a file of "
                 "clang-tidy's --export-fixes, or the text that they print")
      ->type_name("FILE");
  App.add_flag("--analyze", Analyze,
               "Make the findings with torch-tidy now, for the files of -p; "
               "with --findings they are written there");
  App.add_option("-p", BuildFolder,
                 "For --analyze: the folder of compile_commands.json")
      ->type_name("FOLDER");
  App.add_option("--torch-tidy", TorchTidy,
                 "For --analyze: the torch-tidy to use (default: beside "
                 "torch-confirm, then on PATH)")
      ->type_name("FILE");
  App.add_option("--sanitizer-report", SanitizerPaths,
                 "What AddressSanitizer printed in another run, or its "
                 "log_path (may be given again)")
      ->type_name("FILE");
  App.add_option("--output", Output,
                 "Write the report there, not to standard error")
      ->type_name("FILE");
  App.add_flag(
      "--details", Details,
      "Show in the report what each finding says, which operations ran "
      "there, and the rule that decided");
  Color.addOption(App);
  App.add_option("--json", Json, "Write the verdicts as JSON, too")
      ->type_name("FILE");
  App.add_option("--sarif-out", SarifOut,
                 "Write the findings with their verdicts as SARIF; needs "
                 "findings in SARIF")
      ->type_name("FILE");
  App.add_flag("--update", Update,
               "Write the verdicts into the SARIF file of --findings itself");
  App.add_option("--fail-on", FailOn,
                 "Exit with 1 when a finding is 'confirmed', or when one is "
                 "not ('unconfirmed': refuted, not reached, not measurable)")
      ->check(CLI::IsMember({"confirmed", "unconfirmed"}))
      ->type_name("VERDICT");
}

void Judging::analyze() {
  Input = analyzeNow(TorchTidy, BuildFolder, {});
  Input.Path = FindingsPath;
  if (!FindingsPath.empty())
    writeFile(FindingsPath, Input.SarifText);
}

void Judging::prepare() {
  if (!Analyze && FindingsPath.empty())
    throw UserError("say which findings are meant: --findings=FILE, or "
                    "--analyze -p FOLDER to make them");
  if (Analyze && BuildFolder.empty())
    throw UserError("--analyze needs -p FOLDER, the folder of "
                    "compile_commands.json");
  if (Analyze && Update && FindingsPath.empty())
    throw UserError(
        "--update needs --findings=FILE, where --analyze then writes "
        "what it finds");
  if (!Analyze && !BuildFolder.empty())
    throw UserError("-p belongs to --analyze");
  if (Analyze)
    analyze();
  else
    Input = readFindings(FindingsPath);
  for (const std::string &Path : SanitizerPaths)
    if (trace::tracesOf(Path).empty())
      throw UserError("--sanitizer-report: there is neither '" + Path +
                      "' nor '" + Path + ".<process id>'");
  if (Input.SarifText.empty() && (Update || !SarifOut.empty()))
    throw UserError("--sarif-out and --update need findings in SARIF, and '" +
                    Input.Path + "' is none");
}

bool Judging::writesToDevice() const {
  for (const std::string *Each : {&Output, &Json, &SarifOut})
    if (Each->rfind("/dev/", 0) == 0 || Each->rfind("/proc/", 0) == 0)
      return true;
  return false;
}

void Judging::addSanitizer(Recording &Run) const {
  for (const std::string &Path : SanitizerPaths) {
    // log_path=report leaves report.<process id>.
    std::vector<std::string> Files = trace::tracesOf(Path);
    if (Files.empty())
      Files.push_back(Path);
    for (const std::string &File : Files)
      for (SanitizerReport &Each : parseSanitizer(readFile(File)))
        Run.SanitizerReports.push_back(std::move(Each));
    Run.Capabilities["sanitizer"].IsAvailable = true;
  }
}

namespace {

/// What one process has shown is so, whatever others did not show.
int weightOf(const JudgedFinding &Judged) {
  switch (Judged.Result.Result) {
  case Outcome::NotReached:
    return 0;
  case Outcome::NotMeasurable:
    return 1;
  case Outcome::Refuted:
    return 2;
  case Outcome::Confirmed:
    return 3;
  }
  return 0;
}

bool isSame(const DiagnosedFinding &A, const DiagnosedFinding &B) {
  const auto Key = [](const DiagnosedFinding &F) {
    return std::tie(F.SarifRun, F.SarifResult, F.Check, F.Statement.File,
                    F.Line, F.Column, F.Message);
  };
  return Key(A) == Key(B);
}

void takeWhatSaysMore(std::vector<JudgedFinding> &Into,
                      std::vector<JudgedFinding> &&From, uint32_t Process) {
  for (JudgedFinding &Other : From)
    for (JudgedFinding &Each : Into)
      if (isSame(Each.Finding, Other.Finding) &&
          weightOf(Each) < weightOf(Other)) {
        Each = Other;
        Each.Result.Sentence += "; in process " + std::to_string(Process);
      }
}

} // namespace

bool Judging::report(
    Recording Run, const std::vector<Recording> &Others,
    const std::function<void(std::vector<JudgedFinding> &)> &Amend) const {
  addSanitizer(Run);
  Report What{Run, Input, judge(Input.Findings, Run)};
  for (const Recording &Each : Others)
    takeWhatSaysMore(What.Judged, judge(Input.Findings, Each), Each.Process);
  if (!Others.empty())
    sort(What.Judged);
  if (Amend) {
    Amend(What.Judged);
    sort(What.Judged);
  }
  const std::string Text =
      asText(What, {Details, Color.isOn(Output.empty() ? STDERR_FILENO : -1)});
  if (Output.empty())
    std::cerr << Text;
  else
    writeFile(Output, Text);
  if (!Json.empty())
    writeFile(Json, asJson(What));
  if (!SarifOut.empty())
    writeFile(SarifOut, asSarif(What));
  if (Update)
    writeFile(Input.Path, asSarif(What));
  return std::any_of(What.Judged.begin(), What.Judged.end(),
                     [&](const JudgedFinding &Each) {
                       const bool Is = Each.Result.Result == Outcome::Confirmed;
                       return (FailOn == "confirmed" && Is) ||
                              (FailOn == "unconfirmed" && !Is);
                     });
}

} // namespace torchtidy::confirm
