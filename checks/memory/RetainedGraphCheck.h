#ifndef TORCHTIDY_MEMORY_RETAINEDGRAPHCHECK_H
#define TORCHTIDY_MEMORY_RETAINEDGRAPHCHECK_H

#include "TorchCheck.h"

namespace torchtidy::checks {

/// Options:
///   Strict (false): also speaks of a place that is overwritten where a
///   backward() has gone through the graph, so that its nodes alone are kept.
class RetainedGraphCheck : public TorchCheck {
public:
  RetainedGraphCheck(llvm::StringRef Name,
                     clang::tidy::ClangTidyContext *Context);
  void storeOptions(clang::tidy::ClangTidyOptions::OptionMap &Options) override;

protected:
  std::vector<model::Finding> analyze(model::Program &Program) override;

private:
  const bool Strict;
};

} // namespace torchtidy::checks

#endif
