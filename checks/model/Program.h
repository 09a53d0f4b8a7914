// The program in torch terms: the root of the model, one per AST. This is what
// a check asks.
#ifndef TORCHTIDY_MODEL_PROGRAM_H
#define TORCHTIDY_MODEL_PROGRAM_H

#include "model/Execution.h"
#include "model/Finding.h"
#include "clang/AST/ASTContext.h"

namespace torchtidy::model {

class Program {
public:
  explicit Program(clang::ASTContext &Context);

  clang::ASTContext &context() const { return Context; }
  const clang::SourceManager &sourceManager() const {
    return Context.getSourceManager();
  }

  /// The ways into the program: main, functions whose callers lie elsewhere,
  /// and what no other way leads to. Those that met a bound are left out. Made
  /// when first asked for.
  llvm::ArrayRef<std::unique_ptr<Execution>> executions();
  /// Those whose cost somebody bears: all but those that begin in a test.
  std::vector<const Execution *> executionsBesideTests();
  /// No way was left out, and no function that has no control flow.
  bool isComplete() {
    (void)executions();
    return !LeftOut;
  }

  /// The user's functions, as they are written.
  Code &code();

  /// What was not understood may hold whatever would matter.
  bool hasErrors() const {
    return Context.getDiagnostics().hasErrorOccurred();
  }

  /// The source text of an expression, on one line.
  std::string text(const clang::Expr *E) const;

private:
  clang::ASTContext &Context;
  std::unique_ptr<Code> User;
  std::vector<std::unique_ptr<Execution>> Executions;
  bool IsMade = false, LeftOut = false;
};

} // namespace torchtidy::model

#endif
