#include "fix/Selection.h"
#include "cli/Analyze.h"
#include "rules/Verdict.h"
#include "support/Errors.h"
#include <algorithm>
#include <filesystem>

namespace fs = std::filesystem;

namespace torchtidy::confirm::fix {
namespace {

int levelOf(const std::string &Check) {
#define CHECK(Name, Class, Level, Folder, Priority, Evidence)                  \
  if (Check == (Name))                                                         \
    return Level;
#include "Checks.def"
  return -1;
}

/// A fix in a file that has changed since would change something else.
void requireOlder(const DiagnosedFinding &Finding, const std::string &Path) {
  const auto Made = fs::last_write_time(Path);
  for (const FindingEdit &Each : Finding.Fix) {
    if (!fs::exists(Each.File))
      throw UserError("there is no '" + Each.File + "', which a fix of '" +
                      Path + "' changes");
    if (fs::last_write_time(Each.File) > Made)
      throw UserError("'" + Each.File + "' has changed since '" + Path +
                      "' was made, so its fixes may be of other lines; make "
                      "the findings anew (torch-tidy --sarif=FILE, or "
                      "--analyze)");
  }
}

} // namespace

void Selection::addOptions(CLI::App &App) {
  auto *File = App.add_option("--findings", Path,
                              "The findings with their fixes, as torch-tidy "
                              "--sarif=FILE writes them")
                   ->type_name("FILE");
  App.add_flag("--analyze", IsAnalyzed,
               "Make the findings with torch-tidy now, for the files of -p")
      ->excludes(File);
  App.add_option("--torch-tidy", TorchTidy,
                 "For --analyze: the torch-tidy to use (default: beside "
                 "torch-confirm, then on PATH)")
      ->type_name("FILE");
  App.add_option("--only", Only,
                 "Fixes of this check only (may be given again)")
      ->allow_extra_args(false)
      ->type_name("CHECK");
  App.add_option("--level", Level, "Fixes of checks up to this level only")
      ->check(CLI::Range(0, 2))
      ->type_name("N");
}

std::vector<DiagnosedFinding>
Selection::findings(const std::string &BuildFolder, size_t &WithoutFix) const {
  if (!IsAnalyzed && Path.empty())
    throw UserError("say which findings are meant: --findings=FILE, or "
                    "--analyze to make them");
  for (const std::string &Check : Only)
    if (levelOf(Check) < 0)
      throw UserError("--only: there is no check '" + Check +
                      "'; 'torch-tidy --explain levels' lists them");
  FindingsFile File =
      IsAnalyzed
          ? analyzeNow(TorchTidy, BuildFolder,
                       Level < 0
                           ? std::vector<std::string>()
                           : std::vector<std::string>{"--level=" +
                                                      std::to_string(Level)})
          : readFindings(Path);
  if (File.SarifText.empty() && !File.Findings.empty())
    throw UserError("fixes are read from SARIF only, and '" + Path +
                    "' is none: torch-tidy --sarif=FILE writes it");
  std::vector<DiagnosedFinding> Asked, Result;
  for (const DiagnosedFinding &Each : File.Findings)
    if ((Only.empty() ||
         std::find(Only.begin(), Only.end(), Each.Check) != Only.end()) &&
        (Level < 0 || levelOf(Each.Check) <= Level))
      Asked.push_back(Each);
  if (Asked.empty())
    throw UserError(
        File.Findings.empty()
            ? "there are no findings, and so nothing to fix"
            : "none of the " + std::to_string(File.Findings.size()) +
                  " findings is of the checks of --only and --level");
  for (const DiagnosedFinding &Each : Asked)
    if (!Each.Fix.empty())
      Result.push_back(Each);
  WithoutFix = Asked.size() - Result.size();
  if (Result.empty())
    throw UserError("no finding has a fix (" +
                    countText(double(Asked.size()), "finding") +
                    "), so there is nothing to apply; the messages say what to "
                    "do by hand");
  if (!IsAnalyzed)
    for (const DiagnosedFinding &Each : Result)
      requireOlder(Each, Path);
  return Result;
}

} // namespace torchtidy::confirm::fix
