#include "cli/ReportFiles.h"
#include "export/ChromeTrace.h"
#include "export/Json.h"
#include "export/Page.h"
#include "export/Sarif.h"
#include "export/Snapshot.h"
#include "recording/Json.h"
#include "support/Errors.h"
#include "support/Files.h"
#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>

namespace torchtidy::confirm {
namespace {

void writeStream(const std::string &Path,
                 const std::function<void(std::ostream &)> &Write) {
  std::ofstream Out(Path, std::ios::binary | std::ios::trunc);
  if (Out)
    Write(Out);
  Out.close();
  if (!Out)
    throw UserError("'" + Path + "' cannot be written");
}

/// Arguments and names of files may be no UTF-8.
std::string textOf(const nlohmann::ordered_json &All) {
  return All.dump(1, ' ', false,
                  nlohmann::ordered_json::error_handler_t::replace) +
         '\n';
}

bool isDevice(const std::string &Path) { return Path.rfind("/dev/", 0) == 0; }

} // namespace

void ReportFiles::addOptions(CLI::App &App) {
  App.add_option("--html", Html, "Write a page for a browser")
      ->type_name("FILE");
  App.add_option("--json", Json,
                 "Write all of it for programs, and for 'torch-confirm diff'")
      ->type_name("FILE");
  App.add_option("--trace", Trace,
                 "Write operations and memory over time, for Perfetto "
                 "(ui.perfetto.dev) and chrome://tracing")
      ->type_name("FILE");
  App.add_option("--snapshot", Snapshot,
                 "Write memory over time by line, for PyTorch's memory "
                 "viewer (pytorch.org/memory_viz)")
      ->type_name("FILE");
  App.add_option("--sarif", Sarif,
                 "Write the causes for editors and code scanning")
      ->type_name("FILE");
  App.add_option("--recording", Kept, "Keep what was recorded, for --from")
      ->type_name("FILE");
}

std::vector<std::string> ReportFiles::all() const {
  std::vector<std::string> Result;
  for (const std::string *Each :
       {&Html, &Json, &Trace, &Snapshot, &Sarif, &Kept})
    if (!Each->empty())
      Result.push_back(*Each);
  return Result;
}

bool ReportFiles::writesToDevice() const {
  const std::vector<std::string> All = all();
  return std::any_of(All.begin(), All.end(), isDevice);
}

void ReportFiles::check() const {
  std::vector<std::string> Before;
  for (const std::string &Each : all()) {
    requireWritable(Each);
    if (!isDevice(Each) &&
        std::find(Before.begin(), Before.end(), Each) != Before.end())
      throw UserError("two files are to be written to '" + Each + "'");
    Before.push_back(Each);
  }
  if (!Html.empty())
    requirePage();
}

bool ReportFiles::write(const Recording &Run, const Profile &Of) const {
  bool HasAll = true;
  const auto Try = [&](const std::string &Path, auto How) {
    if (Path.empty())
      return;
    try {
      How();
    } catch (const std::exception &Error) {
      HasAll = false;
      std::cerr << "torch-confirm: error: " << Error.what() << '\n';
    }
  };
  Try(Kept, [&] { writeRecording(Run, Kept); });
  nlohmann::ordered_json All;
  if (!Json.empty() || !Html.empty())
    All = jsonOf(Run, Of);
  Try(Json, [&] { writeFile(Json, textOf(All)); });
  Try(Html, [&] { writeFile(Html, pageOf(All)); });
  Try(Trace, [&] {
    writeStream(Trace,
                [&](std::ostream &Out) { writeChromeTrace(Out, Run, Of); });
  });
  Try(Snapshot, [&] {
    writeStream(Snapshot,
                [&](std::ostream &Out) { writeSnapshot(Out, Run, Of); });
  });
  Try(Sarif, [&] { writeFile(Sarif, growthSarif(Run, Of)); });
  return HasAll;
}

} // namespace torchtidy::confirm
