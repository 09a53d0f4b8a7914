#ifndef TORCHTIDY_TRANSFER_ELEMENTACCESSINLOOPCHECK_H
#define TORCHTIDY_TRANSFER_ELEMENTACCESSINLOOPCHECK_H

#include "TorchCheck.h"

namespace torchtidy::checks {

/// Options:
///   Strict (false): also speaks of a loop that nothing repeats, of one beside
///   the passes of a network on the CPU, and of one that makes text.
class ElementAccessInLoopCheck : public TorchCheck {
public:
  ElementAccessInLoopCheck(llvm::StringRef Name,
                           clang::tidy::ClangTidyContext *Context);
  void storeOptions(clang::tidy::ClangTidyOptions::OptionMap &Options) override;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;

private:
  const bool Strict;
};

} // namespace torchtidy::checks

#endif
