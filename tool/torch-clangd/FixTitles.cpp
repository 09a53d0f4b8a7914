#include "FixTitles.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace torchtidy::tool {
namespace {

constexpr StringLiteral Ellipsis = "\xe2\x80\xa6";

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
      !Finding->getString("code").value_or("").starts_with("torch-"))
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

} // namespace

std::string withFixTitles(StringRef Message) {
  // Most are something else.
  if (!Message.contains("quickfix") || !Message.contains("torch-"))
    return Message.str();
  Expected<json::Value> Whole = json::parse(Message);
  if (!Whole) {
    consumeError(Whole.takeError());
    return Message.str();
  }
  json::Object *Answer = Whole->getAsObject();
  json::Array *Actions = Answer ? Answer->getArray("result") : nullptr;
  bool HasChanged = false;
  if (Actions)
    for (json::Value &Each : *Actions)
      if (json::Object *Action = Each.getAsObject())
        HasChanged |= retitle(*Action);
  if (!HasChanged)
    return Message.str();
  return Message.contains('\n') ? formatv("{0:2}", *Whole).str()
                                : formatv("{0}", *Whole).str();
}

} // namespace torchtidy::tool
