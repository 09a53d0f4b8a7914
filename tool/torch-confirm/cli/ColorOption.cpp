#include "cli/ColorOption.h"
#include <cstdlib>
#include <unistd.h>

namespace torchtidy::confirm {

void ColorOption::addOption(CLI::App &App) {
  App.add_option("--color", When,
                 "Whether the report has colours: 'auto' (the default: on a "
                 "terminal, unless NO_COLOR is set), 'always', 'never'")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN");
}

bool ColorOption::isOn(int File) const {
  if (When != "auto")
    return When == "always";
  // https://no-color.org: set and not empty.
  const char *NoColor = std::getenv("NO_COLOR");
  const char *Terminal = std::getenv("TERM");
  return File >= 0 && isatty(File) && !(NoColor && *NoColor) && Terminal &&
         *Terminal && std::string(Terminal) != "dumb";
}

} // namespace torchtidy::confirm
