#include "report/SourceText.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace torchtidy::tool {

SourceText::SourceText(std::unique_ptr<MemoryBuffer> Given)
    : Text(std::move(Given)), Starts{0} {
  const StringRef All = Text->getBuffer();
  for (size_t At = All.find('\n'); At != StringRef::npos;
       At = All.find('\n', At + 1))
    Starts.push_back(At + 1);
}

SourcePlace SourceText::place(unsigned Offset) const {
  const StringRef All = Text->getBuffer();
  Offset = std::min<size_t>(Offset, All.size());
  SourcePlace Result;
  Result.Line =
      std::distance(Starts.begin(), llvm::upper_bound(Starts, Offset));
  const unsigned Start = Starts[Result.Line - 1];
  // Every byte of UTF-8 but those that go on with a code point.
  Result.Column += llvm::count_if(All.slice(Start, Offset), [](char Byte) {
    return (static_cast<unsigned char>(Byte) & 0xC0) != 0x80;
  });
  return Result;
}

StringRef SourceText::line(unsigned Number) const {
  if (Number < 1 || Number > Starts.size())
    return {};
  const StringRef Rest = Text->getBuffer().drop_front(Starts[Number - 1]);
  return Rest.take_until([](char C) { return C == '\n' || C == '\r'; });
}

const SourceText &SourceTexts::of(StringRef Path) {
  std::unique_ptr<SourceText> &Text = Known[Path];
  if (!Text) {
    ErrorOr<std::unique_ptr<MemoryBuffer>> Read = FS->getBufferForFile(Path);
    Text = std::make_unique<SourceText>(Read ? std::move(*Read)
                                             : MemoryBuffer::getMemBuffer(""));
  }
  return *Text;
}

} // namespace torchtidy::tool
