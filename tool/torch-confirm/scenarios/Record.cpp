#include "scenarios/Record.h"
#include "cli/Errors.h"

namespace torchtidy::confirm::scenarios {

Recorded record(const std::vector<std::string> &Command,
                const std::filesystem::path &, unsigned Seconds) {
  Recorded Result;
  Result.Run = execute(Command, {}, Seconds);
  return Result;
}

} // namespace torchtidy::confirm::scenarios
