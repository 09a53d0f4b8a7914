#include "findings/Read.h"
#include "support/Errors.h"
#include "support/Files.h"
#include <algorithm>

namespace torchtidy::confirm {

std::string evidenceOf(const std::string &Check) {
#define CHECK(Name, Class, Level, Folder, Priority, Evidence)                  \
  if (Check == (Name))                                                         \
    return Evidence;
#include "Checks.def"
  return "";
}

FindingsFile parseFindings(const std::string &Text, const std::string &Path) {
  FindingsFile Result;
  Result.Path = Path;
  const size_t First = Text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (First == std::string::npos) {
    // What clang-tidy writes where it finds nothing.
    return Result;
  }
  if (Text[First] == '{')
    readSarif(Text, Result);
  else if (Text.compare(First, 3, "---") == 0)
    readYaml(Text, Result);
  else if (!readText(Text, Result))
    throw UserError(
        "'" + Path +
        "' holds no findings: it is neither SARIF (torch-tidy --sarif=FILE) "
        "nor "
        "a file of --export-fixes nor the text that clang-tidy prints");
  for (DiagnosedFinding &Finding : Result.Findings)
    complete(Finding);
  auto IsForeign = [](const DiagnosedFinding &F) { return F.Evidence.empty(); };
  auto Begin =
      std::stable_partition(Result.Findings.begin(), Result.Findings.end(),
                            [&](auto &F) { return !IsForeign(F); });
  Result.Others += Result.Findings.end() - Begin;
  Result.Findings.erase(Begin, Result.Findings.end());
  return Result;
}

FindingsFile readFindings(const std::string &Path) {
  return parseFindings(readFile(Path), Path);
}

} // namespace torchtidy::confirm
