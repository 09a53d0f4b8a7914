// Values as bytes, for other processes and for files: numbers of eight bytes,
// texts and lists with their length before them.
#ifndef TORCHTIDY_TOOL_CACHE_BYTES_H
#define TORCHTIDY_TOOL_CACHE_BYTES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Endian.h"
#include <cstdint>
#include <string>

namespace torchtidy::tool {

/// Writer and Reader go through a value the same way, so that a visitor which
/// is a template says once what belongs to it. Bytes, not text: messages and
/// paths need not be UTF-8.
class Writer {
public:
  static constexpr bool IsReading = false;
  std::string Bytes;

  void number(uint64_t Value) {
    char Buffer[sizeof(Value)];
    llvm::support::endian::write64le(Buffer, Value);
    Bytes.append(Buffer, sizeof(Value));
  }
  template <class T> void integer(T &Value) { number(uint64_t(Value)); }
  void text(const std::string &Value) {
    number(Value.size());
    Bytes += Value;
  }
  template <class List, class Visit> void list(List &Values, Visit Each) {
    number(Values.size());
    for (auto &Value : Values)
      Each(Value);
  }
};

/// What Writer has not made sets hasFailed(), and is read as nothing.
class Reader {
public:
  static constexpr bool IsReading = true;
  explicit Reader(llvm::StringRef Bytes) : Rest(Bytes) {}

  bool hasFailed() const { return Failed || !Rest.empty(); }
  void fail() { Failed = true; }

  uint64_t number() {
    if (Rest.size() < sizeof(uint64_t)) {
      Failed = true;
      return 0;
    }
    const uint64_t Value = llvm::support::endian::read64le(Rest.data());
    Rest = Rest.drop_front(sizeof(uint64_t));
    return Value;
  }
  template <class T> void integer(T &Value) { Value = T(number()); }
  void text(std::string &Value) {
    const uint64_t Size = number();
    Failed |= Size > Rest.size();
    if (Failed)
      return;
    Value = Rest.take_front(Size).str();
    Rest = Rest.drop_front(Size);
  }
  template <class List, class Visit> void list(List &Values, Visit Each) {
    for (uint64_t Left = number(); Left && !Failed; --Left)
      Each(Values.emplace_back());
  }

private:
  llvm::StringRef Rest;
  bool Failed = false;
};

} // namespace torchtidy::tool

#endif
