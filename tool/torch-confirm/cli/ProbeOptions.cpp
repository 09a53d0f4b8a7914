#include "cli/ProbeOptions.h"
#include "probe/Build.h"
#include "support/Errors.h"
#include "support/Paths.h"
#include <cstdlib>
#include <iostream>

namespace torchtidy::confirm {

void ProbeOptions::addOptions(CLI::App &App) {
  App.add_option("--libtorch", LibTorch,
                 "The folder of LibTorch with include/ and lib/ (default: "
                 "that of the library which the program loads)")
      ->type_name("FOLDER");
  App.add_option("--compiler", Compiler,
                 "The C++ compiler for the probe (default: $CXX, then c++)")
      ->type_name("FILE");
  App.add_option("--cache-dir", Cache,
                 "Where probes that were built are kept (default: "
                 "$TORCH_TIDY_CACHE, then torch-tidy in the user's cache)")
      ->take_last()
      ->type_name("FOLDER");
}

std::string ProbeOptions::build(const std::string &LibTorchFolder) const {
  std::string Program = Compiler;
  if (Program.empty())
    if (const char *Wish = std::getenv("CXX"))
      Program = Wish;
  if (Program.empty())
    Program = "c++";
  const std::string Folder =
      Cache.empty() ? (cacheFolder() / "probe").string() : Cache;
  const ProbeBuild Done =
      buildProbe((dataFolder() / "probe").string(), LibTorchFolder, Program,
                 Folder, [](const std::string &For) {
                   std::cerr << "torch-confirm: " << For << '\n';
                 });
  if (Done.Path.empty())
    throw UserError(Done.Error);
  return Done.Path;
}

} // namespace torchtidy::confirm
