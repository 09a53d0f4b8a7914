#include "cli/Command.h"
#include "export/Diff.h"
#include "rules/Verdict.h"
#include "support/Errors.h"
#include "support/Files.h"
#include "support/Sizes.h"
#include <iostream>

using nlohmann::json;
using nlohmann::ordered_json;

namespace torchtidy::confirm {
namespace {

constexpr int KnownVersion = 1;

json readReport(const std::string &Path) {
  const std::string How =
      "; 'torch-confirm report --json FILE -- PROGRAM' writes a report";
  json Report;
  try {
    Report = json::parse(readFile(Path));
  } catch (const json::exception &) {
    throw UserError("'" + Path + "' is no JSON" + How);
  }
  if (!Report.is_object() || !Report.contains("format") ||
      Report["format"] != "torch-confirm report")
    throw UserError("'" + Path + "' is no report of torch-confirm" + How);
  if (!Report.contains("version") || Report["version"] != KnownVersion)
    throw UserError("'" + Path + "' is a report of version " +
                    Report.value("version", json()).dump() +
                    ", and this torch-confirm reads version " +
                    std::to_string(KnownVersion) +
                    ": make both reports with the same one");
  return Report;
}

class DiffCommand : public Command {
public:
  CLI::App *add(CLI::App &Program) override {
    CLI::App *App = Program.add_subcommand(
        "diff", "Compares two reports: what a change brought");
    App->add_option("before", BeforePath,
                    "What 'torch-confirm report --json' wrote before the "
                    "change")
        ->type_name("FILE")
        ->required();
    App->add_option("after", AfterPath, "And after it")
        ->type_name("FILE")
        ->required();
    App->add_option("--json", JsonPath, "Writes all differences there")
        ->type_name("FILE");
    FailOn = App->add_option("--fail-on-growth", Limit,
                             "Ends with 1 where memory grows by more than so "
                             "many bytes per iteration more than before: 1MiB, "
                             "64KiB, 1000")
                 ->type_name("BYTES");
    return App;
  }

  int run() override {
    // Before anything is read: a bad number is told at once.
    const int64_t Most =
        FailOn->count() ? parseBytes("--fail-on-growth", Limit) : 0;
    const json Before = readReport(BeforePath), After = readReport(AfterPath);
    ordered_json Diff;
    try {
      Diff = diffJson(Before, After);
    } catch (const json::exception &Error) {
      throw UserError("one of the reports lacks a part of it (" +
                      std::string(Error.what()) + "): make both anew");
    }
    std::cout << diffText(Diff);
    if (!JsonPath.empty())
      writeFile(JsonPath, Diff.dump(1, ' ', false,
                                    ordered_json::error_handler_t::replace) +
                              "\n");
    return FailOn->count() ? judged(moreGrowthOf(Diff), Most) : ExitSuccess;
  }

private:
  static int judged(std::optional<double> Growth, int64_t Most) {
    if (!Growth) {
      std::cout << "\n--fail-on-growth: the run after is too short to tell\n";
      return ExitSuccess;
    }
    if (*Growth <= double(Most))
      return ExitSuccess;
    std::cout << "\n--fail-on-growth: " << bytesText(*Growth)
              << " per iteration more than before\n";
    return ExitFailOn;
  }

  std::string BeforePath, AfterPath, JsonPath;
  std::string Limit;
  CLI::Option *FailOn = nullptr;
};

} // namespace

std::unique_ptr<Command> makeDiffCommand() {
  return std::make_unique<DiffCommand>();
}

} // namespace torchtidy::confirm
