#include "Frames.h"

using namespace llvm;

namespace torchtidy::tool {

constexpr StringLiteral Field = "Content-",
                        Size = "Content-Length: ", HeaderEnd = "\r\n\r\n";

void Frames::take(StringRef Bytes, Taker Message, Taker Other) {
  Pending += Bytes;
  for (;;) {
    const auto [Header, Rest] = StringRef(Pending).split(HeaderEnd);
    size_t Length = 0;
    // Another field may stand before the size.
    if (!Header.starts_with(Field) || Header.size() == Pending.size() ||
        !Header.contains(Size) ||
        Header.drop_front(Header.find(Size) + Size.size())
            .consumeInteger(10, Length))
      break;
    if (Rest.size() < Length)
      return;
    Message(Rest.take_front(Length));
    Pending = Rest.drop_front(Length).str();
  }
  // Part of a header: its end is still to come.
  if (Pending.empty() || StringRef(Pending).starts_with(Field) ||
      Field.starts_with(Pending))
    return;
  Other(Pending);
  Pending.clear();
}

} // namespace torchtidy::tool
