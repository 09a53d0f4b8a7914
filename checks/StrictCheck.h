// The bases of the checks that can also tell what is so and hardly matters.
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

/// A check with the option Minor (false): it also tells what costs little as
/// far as can be seen. torch-tidy sets it at level 2 (tellsMinor in
/// Registry.h).
class MinorCheck : public TorchCheck {
public:
  MinorCheck(llvm::StringRef Name, clang::tidy::ClangTidyContext *Context);
  void storeOptions(clang::tidy::ClangTidyOptions::OptionMap &Options) override;

protected:
  const bool Minor;
};

/// A check with both. Strict asks for Minor, too.
class GradedCheck : public StrictCheck {
public:
  GradedCheck(llvm::StringRef Name, clang::tidy::ClangTidyContext *Context);
  void storeOptions(clang::tidy::ClangTidyOptions::OptionMap &Options) override;

protected:
  template <class Fact> bool tells(const Fact &Found) const {
    return (Strict || !Found.IsStrictOnly) && (Minor || !Found.IsMinor);
  }

  const bool Minor;
};

} // namespace torchtidy

#endif
