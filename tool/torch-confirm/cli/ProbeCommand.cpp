#include "cli/Command.h"
#include "cli/ProbeOptions.h"
#include "run/LibTorch.h"
#include "run/Target.h"
#include "support/Errors.h"
#include "support/Paths.h"
#include <filesystem>
#include <iostream>

namespace fs = std::filesystem;

namespace torchtidy::confirm {
namespace {

class ProbeCommand : public Command {
public:
  CLI::App *add(CLI::App &Program) override {
    CLI::App *App = Program.add_subcommand(
        "probe", "Compiles the probe and says how to load it by hand");
    App->add_option("program", Watched,
                    "The program that is to be watched, to find its LibTorch")
        ->type_name("PROGRAM");
    Options.addOptions(*App);
    return App;
  }

  int run() override {
    std::string LibTorch = Options.libTorch();
    if (!Watched.empty())
      LibTorch = inspect(Watched, LibTorch).LibTorch;
    else if (LibTorch.empty())
      throw UserError("say for which LibTorch: --libtorch=FOLDER, or the "
                      "program that is to be watched");
    else if (versionOfHeaders(LibTorch).empty())
      throw UserError("'" + LibTorch +
                      "' (--libtorch) is no LibTorch: it has "
                      "no include/torch");
    const std::string Path =
        Options.build(fs::absolute(LibTorch).lexically_normal().string());
    std::cout << Path << "\n\n"
              << "Preloaded:\n"
              << "  TORCH_CONFIRM_TRACE=trace LD_PRELOAD=" << Path
              << " ./program\n"
              << "Linked, with CMake:\n"
              << "  include("
              << (dataFolder() / "probe" / "TorchConfirm.cmake").string()
              << ")\n"
              << "  torch_confirm_probe(program)\n"
              << "The trace it leaves: torch-confirm judge --trace trace "
                 "--findings FILE\n";
    return ExitSuccess;
  }

private:
  std::string Watched;
  ProbeOptions Options;
};

} // namespace

std::unique_ptr<Command> makeProbeCommand() {
  return std::make_unique<ProbeCommand>();
}

} // namespace torchtidy::confirm
