#include "CheckNames.h"
#include "Messages.h"
#include "clang-tidy/GlobList.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace torchtidy::tool {

StringRef closestName(StringRef Name, const StringSet<> &Known) {
  unsigned Distance = std::max<size_t>(5, Name.size() / 3);
  StringRef Closest;
  for (StringRef Candidate : Known.keys()) {
    unsigned Edits = Name.edit_distance_insensitive(
        Candidate, /*AllowReplacements=*/true, Distance);
    // The names come in no order: of equals, take the first by name.
    if (Edits < Distance || (Edits == Distance && Candidate < Closest)) {
      Closest = Candidate;
      Distance = Edits;
    }
  }
  return Closest;
}

std::string closestCheck(StringRef Name, const StringSet<> &Known) {
  const StringRef AsIs = closestName(Name, Known);
  const std::string Whole = ("torch-" + Twine(Name)).str();
  const StringRef WithPrefix = closestName(Whole, Known);
  const bool IsBetter =
      findCheck(WithPrefix) &&
      (AsIs.empty() || StringRef(Whole).edit_distance_insensitive(WithPrefix) <
                           Name.edit_distance_insensitive(AsIs));
  return (IsBetter ? WithPrefix : AsIs).str();
}

const CheckInfo *findCheckByName(StringRef Name) {
  const CheckInfo *Check = findCheck(Name);
  return Check ? Check : findCheck(("torch-" + Twine(Name)).str());
}

std::string withPrefixes(StringRef Globs) {
  // Separators and blanks stay as they are.
  std::string Result;
  while (!Globs.empty()) {
    const StringRef Item =
        Globs.take_until([](char C) { return C == ',' || C == '\n'; });
    StringRef Name = Item.trim();
    Name.consume_front("-");
    Name = Name.trim();
    const size_t At = Item.find(Name);
    const CheckInfo *Check = Name.empty() ? nullptr : findCheckByName(Name);
    if (Check && Check->Name != Name)
      Result += (Twine(Item.take_front(At)) + Check->Name +
                 Item.drop_front(At + Name.size()))
                    .str();
    else
      Result += Item;
    Globs = Globs.drop_front(Item.size());
    Result += Globs.take_front(1);
    Globs = Globs.drop_front(std::min<size_t>(1, Globs.size()));
  }
  return Result;
}

std::vector<UnknownItem> unknownItems(StringRef Globs,
                                      const StringSet<> &Known) {
  std::vector<UnknownItem> Result;
  clang::tidy::GlobList List(Globs);
  for (const auto &Item : List.getItems()) {
    // Compiler warnings have no list; an empty text is no glob.
    if (Item.Text.empty() || Item.Text.starts_with("clang-diagnostic"))
      continue;
    if (any_of(Known.keys(),
               [&](StringRef Check) { return Item.Regex.match(Check); }))
      continue;
    UnknownItem Unknown{Item.Text.str(), {}};
    if (!Unknown.isGlob())
      Unknown.Closest = closestCheck(Item.Text, Known);
    Result.push_back(std::move(Unknown));
  }
  return Result;
}

void warnOfUnknownChecks(StringRef Globs, const StringSet<> &Known) {
  for (const UnknownItem &Item : unknownItems(Globs, Known)) {
    if (Item.isGlob()) {
      warning() << "no check matches '" << Item.Text << "' in --checks\n";
      continue;
    }
    warning() << "unknown check '" << Item.Text << "' in --checks";
    if (!Item.Closest.empty())
      errs() << "; did you mean '" << Item.Closest << "'?";
    errs() << '\n';
  }
}

} // namespace torchtidy::tool
