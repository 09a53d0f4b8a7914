#include "ListChecks.h"
#include "Levels.h"
#include "Messages.h"
#include "Pages.h"
#include "Registry.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace torchtidy::tool {
namespace {

PageSummary summaryOfCheck(StringRef Check, StringRef Executable) {
  const ErrorOr<std::unique_ptr<MemoryBuffer>> Page =
      readPage(Check, Executable);
  return Page ? summaryOf((*Page)->getBuffer()) : PageSummary();
}

void printNames(ArrayRef<std::string> Enabled) {
  outs() << "Enabled checks:";
  for (StringRef Check : Enabled)
    outs() << "\n    " << Check;
  outs() << "\n\n";
}

void printTable(ArrayRef<std::string> Enabled, StringRef Executable) {
  size_t Width = 0;
  for (const CheckInfo &Check : registry())
    Width = std::max(Width, Check.Name.size());
  for (unsigned Level = 0; Level <= HighestLevel; ++Level) {
    bool IsFirst = true;
    for (const CheckInfo &Check : registry()) {
      if (Check.Level != Level || !is_contained(Enabled, Check.Name))
        continue;
      if (IsFirst)
        outs() << "Level " << Level << ", " << levelTitle(Level) << ":\n";
      IsFirst = false;
      const PageSummary Page = summaryOfCheck(Check.Name, Executable);
      outs() << "  " << left_justify(Check.Name, Width) << "  "
             << (Page.HasFix ? "fix  " : "     ") << Page.Finds << '\n';
    }
  }
  bool IsFirst = true;
  for (StringRef Check : Enabled) {
    if (findCheck(Check))
      continue;
    if (IsFirst)
      outs() << "Checks of clang-tidy itself:\n";
    IsFirst = false;
    outs() << "  " << Check << '\n';
  }
}

json::Value toJson(ArrayRef<std::string> Enabled, StringRef Executable) {
  json::Array All;
  for (const CheckInfo &Check : registry()) {
    PageSummary Page = summaryOfCheck(Check.Name, Executable);
    All.push_back(json::Object{{"name", Check.Name},
                               {"level", Check.Level},
                               {"default", Check.Level <= DefaultLevel},
                               {"enabled", is_contained(Enabled, Check.Name)},
                               {"family", Check.Folder},
                               {"harm", std::move(Page.Harm)},
                               {"fix", Page.HasFix},
                               {"finds", std::move(Page.Finds)},
                               {"evidence", Check.Evidence},
                               {"page", pagePath(Check.Name, Executable)}});
  }
  for (StringRef Check : Enabled)
    if (!findCheck(Check))
      All.push_back(json::Object{
          {"name", Check}, {"enabled", true}, {"page", stockPage(Check)}});
  return All;
}

} // namespace

int listChecks(ArrayRef<std::string> Enabled, ListStyle Style, bool AllowNone,
               StringRef Executable) {
  if (Style == ListStyle::Json) {
    outs() << formatv("{0:2}", toJson(Enabled, Executable)) << '\n';
    return 0;
  }
  if (Enabled.empty() && !AllowNone) {
    errs() << "No checks enabled.\n";
    return 1;
  }
  if (Style == ListStyle::Table)
    printTable(Enabled, Executable);
  else
    printNames(Enabled);
  return 0;
}

} // namespace torchtidy::tool
