#include "scenarios/Example.h"
#include "support/Capture.h"
#include "support/Errors.h"
#include "support/Files.h"
#include <iostream>
#include <nlohmann/json.hpp>

namespace fs = std::filesystem;
using nlohmann::json;

namespace torchtidy::confirm::scenarios {
namespace {

void expectSuccess(const std::vector<std::string> &Command,
                   const fs::path &Folder = {}) {
  CaptureSettings How;
  How.Folder = Folder;
  const Captured Run = capture(Command, How);
  if (!Run.succeeded())
    throw UserError(shown(Command) + " ends with " + std::to_string(Run.Code) +
                    ":\n" + Run.All);
}

/// Without what belongs to one machine, and what is said elsewhere already.
json reduced(json Sarif) {
  for (json &Run : Sarif.at("runs")) {
    Run.erase("originalUriBaseIds");
    Run.erase("invocations");
    for (json &Rule : Run.at("tool").at("driver").at("rules"))
      Rule = {{"id", Rule.at("id")}};
    for (json &Result : Run.at("results"))
      Result.erase("fixes");
  }
  return Sarif;
}

} // namespace

Example::Example(fs::path Source, fs::path Analyzer, fs::path Work,
                 std::string LibTorch)
    : Source(std::move(Source)), Analyzer(std::move(Analyzer)),
      Work(std::move(Work)), LibTorch(std::move(LibTorch)) {}

fs::path Example::committed() const {
  return Source / "test" / "apps" / "made" / "example.sarif";
}

std::string Example::findings() const {
  std::vector<std::string> Configure = {
      "cmake", "-S", (Source / "test" / "apps" / "example").string(), "-B",
      Work.string()};
  if (!LibTorch.empty())
    Configure.push_back("-DTorch_DIR=" + LibTorch);
  expectSuccess(Configure);
  const fs::path File = Work / "example.sarif";
  fs::remove(File);
  // The filter of the application's own .clang-tidy counts in its folder only,
  // and paths are given from the current folder.
  expectSuccess({Analyzer.string(), "--quiet", "--header-filter=.*", "-p",
                 Work.string(), "--sarif=" + File.string()},
                Source);
  try {
    return reduced(json::parse(readFile(File))).dump(1) + "\n";
  } catch (const json::exception &Error) {
    throw UserError(File.string() + ": " + Error.what());
  }
}

bool Example::isStale(const std::string &Findings) const {
  return !fs::exists(committed()) || readFile(committed()) != Findings;
}

void Example::write(const std::string &Findings) const {
  if (!isStale(Findings))
    return;
  fs::create_directories(committed().parent_path());
  writeFile(committed(), Findings);
  std::cout << "wrote " << committed().string() << '\n';
}

} // namespace torchtidy::confirm::scenarios
