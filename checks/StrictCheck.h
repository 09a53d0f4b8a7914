// The base of the checks that can also tell what is so and hardly matters.
#ifndef TORCHTIDY_STRICTCHECK_H
#define TORCHTIDY_STRICTCHECK_H

#include "TorchCheck.h"

namespace torchtidy {

/// A check with the option Strict (false). What it adds each check says.
class StrictCheck : public TorchCheck {
public:
  StrictCheck(llvm::StringRef Name, clang::tidy::ClangTidyContext *Context);
  void storeOptions(clang::tidy::ClangTidyOptions::OptionMap &Options) override;

protected:
  const bool Strict;
};

} // namespace torchtidy

#endif
