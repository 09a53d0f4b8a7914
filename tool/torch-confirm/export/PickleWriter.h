// Python's pickle format, as far as plain data needs it, without building the
// data up first.
#ifndef TORCHTIDY_CONFIRM_PROFILE_PICKLEWRITER_H
#define TORCHTIDY_CONFIRM_PROFILE_PICKLEWRITER_H

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <unordered_map>

namespace torchtidy::confirm {

/// Protocol 2, and of it only what PyTorch's memory viewer reads: it has a
/// reader of its own, in JavaScript.
class PickleWriter {
public:
  /// Writes the beginning.
  explicit PickleWriter(std::ostream &Out);
  /// Writes the end; once, behind one value.
  void finish();

  void value(bool Of);
  void value(int64_t Of);
  void value(double Of);
  /// The second time a reference to the first. Bytes that are no UTF-8 are
  /// replaced.
  void value(const std::string &Of);
  void value(const char *Of) { value(std::string(Of)); }

  /// \p Fill calls item() before each item.
  void list(const std::function<void()> &Fill);
  void item();
  /// \p Fill calls key() before each value.
  void dictionary(const std::function<void()> &Fill);
  void key(const char *Name);
  template <typename T> void pair(const char *Name, const T &Of) {
    key(Name);
    value(Of);
  }

  /// Keeps the value that was just written; the number for again().
  uint32_t keep();
  void again(uint32_t Number);

private:
  /// A list or a dictionary that is being filled: what has been written of it
  /// since the last time that it was put in.
  struct Open {
    const char *Close;
    uint32_t Waiting;
  };

  void fill(const char *Begin, const char *Close,
            const std::function<void()> &Fill);
  void next(uint32_t Most);
  void bytes(uint64_t Value, int Count);

  std::ostream &Out;
  std::unordered_map<std::string, uint32_t> Strings;
  uint32_t Kept = 0;
  Open *Innermost = nullptr;
};

} // namespace torchtidy::confirm

#endif
