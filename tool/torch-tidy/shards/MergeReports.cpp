#include "shards/MergeReports.h"
#include "Messages.h"
#include "cache/CacheFolder.h"
#include "inputs/Json.h"
#include "inputs/Tree.h"
#include "report/Sarif.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <set>
#include <tuple>

using namespace llvm;

namespace torchtidy::tool {
namespace {

/// By what clang-tidy sorts findings, and what makes two of them the same.
using Key = std::tuple<std::string, int64_t, int64_t, std::string, std::string>;

std::string stringIn(const json::Object &Of, StringRef Name) {
  return Of.getString(Name).value_or("").str();
}

/// Lines that are alike are told apart by their order, which only all of them
/// together have.
class Renumbered {
public:
  std::string of(StringRef Fingerprint) {
    const auto [Words, Number] = Fingerprint.rsplit(':');
    return Number.empty() ? Fingerprint.str()
                          : (Words + ":" + utostr(++Met[Words.str()])).str();
  }

private:
  std::map<std::string, unsigned> Met;
};

int failed(const Twine &Why) {
  error() << Why << '\n';
  return 1;
}

/// What --fail-on says of so many findings of each level.
int gated(const std::map<int64_t, unsigned> &Levels,
          const std::optional<unsigned> &FailOn) {
  unsigned Count = 0;
  for (const auto &[Level, Number] : Levels)
    if (FailOn && Level <= int64_t(*FailOn))
      Count += Number;
  if (!Count)
    return 0;
  tellGate(Count, *FailOn);
  return 1;
}

//===-- JSON lines --------------------------------------------------------===//

int mergeLines(ArrayRef<std::pair<std::string, std::string>> Texts,
               const std::optional<unsigned> &FailOn, raw_ostream &OS) {
  std::map<Key, json::Object> Findings;
  for (const auto &[File, Text] : Texts) {
    unsigned Number = 0;
    for (const StringRef Line : llvm::split(Text, '\n')) {
      ++Number;
      if (Line.empty())
        continue;
      Expected<json::Value> Parsed = parseJson(Line);
      const json::Object *Finding = Parsed ? Parsed->getAsObject() : nullptr;
      if (!Finding || !Finding->getString("check")) {
        consumeError(Parsed.takeError());
        return failed("'" + File + "', line " + Twine(Number) +
                      ": this is no finding of --format=jsonl");
      }
      // Where a finding is in no file, its path is empty.
      const std::string Path = absolutePath(stringIn(*Finding, "file"));
      Findings.try_emplace(Key(Path, Finding->getInteger("line").value_or(0),
                               Finding->getInteger("column").value_or(0),
                               stringIn(*Finding, "check"),
                               stringIn(*Finding, "message")),
                           *Finding);
    }
  }
  Renumbered Names;
  std::map<int64_t, unsigned> Levels;
  for (auto &[Place, Finding] : Findings) {
    Finding["fingerprint"] = Names.of(stringIn(Finding, "fingerprint"));
    if (const std::optional<int64_t> Level = Finding.getInteger("level"))
      ++Levels[*Level];
    OS << json::Value(std::move(Finding)) << '\n';
  }
  return gated(Levels, FailOn);
}

//===-- SARIF -------------------------------------------------------------===//

/// The one object in an array of that name; null where it is otherwise.
json::Object *onlyIn(json::Object &Of, StringRef Name) {
  json::Array *All = Of.getArray(Name);
  return All && All->size() == 1 ? All->front().getAsObject() : nullptr;
}

std::string decoded(StringRef Uri) {
  std::string Result;
  while (!Uri.empty()) {
    unsigned Code;
    if (Uri.front() == '%' && Uri.size() > 2 &&
        !Uri.substr(1, 2).getAsInteger(16, Code)) {
      Result += char(Code);
      Uri = Uri.drop_front(3);
    } else {
      Result += Uri.front();
      Uri = Uri.drop_front();
    }
  }
  return Result;
}

class Logs {
public:
  /// False where a log is none, or does not belong to the others: that has been
  /// said then.
  bool add(const std::string &File, StringRef Text);
  /// The same of all together.
  bool isWhole() const;
  int write(const std::optional<unsigned> &FailOn, raw_ostream &OS);

private:
  bool addShard(const std::string &File, const json::Object &Invocation);
  void addNotifications(json::Object &Invocation);
  std::string pathOf(const json::Object &Result) const;

  /// The first log; what the others have is put into it.
  std::optional<json::Value> Whole;
  std::string Root, Version;
  std::map<std::string, json::Object> Rules;
  std::map<Key, json::Object> Results;
  /// By the source, so that the order is that of the sources.
  std::multimap<std::string, json::Value> Failures;
  uint64_t Unanalysed = 0, Functions = 0;
  bool IsSuccessful = true;
  /// By the shard's number: its file.
  std::map<int64_t, std::string> Shards;
  int64_t Count = 0;
  std::string Plan;
};

std::string Logs::pathOf(const json::Object &Result) const {
  const json::Array *Locations = Result.getArray("locations");
  const json::Object *First = Locations && !Locations->empty()
                                  ? Locations->front().getAsObject()
                                  : nullptr;
  const json::Object *Physical =
      First ? First->getObject("physicalLocation") : nullptr;
  const json::Object *Artifact =
      Physical ? Physical->getObject("artifactLocation") : nullptr;
  if (!Artifact)
    return {};
  const std::string Path = decoded(stringIn(*Artifact, "uri"));
  return Artifact->get("uriBaseId") ? Root + Path : Path;
}

Key keyOf(const json::Object &Result, std::string Path) {
  int64_t Line = 0, Column = 0;
  if (const json::Array *Locations = Result.getArray("locations");
      Locations && !Locations->empty())
    if (const json::Object *First = Locations->front().getAsObject())
      if (const json::Object *Physical = First->getObject("physicalLocation"))
        if (const json::Object *Region = Physical->getObject("region")) {
          Line = Region->getInteger("startLine").value_or(0);
          Column = Region->getInteger("startColumn").value_or(0);
        }
  const json::Object *Message = Result.getObject("message");
  return Key(std::move(Path), Line, Column, stringIn(Result, "ruleId"),
             Message ? stringIn(*Message, "text") : "");
}

bool Logs::addShard(const std::string &File, const json::Object &Invocation) {
  const json::Object *Properties = Invocation.getObject("properties");
  const json::Object *Ours =
      Properties ? Properties->getObject("torchTidy") : nullptr;
  if (!Ours || !Ours->getInteger("shard")) {
    failed("'" + File + "' is of no shard: it is the whole already");
    return false;
  }
  const int64_t Number = *Ours->getInteger("shard");
  const int64_t Of = Ours->getInteger("shards").value_or(0);
  const std::string Its = stringIn(*Ours, "plan");
  Unanalysed += Ours->getInteger("unanalysed").value_or(0);
  Functions += Ours->getInteger("functions").value_or(0);
  if (Shards.empty()) {
    Count = Of;
    Plan = Its;
  }
  if (Of != Count || Its != Plan) {
    failed("'" + File + "' and '" + Shards.begin()->second +
           "' have not shared out the same sources in the same way: analyse "
           "them again, with the same --times or none");
    return false;
  }
  const auto [It, IsNew] = Shards.try_emplace(Number, File);
  if (!IsNew) {
    failed("'" + File + "' and '" + It->second + "' are both shard " +
           Twine(Number));
    return false;
  }
  return true;
}

void Logs::addNotifications(json::Object &Invocation) {
  json::Array *Said = Invocation.getArray("toolExecutionNotifications");
  if (!Said)
    return;
  // The others are of all sources together, and made anew.
  for (json::Value &Each : *Said)
    if (const json::Object *Notification = Each.getAsObject();
        Notification && Notification->get("locations"))
      Failures.emplace(pathOf(*Notification), std::move(Each));
}

bool Logs::add(const std::string &File, StringRef Text) {
  Expected<json::Value> Parsed = parseJson(Text);
  json::Object *Log = Parsed ? Parsed->getAsObject() : nullptr;
  json::Object *Run = Log ? onlyIn(*Log, "runs") : nullptr;
  json::Object *Tool = Run ? Run->getObject("tool") : nullptr;
  json::Object *Driver = Tool ? Tool->getObject("driver") : nullptr;
  json::Object *Invocation = Run ? onlyIn(*Run, "invocations") : nullptr;
  json::Array *Found = Run ? Run->getArray("results") : nullptr;
  json::Array *Its = Driver ? Driver->getArray("rules") : nullptr;
  if (!Invocation || !Found || !Its ||
      Driver->getString("name") != StringRef("torch-tidy")) {
    consumeError(Parsed.takeError());
    failed("'" + File + "' is no SARIF log of torch-tidy");
    return false;
  }
  if (!addShard(File, *Invocation))
    return false;
  if (!Whole)
    Version = stringIn(*Driver, "version");
  if (stringIn(*Driver, "version") != Version) {
    failed("'" + File + "' is of torch-tidy " + stringIn(*Driver, "version") +
           ", the others of " + Version);
    return false;
  }
  // The checkouts of two machines need not lie in the same folder.
  if (const json::Object *Bases = Run->getObject("originalUriBaseIds");
      Bases && !Whole)
    if (const json::Object *Base = Bases->getObject("SRCROOT")) {
      StringRef Uri = Base->getString("uri").value_or("");
      Uri.consume_front("file://");
      Root = decoded(Uri);
    }
  IsSuccessful &= Invocation->getBoolean("executionSuccessful").value_or(false);
  addNotifications(*Invocation);
  for (json::Value &Each : *Its)
    if (json::Object *Rule = Each.getAsObject())
      Rules.try_emplace(stringIn(*Rule, "id"), std::move(*Rule));
  for (json::Value &Each : *Found)
    if (json::Object *Result = Each.getAsObject()) {
      std::string Path = pathOf(*Result);
      Key Place = keyOf(*Result, std::move(Path));
      Results.try_emplace(std::move(Place), std::move(*Result));
    }
  if (!Whole)
    Whole = std::move(*Parsed);
  return true;
}

bool Logs::isWhole() const {
  std::vector<std::string> Missing;
  for (int64_t Number = 1; Number <= Count; ++Number)
    if (!Shards.count(Number))
      Missing.push_back(itostr(Number) + "/" + itostr(Count));
  if (!Missing.empty())
    failed("shard " + llvm::join(Missing, ", ") + " is missing");
  return Missing.empty();
}

int Logs::write(const std::optional<unsigned> &FailOn, raw_ostream &OS) {
  json::Object &Run = *onlyIn(*Whole->getAsObject(), "runs");
  json::Array Found, Used;
  std::map<std::string, int64_t> Places;
  Renumbered Names;
  std::map<int64_t, unsigned> Levels;
  for (auto &[Place, Result] : Results) {
    const std::string Rule = stringIn(Result, "ruleId");
    const auto [It, IsNew] = Places.try_emplace(Rule, int64_t(Used.size()));
    const json::Object *Properties = Rules[Rule].getObject("properties");
    if (const std::optional<int64_t> Level =
            Properties ? Properties->getInteger("level") : std::nullopt)
      ++Levels[*Level];
    if (IsNew)
      Used.push_back(json::Object(Rules[Rule]));
    Result["ruleIndex"] = It->second;
    if (json::Object *Prints = Result.getObject("partialFingerprints"))
      (*Prints)["torchTidy/v1"] = Names.of(stringIn(*Prints, "torchTidy/v1"));
    Found.push_back(std::move(Result));
  }
  (*Run.getObject("tool")->getObject("driver"))["rules"] = std::move(Used);
  json::Object Invocation{{"executionSuccessful", IsSuccessful}};
  json::Array Notifications;
  for (auto &[Source, Notification] : Failures)
    Notifications.push_back(std::move(Notification));
  if (Unanalysed)
    Notifications.push_back(sarifUnanalysed(Unanalysed, Functions));
  if (!Notifications.empty())
    Invocation["toolExecutionNotifications"] = std::move(Notifications);
  Run["invocations"] = json::Array{std::move(Invocation)};
  Run["results"] = std::move(Found);
  OS << formatv("{0:2}", *Whole) << '\n';
  const int Gate = gated(Levels, FailOn);
  if (!IsSuccessful)
    return failed("not all files were analysed");
  return Gate;
}

} // namespace

int mergeReports(const MergeSettings &Settings, raw_ostream &OS) {
  std::vector<std::pair<std::string, std::string>> Texts;
  for (const std::string &File : Settings.Files) {
    const std::unique_ptr<MemoryBuffer> Text = readFile(File);
    if (!Text)
      return failed("cannot read '" + File + "'");
    Texts.emplace_back(File, Text->getBuffer().str());
  }
  // A line of JSON lines is an object as well, but not one of several lines. A
  // shard without findings writes no lines at all.
  const auto IsLog = [](const auto &Each) {
    return StringRef(Each.second).ltrim().starts_with("{\n");
  };
  if (llvm::none_of(Texts, IsLog))
    return mergeLines(Texts, Settings.FailOn, OS);
  Logs All;
  for (const auto &[File, Text] : Texts)
    if (!All.add(File, Text))
      return 1;
  return All.isWhole() ? All.write(Settings.FailOn, OS) : 1;
}

} // namespace torchtidy::tool
