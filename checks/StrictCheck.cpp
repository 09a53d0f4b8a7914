#include "StrictCheck.h"

namespace torchtidy {

StrictCheck::StrictCheck(llvm::StringRef Name,
                         clang::tidy::ClangTidyContext *Context)
    : TorchCheck(Name, Context), Strict(boolOption("Strict", false)) {}

void StrictCheck::storeOptions(
    clang::tidy::ClangTidyOptions::OptionMap &Options) {
  storeBoolOption(Options, "Strict", Strict);
}

MinorCheck::MinorCheck(llvm::StringRef Name,
                       clang::tidy::ClangTidyContext *Context)
    : TorchCheck(Name, Context), Minor(boolOption("Minor", false)) {}

void MinorCheck::storeOptions(
    clang::tidy::ClangTidyOptions::OptionMap &Options) {
  storeBoolOption(Options, "Minor", Minor);
}

GradedCheck::GradedCheck(llvm::StringRef Name,
                         clang::tidy::ClangTidyContext *Context)
    : StrictCheck(Name, Context), Minor(Strict || boolOption("Minor", false)) {}

void GradedCheck::storeOptions(
    clang::tidy::ClangTidyOptions::OptionMap &Options) {
  StrictCheck::storeOptions(Options);
  storeBoolOption(Options, "Minor", Minor);
}

} // namespace torchtidy
