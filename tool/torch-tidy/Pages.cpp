#include "Pages.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace torchtidy::tool {
namespace {

constexpr llvm::StringLiteral StockPages =
    "https://releases.llvm.org/19.1.0/tools/clang/tools/extra/docs/clang-tidy/"
    "checks/";

/// On one line.
std::string joined(StringRef Paragraph) {
  SmallVector<StringRef> Words;
  SplitString(Paragraph, Words);
  return join(Words, " ");
}

} // namespace

std::string pagePath(StringRef Check, StringRef Executable) {
  SmallString<256> Page = sys::path::parent_path(Executable);
  sys::path::append(Page, TORCH_TIDY_DATA_FROM_BIN, "docs", "checks",
                    Check + ".md");
  sys::path::remove_dots(Page, /*remove_dot_dot=*/true);
  return std::string(Page);
}

ErrorOr<std::unique_ptr<MemoryBuffer>> readPage(StringRef Check,
                                                StringRef Executable) {
  return MemoryBuffer::getFile(pagePath(Check, Executable));
}

PageSummary summaryOf(StringRef Page) {
  PageSummary Result;
  // The title, the sentences that say what is found, and
  // "Level 0 (on by default), wrong results. Fix-it: yes."
  SmallVector<StringRef> Paragraphs;
  Page.split(Paragraphs, "\n\n");
  if (Paragraphs.size() < 3)
    return Result;
  const std::string Finds = joined(Paragraphs[1]);
  Result.Finds = Finds.substr(0, Finds.find(". "));
  if (StringRef(Finds).contains(". "))
    Result.Finds += '.';
  for (StringRef Each : Paragraphs) {
    if (!Each.starts_with("Level "))
      continue;
    const std::string Line = joined(Each);
    const StringRef Harm = StringRef(Line).split("), ").second;
    Result.Harm = Harm.take_until([](char C) { return C == '.' || C == ','; });
    Result.HasFix = StringRef(Line).contains("Fix-it: yes");
    break;
  }
  return Result;
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

} // namespace torchtidy::tool
