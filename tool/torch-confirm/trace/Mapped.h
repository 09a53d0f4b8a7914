// A trace's file in memory.
#ifndef TORCHTIDY_CONFIRM_TRACE_MAPPED_H
#define TORCHTIDY_CONFIRM_TRACE_MAPPED_H

#include "TraceFile.h"

#include <functional>

namespace torchtidy::confirm::trace {

template <typename T> auto read(const std::atomic<T> &Counter) {
  return Counter.load(std::memory_order_acquire);
}

/// Read only.
class Mapping {
public:
  Mapping() = default;
  ~Mapping();
  Mapping(const Mapping &) = delete;
  Mapping &operator=(const Mapping &) = delete;

  /// \returns what is wrong with the file, or nothing.
  std::string open(const std::string &Path);

  const Header &header() const { return at<Header>(0); }
  template <typename T> const T &at(uint64_t Offset, uint64_t Index = 0) const {
    return reinterpret_cast<const T *>(Data + Offset)[Index];
  }
  std::string text(TextOffset Offset) const;

private:
  std::string map(int File);

  const char *Data = nullptr;
};

/// \param Place the place of a site of the file among those that are read; None
/// where it is not.
TimelineData timelineOf(const Mapping &File,
                        const std::function<uint32_t(uint32_t)> &Place);

} // namespace torchtidy::confirm::trace

#endif
