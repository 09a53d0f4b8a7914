#include "Explain.h"
#include "CheckNames.h"
#include "Levels.h"
#include "Messages.h"
#include "Pages.h"
#include "Registry.h"
#include "clang-tidy/ClangTidy.h"
#include <cstring>

using namespace llvm;

namespace torchtidy::tool {
namespace {

int printPage(StringRef Check, StringRef Executable) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> Text = readPage(Check, Executable);
  if (!Text) {
    error() << "the page of " << Check << " is not where it should be, '"
            << pagePath(Check, Executable) << "': " << Text.getError().message()
            << '\n';
    return 1;
  }
  outs() << (*Text)->getBuffer();
  return 0;
}

int printLevels() {
  outs() << "A level includes those below it; " << DefaultLevel
         << " is the default.\n";
  for (unsigned Level = 0; Level <= HighestLevel; ++Level) {
    outs() << "\nlevel " << Level << ", " << levelTitle(Level) << ":\n";
    for (const CheckInfo &Check : registry())
      if (Check.Level == Level)
        outs() << "    " << Check.Name << '\n';
  }
  outs() << "\nThe same for stock clang-tidy with the plugin, which knows no "
            "levels:\n";
  for (unsigned Level = 0; Level <= HighestLevel; ++Level)
    outs() << "\nlevel " << Level << ": -checks='-*," << checksUpToLevel(Level)
           << "'\n";
  return 0;
}

} // namespace

int explain(StringRef Topic, StringRef Executable) {
  if (Topic == "levels")
    return printLevels();
  if (const CheckInfo *Check = findCheckByName(Topic))
    return printPage(Check->Name, Executable);

  if (Topic.starts_with("clang-diagnostic-")) {
    outs() << "A warning of the compiler, -W"
           << Topic.substr(strlen("clang-diagnostic-")) << ":\n"
           << stockPage(Topic) << '\n';
    return 0;
  }
  StringSet<> Known = clang::tidy::getAllChecksAndOptions().Names;
  if (Known.contains(Topic)) {
    outs() << "A check of clang-tidy itself:\n" << stockPage(Topic) << '\n';
    return 0;
  }

  error() << "--explain: there is no check '" << Topic << '\'';
  Known.insert("levels");
  const std::string Closest = closestCheck(Topic, Known);
  if (!Closest.empty())
    errs() << "; did you mean '" << Closest << "'?";
  else
    errs() << "; --list-checks --checks='*' lists all";
  errs() << '\n';
  return 1;
}

} // namespace torchtidy::tool
