#include "CheckNames.h"
#include "Messages.h"
#include "clang-tidy/GlobList.h"
#include "llvm/ADT/STLExtras.h"

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
      Unknown.Closest = closestName(Item.Text, Known).str();
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
