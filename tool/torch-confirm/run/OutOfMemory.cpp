#include "run/OutOfMemory.h"
#include <fstream>
#include <string>

namespace torchtidy::confirm {
namespace {

/// The number behind a word that begins a line.
std::optional<uint64_t> numberIn(const std::string &File,
                                 const std::string &Word) {
  std::ifstream In(File);
  std::string Name;
  for (uint64_t Number; In >> Name >> Number;)
    if (Name == Word)
      return Number;
  return std::nullopt;
}

} // namespace

std::optional<uint64_t> killedForMemory() {
  // "0::/user.slice/...": of version 2.
  std::ifstream Groups("/proc/self/cgroup");
  for (std::string Line; std::getline(Groups, Line);)
    if (Line.rfind("0::", 0) == 0)
      if (const auto Number = numberIn(
              "/sys/fs/cgroup" + Line.substr(3) + "/memory.events", "oom_kill"))
        return Number;
  return numberIn("/proc/vmstat", "oom_kill");
}

} // namespace torchtidy::confirm
