#ifndef TORCHTIDY_TRANSFER_ALLOCATEONDEVICECHECK_H
#define TORCHTIDY_TRANSFER_ALLOCATEONDEVICECHECK_H

#include "TorchCheck.h"

namespace torchtidy::checks {

/// Options:
///   Strict (false): also speaks of what nothing in the file repeats.
class AllocateOnDeviceCheck : public TorchCheck {
public:
  AllocateOnDeviceCheck(llvm::StringRef Name,
                        clang::tidy::ClangTidyContext *Context);

  void storeOptions(clang::tidy::ClangTidyOptions::OptionMap &Options) override;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;

private:
  const bool Strict;
};

} // namespace torchtidy::checks

#endif
