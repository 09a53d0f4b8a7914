#include "Streams.h"
#include "DocLinks.h"

using namespace llvm;

namespace torchtidy::tool {

void Answers::write_impl(const char *Data, size_t Size) {
  Cut.take(
      StringRef(Data, Size),
      [&](StringRef Message) {
        const std::string Body =
            Actions.answered(withDocLinks(Message, PageFolder));
        To << "Content-Length: " << Body.size() << "\r\n\r\n" << Body;
        To.flush();
      },
      [&](StringRef Other) {
        To << Other;
        To.flush();
      });
}

void Requests::write_impl(const char *Data, size_t Size) {
  const StringRef Bytes(Data, Size);
  if (To)
    *To << Bytes;
  Cut.take(
      Bytes, [&](StringRef Message) { Actions.asked(Message); },
      [](StringRef /*Other*/) {});
}

} // namespace torchtidy::tool
