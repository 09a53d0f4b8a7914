#include "CodeActions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

using namespace llvm;

namespace torchtidy::tool {
namespace {

constexpr StringLiteral Ellipsis = "\xe2\x80\xa6";
/// The protocol: a column behind the end of a line is its end.
constexpr int64_t EndOfLine = 1'000'000;

json::Object *parse(StringRef Message, std::optional<json::Value> &To) {
  Expected<json::Value> Whole = json::parse(Message);
  if (!Whole) {
    consumeError(Whole.takeError());
    return nullptr;
  }
  To = std::move(*Whole);
  return To->getAsObject();
}

StringRef checkOf(const json::Object &Finding) {
  const StringRef Check = Finding.getString("code").value_or("");
  return Check.starts_with("torch-") ? Check : "";
}

/// Behind the last "; "; empty where there is none.
StringRef adviceIn(StringRef Message) {
  Message = Message.split('\n').first;
  Message.consume_back(" (fix available)");
  Message.consume_back(" (fixes available)");
  const size_t At = Message.rfind("; ");
  return At == StringRef::npos ? "" : Message.drop_front(At + 2);
}

/// Whether it was changed.
bool retitle(json::Object &Action) {
  const json::Array *Findings = Action.getArray("diagnostics");
  const json::Object *Finding = Findings && Findings->size() == 1
                                    ? Findings->front().getAsObject()
                                    : nullptr;
  if (Action.getString("kind") != "quickfix" || !Finding ||
      checkOf(*Finding).empty())
    return false;
  const StringRef Title = Action.getString("title").value_or("");
  const StringRef Message = Finding->getString("message").value_or("");
  const StringRef Advice = adviceIn(Message);
  if (Advice.empty() ||
      (!Title.contains(Ellipsis) && !Message.starts_with_insensitive(Title)))
    return false;
  Action["title"] = Advice.str();
  return true;
}

const json::Object *objectAt(const json::Object &From,
                             ArrayRef<StringRef> Path) {
  const json::Object *Result = &From;
  for (StringRef Key : Path)
    if (Result)
      Result = Result->getObject(Key);
  return Result;
}

/// An editor may ask for a part of what there is, such as "source".
bool wantsFixes(const json::Object &Parameters) {
  const json::Object *Context = Parameters.getObject("context");
  const json::Array *Only = Context ? Context->getArray("only") : nullptr;
  return !Only || llvm::any_of(*Only, [](const json::Value &Kind) {
    const StringRef Name = Kind.getAsString().value_or("other");
    return Name.empty() || Name == "quickfix";
  });
}

json::Object silencing(StringRef File, const json::Object &Finding,
                       int64_t Line) {
  const std::string Check = checkOf(Finding).str();
  const json::Object End{{"line", Line}, {"character", EndOfLine}};
  const json::Object Insertion{
      {"range",
       json::Object{{"start", json::Object(End)}, {"end", json::Object(End)}}},
      {"newText", "  // NOLINT(" + Check + ")"}};
  return json::Object{
      {"title", "silence " + Check + " here"},
      {"kind", "quickfix"},
      {"diagnostics", json::Array{json::Object(Finding)}},
      {"edit", json::Object{{"changes",
                             json::Object{{File.str(), json::Array{json::Object(
                                                           Insertion)}}}}}}};
}

/// Whether there was any to silence.
bool offerSilence(const json::Object &Parameters, json::Array &Actions) {
  const json::Object *Document = Parameters.getObject("textDocument");
  const json::Object *Context = Parameters.getObject("context");
  const json::Array *Findings =
      Context ? Context->getArray("diagnostics") : nullptr;
  if (!Document || !Findings || !wantsFixes(Parameters))
    return false;
  std::set<std::pair<int64_t, std::string>> Offered;
  for (const json::Value &Each : *Findings) {
    const json::Object *Finding = Each.getAsObject();
    const json::Object *Start =
        Finding ? objectAt(*Finding, {"range", "start"}) : nullptr;
    const std::optional<int64_t> Line =
        Start ? Start->getInteger("line") : std::nullopt;
    if (!Line || checkOf(*Finding).empty() ||
        !Offered.emplace(*Line, checkOf(*Finding)).second)
      continue;
    Actions.push_back(
        silencing(Document->getString("uri").value_or(""), *Finding, *Line));
  }
  return !Offered.empty();
}

} // namespace

void CodeActions::asked(StringRef Message) {
  // Most are something else. Some editors escape the slash before it.
  if (!Message.contains("codeAction"))
    return;
  std::optional<json::Value> Whole;
  json::Object *Request = parse(Message, Whole);
  json::Object *Parameters = Request ? Request->getObject("params") : nullptr;
  const json::Value *Id = Request ? Request->get("id") : nullptr;
  if (!Parameters || !Id)
    return;
  const StringRef Method = Request->getString("method").value_or("");
  const std::lock_guard<std::mutex> Lock(Mutex);
  if (Method == "initialize")
    TakesActions =
        objectAt(*Parameters, {"capabilities", "textDocument", "codeAction",
                               "codeActionLiteralSupport"}) != nullptr;
  else if (Method == "textDocument/codeAction" && TakesActions)
    Waiting[formatv("{0}", *Id).str()] = std::move(*Parameters);
}

std::string CodeActions::answered(StringRef Message) {
  const std::lock_guard<std::mutex> Lock(Mutex);
  if (Waiting.empty() &&
      (!Message.contains("quickfix") || !Message.contains("torch-")))
    return Message.str();
  std::optional<json::Value> Whole;
  json::Object *Answer = parse(Message, Whole);
  if (!Answer)
    return Message.str();
  json::Array *Actions = Answer->getArray("result");
  bool HasChanged = false;
  if (Actions)
    for (json::Value &Each : *Actions)
      if (json::Object *Action = Each.getAsObject())
        HasChanged |= retitle(*Action);
  const json::Value *Id = Answer->get("id");
  const auto Asked = Id && !Answer->get("method")
                         ? Waiting.find(formatv("{0}", *Id).str())
                         : Waiting.end();
  if (Asked != Waiting.end()) {
    if (Actions)
      HasChanged |= offerSilence(Asked->second, *Actions);
    Waiting.erase(Asked);
  }
  if (!HasChanged)
    return Message.str();
  return Message.contains('\n') ? formatv("{0:2}", *Whole).str()
                                : formatv("{0}", *Whole).str();
}

} // namespace torchtidy::tool
