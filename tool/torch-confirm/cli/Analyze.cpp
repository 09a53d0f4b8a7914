#include "cli/Analyze.h"
#include "support/Capture.h"
#include "support/Errors.h"
#include "support/Paths.h"
#include <filesystem>
#include <iostream>

namespace fs = std::filesystem;

namespace torchtidy::confirm {

FindingsFile analyzeNow(const std::string &TorchTidy,
                        const std::string &BuildFolder,
                        const std::vector<std::string> &Options) {
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
  std::cerr << "torch-confirm: analysing what is compiled in '" << BuildFolder
            << "' with torch-tidy\n";
  std::vector<std::string> Command = {
      Program.string(), "-p", BuildFolder, "--sarif=" + Sarif,
      // Headers are half of a program; torch-tidy takes its default from the
      // configuration of the current folder.
      "--header-filter=.*"};
  Command.insert(Command.end(), Options.begin(), Options.end());
  const Captured Done = capture(Command);
  if (!fs::exists(Sarif))
    throw UserError("torch-tidy made no findings; it ended with " +
                    std::to_string(Done.Code) + ":\n" + Done.Errors);
  if (Done.Code != 0)
    std::cerr << "torch-confirm: warning: torch-tidy ended with " << Done.Code
              << "; its findings may not be all:\n"
              << Done.Errors;
  return readFindings(Sarif);
}

} // namespace torchtidy::confirm
