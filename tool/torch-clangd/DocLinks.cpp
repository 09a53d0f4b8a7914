#include "DocLinks.h"
#include "report/Uri.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace torchtidy::tool {

/// As clangd 19 writes the address of the page of torch-<check>.
constexpr StringLiteral StockAddress =
    "https://clang.llvm.org/extra/clang-tidy/checks/torch/";

std::string withDocLinks(StringRef Message, StringRef PageFolder) {
  std::string Result;
  while (!Message.empty()) {
    const size_t At = Message.find(StockAddress);
    Result += Message.take_front(At);
    if (At == StringRef::npos)
      break;
    Message = Message.drop_front(At + StockAddress.size());
    const StringRef Check =
        Message.take_until([](char C) { return !isAlnum(C) && C != '-'; });
    Message = Message.drop_front(Check.size());
    Message.consume_front(".html");
    SmallString<128> Page(PageFolder);
    sys::path::append(Page, "torch-" + Check + ".md");
    Result += "file://" + uriPath(Page);
  }
  return Result;
}

} // namespace torchtidy::tool
