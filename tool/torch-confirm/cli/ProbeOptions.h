// The probe for a program: found in the cache, or compiled.
#ifndef TORCHTIDY_CONFIRM_CLI_PROBEOPTIONS_H
#define TORCHTIDY_CONFIRM_CLI_PROBEOPTIONS_H

#include <CLI/CLI.hpp>
#include <string>

namespace torchtidy::confirm {

class ProbeOptions {
public:
  void addOptions(CLI::App &App);

  /// --libtorch; empty where it was not given.
  const std::string &libTorch() const { return LibTorch; }
  /// The library to preload. Throws UserError with what the compiler says.
  std::string build(const std::string &LibTorchFolder) const;

private:
  std::string LibTorch, Compiler, Cache;
};

} // namespace torchtidy::confirm

#endif
