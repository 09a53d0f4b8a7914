#include "Explain.h"
#include "CheckNames.h"
#include "Messages.h"
#include "Registry.h"
#include "clang-tidy/ClangTidy.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace torchtidy::tool {
namespace {

constexpr StringLiteral StockPages =
    "https://releases.llvm.org/19.1.0/tools/clang/tools/extra/docs/clang-tidy/"
    "checks/";

int printPage(StringRef Check, StringRef Executable) {
  // The build folder has the same layout as an installation.
  SmallString<256> Page = sys::path::parent_path(Executable);
  sys::path::append(Page, TORCH_TIDY_DATA_FROM_BIN, "docs", "checks",
                    Check + ".md");
  sys::path::remove_dots(Page, /*remove_dot_dot=*/true);
  ErrorOr<std::unique_ptr<MemoryBuffer>> Text = MemoryBuffer::getFile(Page);
  if (!Text) {
    error() << "the page of " << Check << " is not where it should be, '"
            << Page << "': " << Text.getError().message() << '\n';
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

int explain(StringRef Topic, StringRef Executable) {
  if (Topic == "levels")
    return printLevels();
  if (findCheck(Topic))
    return printPage(Topic, Executable);

  if (Topic.consume_front("clang-diagnostic-")) {
    outs() << "A warning of the compiler, -W" << Topic << ":\n"
           << "https://releases.llvm.org/19.1.0/tools/clang/docs/"
              "DiagnosticsReference.html#w"
           << Topic << '\n';
    return 0;
  }
  StringSet<> Known = clang::tidy::getAllChecksAndOptions().Names;
  if (Known.contains(Topic)) {
    StringRef Module = Topic.starts_with("clang-analyzer-")
                           ? StringRef("clang-analyzer")
                           : Topic.split('-').first;
    outs() << "A check of clang-tidy itself:\n"
           << StockPages << Module << '/' << Topic.drop_front(Module.size() + 1)
           << ".html\n";
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
