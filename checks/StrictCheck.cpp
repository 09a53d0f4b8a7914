#include "StrictCheck.h"

namespace torchtidy {

StrictCheck::StrictCheck(llvm::StringRef Name,
                         clang::tidy::ClangTidyContext *Context)
    : TorchCheck(Name, Context), Strict(boolOption("Strict", false)) {}

void StrictCheck::storeOptions(
    clang::tidy::ClangTidyOptions::OptionMap &Options) {
  storeBoolOption(Options, "Strict", Strict);
}

} // namespace torchtidy
