#include "Explain.h"
#include "CheckNames.h"
#include "Messages.h"
#include "Registry.h"
#include "clang-tidy/ClangTidy.h"
#include "llvm/Support/Path.h"
#include <cstring>

using namespace llvm;

namespace torchtidy::tool {
namespace {

constexpr StringLiteral StockPages =
    "https://releases.llvm.org/19.1.0/tools/clang/tools/extra/docs/clang-tidy/"
    "checks/";

SmallString<256> pagePath(StringRef Check, StringRef Executable) {
  // The build folder has the same layout as an installation.
  SmallString<256> Page = sys::path::parent_path(Executable);
  sys::path::append(Page, TORCH_TIDY_DATA_FROM_BIN, "docs", "checks",
                    Check + ".md");
  sys::path::remove_dots(Page, /*remove_dot_dot=*/true);
  return Page;
}

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
  constexpr StringLiteral Titles[] = {"defects", "measured costs",
                                      "advice that depends on the case"};
  outs() << "A level includes those below it; " << DefaultLevel
         << " is the default.\n";
  for (unsigned Level = 0; Level <= HighestLevel; ++Level) {
    outs() << "\nlevel " << Level << ", " << Titles[Level] << ":\n";
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

ErrorOr<std::unique_ptr<MemoryBuffer>> readPage(StringRef Check,
                                                StringRef Executable) {
  return MemoryBuffer::getFile(pagePath(Check, Executable));
}

std::string stockPage(StringRef Check) {
  if (Check.consume_front("clang-diagnostic-"))
    return ("https://releases.llvm.org/19.1.0/tools/clang/docs/"
            "DiagnosticsReference.html#w" +
            Check)
        .str();
  const StringRef Module = Check.starts_with("clang-analyzer-")
                               ? StringRef("clang-analyzer")
                               : Check.split('-').first;
  return (StockPages + Module + "/" + Check.drop_front(Module.size() + 1) +
          ".html")
      .str();
}

int explain(StringRef Topic, StringRef Executable) {
  if (Topic == "levels")
    return printLevels();
  if (findCheck(Topic))
    return printPage(Topic, Executable);

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
  StringRef Closest = closestName(Topic, Known);
  if (!Closest.empty())
    errs() << "; did you mean '" << Closest << "'?";
  else
    errs() << "; --list-checks --checks='*' lists all";
  errs() << '\n';
  return 1;
}

} // namespace torchtidy::tool
