#include "shards/Plan.h"
#include "Messages.h"
#include "cache/CacheFolder.h"
#include "inputs/Json.h"
#include "inputs/Tree.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"
#include <cmath>

using namespace llvm;

namespace torchtidy::tool {

/// From a folder, for what lies below it: the same on all machines.
static std::string nameFrom(StringRef Folder, StringRef Source) {
  std::string Whole = comparablePath(Source);
  std::string Relative = relativeTo(comparablePath(Folder), Whole);
  return Relative.empty() ? Whole : Relative;
}

std::optional<Shard> parseShard(StringRef Text) {
  Shard Result;
  const auto [Number, Count] = Text.split('/');
  if (Number.getAsInteger(10, Result.Number) ||
      Count.getAsInteger(10, Result.Count) || !Result.Number ||
      Result.Number > Result.Count)
    return std::nullopt;
  return Result;
}

bool FileTimes::read() {
  if (!sys::fs::exists(Path))
    return true;
  const std::unique_ptr<MemoryBuffer> Text = readFile(Path);
  Expected<json::Value> Parsed =
      Text ? parseJson(Text->getBuffer())
           : createStringError(inconvertibleErrorCode(), "it cannot be read");
  if (!Parsed) {
    error() << "cannot read the times of '" << Path
            << "': " << toString(Parsed.takeError()) << '\n';
    return false;
  }
  const json::Object *Root = Parsed->getAsObject();
  const json::Object *Known = Root ? Root->getObject("seconds") : nullptr;
  if (!Known) {
    error() << "'" << Path << "' holds no times; --times writes such a file\n";
    return false;
  }
  for (const auto &[Name, Value] : *Known)
    if (const std::optional<double> Number = Value.getAsNumber();
        Number && *Number >= 0)
      Seconds[Name.str()] = *Number;
  return true;
}

bool FileTimes::write() const {
  json::Object Known;
  for (const auto &[Name, Value] : Seconds)
    Known[json::fixUTF8(Name)] = Value;
  const std::error_code Failure = writeWhole(
      Path, formatv("{0:2}\n",
                    json::Value(json::Object{{"seconds", std::move(Known)}}))
                .str());
  if (Failure)
    error() << "cannot write '" << Path << "': " << Failure.message() << '\n';
  return !Failure;
}

std::string FileTimes::nameOf(StringRef Source) const {
  const StringRef Folder = sys::path::parent_path(Path);
  return nameFrom(Folder.empty() ? "." : Folder, Source);
}

void FileTimes::set(StringRef Source, double Value) {
  // What is finer is noise.
  Seconds[nameOf(Source)] = std::round(Value * 1000) / 1000;
}

std::optional<double> FileTimes::of(StringRef Source) const {
  const auto It = Seconds.find(nameOf(Source));
  return It == Seconds.end() ? std::nullopt : std::optional(It->second);
}

ShardPlan planShard(ArrayRef<std::string> Sources, Shard Mine,
                    const FileTimes &Times) {
  struct Part {
    std::string Name;
    size_t Index;
    std::optional<double> Time;
  };
  std::vector<Part> Parts;
  double Sum = 0;
  unsigned NumKnown = 0;
  for (size_t I = 0; I < Sources.size(); ++I) {
    Parts.push_back({nameFrom(".", Sources[I]), I, Times.of(Sources[I])});
    Sum += Parts.back().Time.value_or(0);
    NumKnown += Parts.back().Time.has_value();
  }
  // A file takes some time, however little of it was measured.
  constexpr double Least = 0.01;
  const double Average = NumKnown ? std::max(Sum / NumKnown, Least) : 1;
  for (Part &Each : Parts)
    Each.Time = std::max(Each.Time.value_or(Average), Least);
  llvm::sort(Parts, [](const Part &A, const Part &B) {
    return std::tie(*B.Time, A.Name, A.Index) <
           std::tie(*A.Time, B.Name, B.Index);
  });
  std::vector<double> Loads(Mine.Count);
  std::vector<size_t> Chosen;
  std::string Words = utostr(Mine.Count);
  for (const Part &Each : Parts) {
    const auto Lightest = llvm::min_element(Loads);
    *Lightest += *Each.Time;
    const size_t Number = size_t(Lightest - Loads.begin()) + 1;
    if (Number == Mine.Number)
      Chosen.push_back(Each.Index);
    Words += '\0' + Each.Name + '\0' + utostr(Number);
  }
  llvm::sort(Chosen);
  ShardPlan Result;
  for (const size_t Index : Chosen)
    Result.Sources.push_back(Sources[Index]);
  Result.Id = utohexstr(xxh3_64bits(Words), /*LowerCase=*/true);
  return Result;
}

} // namespace torchtidy::tool
