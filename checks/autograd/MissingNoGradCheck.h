#ifndef TORCHTIDY_AUTOGRAD_MISSINGNOGRADCHECK_H
#define TORCHTIDY_AUTOGRAD_MISSINGNOGRADCHECK_H

#include "TorchCheck.h"

namespace torchtidy::checks {

/// Options:
///   Strict (false): also speaks where nothing in the file shows that a forward
///   pass is evaluation and its callers lie elsewhere.
class MissingNoGradCheck : public TorchCheck {
public:
  MissingNoGradCheck(llvm::StringRef Name,
                     clang::tidy::ClangTidyContext *Context);
  void storeOptions(clang::tidy::ClangTidyOptions::OptionMap &Options) override;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;

private:
  const bool Strict;
};

} // namespace torchtidy::checks

#endif
