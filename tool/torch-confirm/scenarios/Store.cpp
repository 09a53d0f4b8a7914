#include "scenarios/Store.h"
#include "support/Errors.h"
#include "support/Files.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;

namespace torchtidy::confirm::scenarios {
namespace {

constexpr const char *KeyName = "run.json", *TimesName = "times.json",
                     *LockName = "lock", *Earlier = "earlier-";

/// Half of a file cannot be there, for files are renamed when they are whole;
/// but what is there may be somebody else's.
std::optional<Store::Json> readJson(const fs::path &File) {
  std::error_code Error;
  if (!fs::is_regular_file(File, Error))
    return std::nullopt;
  auto Result = Store::Json::parse(readFile(File.string()), nullptr, false);
  if (!Result.is_object())
    return std::nullopt;
  return Result;
}

RunKey keyOf(const Store::Json &Text) {
  RunKey Result;
  for (const auto &[Name, Value] : Text.items())
    if (Value.is_string())
      Result[Name] = Value;
  return Result;
}

/// "LibTorch was 2.10.0 and is 2.11.0"
std::string difference(const RunKey &Before, const RunKey &Now) {
  std::string Result;
  for (const auto &[Name, Value] : Now) {
    const auto It = Before.find(Name);
    const std::string Was = It == Before.end() ? "unknown" : It->second;
    if (Was != Value)
      Result += (Result.empty() ? "" : ", ") + Name + " was " + Was +
                " and is " + Value;
  }
  return Result.empty() ? "other things were kept" : Result;
}

} // namespace

Store::Store(fs::path Where, const RunKey &Key) : Folder(std::move(Where)) {
  std::error_code Error;
  fs::create_directories(Folder, Error);
  Lock =
      ::open((Folder / LockName).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (Lock < 0)
    throw UserError("--results: cannot write in '" + Folder.string() +
                    "': " + std::strerror(errno));
  if (flock(Lock, LOCK_EX | LOCK_NB) != 0) {
    close(Lock);
    throw UserError("--results: another torch-confirm is at work in '" +
                    Folder.string() + "'; wait for it, or end it");
  }
  if (const auto Known = readJson(Folder / TimesName))
    for (const auto &[Check, Seconds] : Known->items())
      if (Seconds.is_number())
        Times[Check] = Seconds;
  if (const auto Before = readJson(Folder / KeyName)) {
    if (keyOf(*Before) == Key)
      return;
    Why = difference(keyOf(*Before), Key);
    setAside();
  }
  writeFileToDisk((Folder / KeyName).string(), Json(Key).dump(1) + '\n');
}

Store::~Store() {
  if (Lock >= 0)
    close(Lock);
}

void Store::setAside() {
  fs::path To;
  for (int Number = 1; To.empty() || fs::exists(To); ++Number)
    To = Folder / (Earlier + std::to_string(Number));
  Why += "; what there was is in " + To.string();
  std::vector<fs::path> All;
  for (const fs::directory_entry &Each : fs::directory_iterator(Folder)) {
    const std::string Name = Each.path().filename().string();
    if (Name != TimesName && Name != LockName && Name.rfind(Earlier, 0) != 0)
      All.push_back(Each.path());
  }
  // The key goes last: cut in between, it is all set aside the next time.
  std::sort(All.begin(), All.end(), [](const fs::path &A, const fs::path &B) {
    return (A.filename() == KeyName) < (B.filename() == KeyName);
  });
  fs::create_directory(To);
  for (const fs::path &Each : All)
    fs::rename(Each, To / Each.filename());
}

std::optional<Store::Json> Store::find(const std::string &Check) const {
  auto Result = readJson(Folder / (Check + ".json"));
  if (Result && Result->value("check", "") != Check)
    Result.reset();
  return Result;
}

void Store::keep(const std::string &Check, const Json &Result, double Seconds) {
  writeFileToDisk((Folder / (Check + ".json")).string(), Result.dump(1) + '\n');
  noteSeconds(Check, Seconds);
}

std::optional<double> Store::secondsOf(const std::string &Check) const {
  const auto It = Times.find(Check);
  return It == Times.end() ? std::nullopt : std::optional(It->second);
}

void Store::tookLonger(const std::string &Check, double Seconds) {
  // The next guess is to be one that may suffice.
  noteSeconds(Check, std::max(2 * Seconds, secondsOf(Check).value_or(0)));
}

std::optional<double> Store::usualSeconds() const {
  std::vector<double> All;
  for (const auto &[Check, Seconds] : Times)
    All.push_back(Seconds);
  if (All.empty())
    return std::nullopt;
  std::sort(All.begin(), All.end());
  return All[All.size() / 2];
}

void Store::noteSeconds(const std::string &Check, double Seconds) {
  Times[Check] = Seconds;
  writeFile((Folder / TimesName).string(), Json(Times).dump(1) + '\n');
}

} // namespace torchtidy::confirm::scenarios
