// --color of a text.
#ifndef TORCHTIDY_CONFIRM_CLI_COLOROPTION_H
#define TORCHTIDY_CONFIRM_CLI_COLOROPTION_H

#include <CLI/CLI.hpp>
#include <string>

namespace torchtidy::confirm {

class ColorOption {
public:
  void addOption(CLI::App &App);
  /// \param File where the text goes; -1: to no terminal.
  bool isOn(int File) const;

private:
  std::string When = "auto";
};

} // namespace torchtidy::confirm

#endif
