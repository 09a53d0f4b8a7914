#include "export/PickleWriter.h"
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>

namespace torchtidy::confirm {
namespace {

// Names as in Python's pickletools.
constexpr const char *Proto2 = "\x80\x02", *Stop = ".", *NewTrue = "\x88",
                     *NewFalse = "\x89", *BinInt1 = "K", *BinInt2 = "M",
                     *BinInt = "J", *Long1 = "\x8a", *BinFloat = "G",
                     *BinUnicode = "X", *EmptyList = "]", *EmptyDict = "}",
                     *Mark = "(", *Appends = "e", *SetItems = "u",
                     *BinPut = "q", *LongBinPut = "r", *BinGet = "h",
                     *LongBinGet = "j";

/// As many items are put in at a time as Python does: the viewer's reader
/// passes them as arguments, of which there may not be too many.
constexpr uint32_t Batch = 1000;

std::string asUtf8(const std::string &Text) {
  using nlohmann::json;
  return json::parse(
             json(Text).dump(-1, ' ', false, json::error_handler_t::replace))
      .get<std::string>();
}

} // namespace

PickleWriter::PickleWriter(std::ostream &Out) : Out(Out) { Out << Proto2; }

void PickleWriter::finish() { Out << Stop; }

void PickleWriter::bytes(uint64_t Value, int Count) {
  for (int I = 0; I < Count; ++I)
    Out.put(char(Value >> (8 * I) & 0xff));
}

void PickleWriter::value(bool Of) { Out << (Of ? NewTrue : NewFalse); }

void PickleWriter::value(int64_t Of) {
  if (Of >= 0 && Of <= 0xff) {
    Out << BinInt1;
    bytes(uint64_t(Of), 1);
  } else if (Of >= 0 && Of <= 0xffff) {
    Out << BinInt2;
    bytes(uint64_t(Of), 2);
  } else if (Of >= std::numeric_limits<int32_t>::min() &&
             Of <= std::numeric_limits<int32_t>::max()) {
    Out << BinInt;
    bytes(uint64_t(Of), 4);
  } else {
    Out << Long1;
    bytes(8, 1);
    bytes(uint64_t(Of), 8);
  }
}

void PickleWriter::value(double Of) {
  uint64_t Bits;
  std::memcpy(&Bits, &Of, sizeof(Bits));
  Out << BinFloat;
  for (int I = 7; I >= 0; --I)
    bytes(Bits >> (8 * I), 1);
}

void PickleWriter::value(const std::string &Of) {
  if (auto It = Strings.find(Of); It != Strings.end())
    return again(It->second);
  const std::string Text = asUtf8(Of);
  Out << BinUnicode;
  bytes(Text.size(), 4);
  Out << Text;
  Strings.emplace(Of, keep());
}

uint32_t PickleWriter::keep() {
  Out << (Kept <= 0xff ? BinPut : LongBinPut);
  bytes(Kept, Kept <= 0xff ? 1 : 4);
  return Kept++;
}

void PickleWriter::again(uint32_t Number) {
  Out << (Number <= 0xff ? BinGet : LongBinGet);
  bytes(Number, Number <= 0xff ? 1 : 4);
}

void PickleWriter::fill(const char *Begin, const char *Close,
                        const std::function<void()> &Fill) {
  Out << Begin;
  Open Own = {Close, 0}, *Outer = Innermost;
  Innermost = &Own;
  Fill();
  Innermost = Outer;
  if (Own.Waiting)
    Out << Close;
}

void PickleWriter::next(uint32_t Most) {
  if (Innermost->Waiting == Most) {
    Out << Innermost->Close;
    Innermost->Waiting = 0;
  }
  if (Innermost->Waiting++ == 0)
    Out << Mark;
}

void PickleWriter::list(const std::function<void()> &Fill) {
  fill(EmptyList, Appends, Fill);
}

void PickleWriter::item() { next(Batch); }

void PickleWriter::dictionary(const std::function<void()> &Fill) {
  fill(EmptyDict, SetItems, Fill);
}

void PickleWriter::key(const char *Name) {
  next(Batch);
  value(Name);
}

} // namespace torchtidy::confirm
