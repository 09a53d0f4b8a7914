#ifndef TORCHTIDY_TRANSFER_REPEATEDTRANSFERCHECK_H
#define TORCHTIDY_TRANSFER_REPEATEDTRANSFERCHECK_H

#include "TorchCheck.h"

namespace torchtidy::checks {

/// Options:
///   Strict (false): also speaks of a tensor that may be there, or of that
///   type, already.
class RepeatedTransferCheck : public TorchCheck {
public:
  RepeatedTransferCheck(llvm::StringRef Name,
                        clang::tidy::ClangTidyContext *Context);
  void storeOptions(clang::tidy::ClangTidyOptions::OptionMap &Options) override;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;

private:
  const bool Strict;
};

} // namespace torchtidy::checks

#endif
