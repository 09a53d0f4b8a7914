// The program in torch terms: the root of the model. One per AST.
#ifndef TORCHTIDY_MODEL_PROGRAM_H
#define TORCHTIDY_MODEL_PROGRAM_H

#include "clang/AST/ASTContext.h"

namespace torchtidy::model {

class Program {
public:
  explicit Program(clang::ASTContext &Context) : Context(Context) {}
  clang::ASTContext &context() const { return Context; }
  const clang::SourceManager &sourceManager() const {
    return Context.getSourceManager();
  }

private:
  clang::ASTContext &Context;
};

} // namespace torchtidy::model

#endif
