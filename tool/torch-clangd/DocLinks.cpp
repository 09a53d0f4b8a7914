#include "DocLinks.h"
#include "FixTitles.h"
#include "report/Uri.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace torchtidy::tool {

/// As clangd 19 writes the address of the page of torch-<check>.
constexpr StringLiteral StockAddress =
    "https://clang.llvm.org/extra/clang-tidy/checks/torch/";
constexpr StringLiteral Header = "Content-Length: ", HeaderEnd = "\r\n\r\n";

std::string DocLinks::linked(StringRef Message, StringRef PageFolder) {
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

void DocLinks::write_impl(const char *Data, size_t Size) {
  Pending.append(Data, Size);
  for (;;) {
    StringRef Rest = Pending;
    size_t Length = 0;
    if (!Rest.consume_front(Header) || Rest.consumeInteger(10, Length) ||
        !Rest.consume_front(HeaderEnd))
      break;
    if (Rest.size() < Length)
      return;
    const std::string Body =
        withFixTitles(linked(Rest.take_front(Length), PageFolder));
    To << Header << Body.size() << HeaderEnd << Body;
    To.flush();
    Pending = Rest.drop_front(Length).str();
  }
  // Part of a header: its end is still to come.
  if (Pending.empty() || StringRef(Pending).starts_with(Header) ||
      Header.starts_with(Pending))
    return;
  To << Pending;
  To.flush();
  Pending.clear();
}

} // namespace torchtidy::tool
