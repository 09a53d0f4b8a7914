#include "cli/Judging.h"
#include "recording/Sanitizer.h"
#include "report/Report.h"
#include "support/Capture.h"
#include "support/Errors.h"
#include "support/Files.h"
#include "support/Paths.h"
#include "trace/TraceFile.h"
#include <algorithm>
#include <filesystem>
#include <iostream>

namespace fs = std::filesystem;

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
  fs::path Program = TorchTidy;
  if (Program.empty())
    Program = ownExecutable().parent_path() / "torch-tidy";
  if (TorchTidy.empty() && !fs::exists(Program))
    Program = findOnPath("torch-tidy");
  if (Program.empty() || !fs::exists(Program))
    throw UserError(
        TorchTidy.empty()
            ? "--analyze needs torch-tidy, which is neither beside "
              "torch-confirm nor on PATH; --torch-tidy=FILE says where it is"
            : "there is no torch-tidy at '" + TorchTidy + "'");
  const TemporaryFolder Folder;
  const std::string Sarif = Folder.path() + "/findings.sarif";
  const Captured Done =
      capture({Program.string(), "-p", BuildFolder, "--sarif=" + Sarif,
               // Headers are half of a program; torch-tidy takes its default
               // from the configuration of the current folder.
               "--header-filter=.*"});
  if (!fs::exists(Sarif))
    throw UserError("torch-tidy made no findings; it ended with " +
                    std::to_string(Done.Code) + ":\n" + Done.Errors);
  if (Done.Code != 0)
    std::cerr << "torch-confirm: warning: torch-tidy ended with " << Done.Code
              << "; its findings may not be all:\n"
              << Done.Errors;
  Input = readFindings(Sarif);
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

bool Judging::report(Recording Run) const {
  addSanitizer(Run);
  Report What{Run, Input, judge(Input.Findings, Run)};
  if (Output.empty())
    std::cerr << asText(What);
  else
    writeFile(Output, asText(What));
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
