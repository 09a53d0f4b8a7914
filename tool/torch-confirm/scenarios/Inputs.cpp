#include "scenarios/Inputs.h"
#include "support/Errors.h"
#include "support/Files.h"
#include "support/Fingerprint.h"
#include "support/Paths.h"
#include <algorithm>
#include <set>
#include <sstream>

namespace fs = std::filesystem;

namespace torchtidy::confirm::scenarios {

namespace {

constexpr int Small = 1, Large = 2;

/// A folder of torch-tidy's sources holds the registry.
bool isSource(const fs::path &Folder) {
  return fs::exists(Folder / "checks" / "Checks.def") &&
         fs::exists(Folder / "test" / "scenarios" / "CMakeLists.txt");
}

} // namespace

fs::path findSource(const std::string &Given) {
  if (!Given.empty()) {
    if (!isSource(Given))
      throw UserError("--source: " + Given +
                      " holds no checks/Checks.def and test/scenarios");
    return fs::canonical(Given);
  }
  for (fs::path Folder = fs::current_path();; Folder = Folder.parent_path()) {
    if (isSource(Folder))
      return Folder;
    if (Folder == Folder.parent_path())
      break;
  }
  // A build folder has a link to the sources of the probe.
  std::error_code Error;
  const fs::path Probe = fs::canonical(dataFolder() / "probe", Error);
  const fs::path Source =
      Error ? fs::path() : Probe.parent_path().parent_path().parent_path();
  if (!Error && isSource(Source))
    return Source;
  throw UserError("the scenarios belong to torch-tidy's sources: run this in "
                  "them, or give their folder with --source");
}

std::vector<int> parseSizes(const std::string &Text) {
  std::vector<int> Result;
  std::istringstream Words(Text);
  for (std::string Word; std::getline(Words, Word, ',');) {
    int Size = 0;
    size_t End = 0;
    try {
      Size = Word == "small"   ? Small
             : Word == "large" ? Large
                               : std::stoi(Word, &End);
    } catch (const std::exception &) {
    }
    if (Size < 1 || (End != 0 && End != Word.size()))
      throw UserError("--size: '" + Word +
                      "' is not small, large or a whole number from 1");
    Result.push_back(Size);
  }
  if (Result.empty())
    throw UserError("--size: small, large, or whole numbers from 1");
  std::sort(Result.begin(), Result.end());
  Result.erase(std::unique(Result.begin(), Result.end()), Result.end());
  return Result;
}

std::string fingerprintOf(const fs::path &Source, const fs::path &Scenarios) {
  std::set<fs::path> Files = {Source / "checks" / "Checks.def"};
  for (const fs::path &Folder : {Source / "tool" / "torch-confirm",
                                 Source / "test" / "scenarios", Scenarios})
    for (const fs::directory_entry &Each :
         fs::recursive_directory_iterator(Folder))
      if (const std::string End = Each.path().extension().string();
          Each.is_regular_file() &&
          (End == ".cpp" || End == ".h" || End == ".txt" || End == ".json"))
        Files.insert(Each.path());
  Fingerprint Result;
  for (const fs::path &Each : Files)
    Result.add(Each.lexically_proximate(Source).string())
        .add(readFile(Each.string()));
  return Result.text();
}

uintmax_t sizeOf(const fs::path &File) {
  std::error_code Error;
  const uintmax_t Result = fs::file_size(File, Error);
  return Error ? 0 : Result;
}

fs::path findAnalyzer(const std::string &Given) {
  const fs::path Beside = ownExecutable().parent_path() / "torch-tidy";
  const fs::path Result = !Given.empty()       ? findOnPath(Given)
                          : fs::exists(Beside) ? Beside
                                               : findOnPath("torch-tidy");
  if (Result.empty())
    throw UserError("torch-tidy was not found: give it with --analyzer, or use "
                    "the committed findings with --no-analyzer");
  return Result;
}

} // namespace torchtidy::confirm::scenarios
