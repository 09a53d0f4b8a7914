// Registers every row of Checks.def with clang-tidy.
#include "CheckHeaders.inc"
#include "clang-tidy/ClangTidyModule.h"
#include "clang-tidy/ClangTidyModuleRegistry.h"

namespace torchtidy {
namespace {

class TorchTidyModule : public clang::tidy::ClangTidyModule {
public:
  void
  addCheckFactories(clang::tidy::ClangTidyCheckFactories &Factories) override {
#define CHECK(Name, Class, Level, Folder, Priority, Evidence)                  \
  Factories.registerCheck<checks::Class>(Name);
#include "Checks.def"
  }
};

clang::tidy::ClangTidyModuleRegistry::Add<TorchTidyModule>
    Module("torch-module", "Checks for C++ code that uses LibTorch.");

} // namespace
} // namespace torchtidy
