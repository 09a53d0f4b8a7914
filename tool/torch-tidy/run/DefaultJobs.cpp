#include "run/Pool.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Threading.h"
#include <algorithm>
#include <optional>

using namespace llvm;

namespace torchtidy::tool {
namespace {

/// The number in a file that holds nothing else; empty for "max" and the like.
std::optional<uint64_t> numberIn(StringRef Path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> Text =
      MemoryBuffer::getFileAsStream(Path);
  uint64_t Number;
  if (!Text || (*Text)->getBuffer().trim().getAsInteger(10, Number))
    return std::nullopt;
  return Number;
}

/// Empty if nothing says.
std::optional<uint64_t> freeMemory() {
  std::optional<uint64_t> Free;
  if (ErrorOr<std::unique_ptr<MemoryBuffer>> Text =
          MemoryBuffer::getFileAsStream("/proc/meminfo")) {
    StringRef Rest = (*Text)->getBuffer();
    Rest = Rest.drop_front(std::min(Rest.find("MemAvailable:"), Rest.size()));
    Rest.consume_front("MemAvailable:");
    Rest = Rest.ltrim();
    uint64_t Kilobytes;
    if (!Rest.consumeInteger(10, Kilobytes))
      Free = Kilobytes * 1024;
  }
  // A container's limit. What it uses now says nothing: most of that is the
  // cache of files, which gives way.
  if (const std::optional<uint64_t> Limit =
          numberIn("/sys/fs/cgroup/memory.max"))
    Free = Free ? std::min(*Free, *Limit) : *Limit;
  return Free;
}

} // namespace

unsigned defaultJobs(uint64_t BytesPerJob) {
  const unsigned Processors =
      std::max(1u, hardware_concurrency().compute_thread_count());
  const std::optional<uint64_t> Free = freeMemory();
  if (!Free)
    return Processors;
  return std::clamp<uint64_t>(*Free / BytesPerJob, 1, Processors);
}

} // namespace torchtidy::tool
