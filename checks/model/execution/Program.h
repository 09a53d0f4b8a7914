// The program in torch terms: the root of the model, one per AST. This is what
// a check asks.
#ifndef TORCHTIDY_EXECUTION_PROGRAM_H
#define TORCHTIDY_EXECUTION_PROGRAM_H

#include "model/execution/Execution.h"
#include "model/execution/Shortfall.h"
#include "clang/AST/ASTContext.h"

namespace torchtidy::model {

class Program {
public:
  explicit Program(clang::ASTContext &Context);

  clang::ASTContext &context() const { return Context; }
  const clang::SourceManager &sourceManager() const {
    return Context.getSourceManager();
  }

  /// The entries of the program: main, functions whose callers lie elsewhere,
  /// and what no other entry leads to. One that meets a bound is looked at with
  /// fewer of the functions that it calls, or none, and those left out are
  /// entries themselves; one that meets it even so is left out. Made when first
  /// asked for.
  llvm::ArrayRef<std::unique_ptr<Execution>> executions();

  /// The work that all entries of a file may take; those that come after it are
  /// left out.
  static constexpr unsigned long MaxWork = 10 * Execution::MaxWork;
  /// Of the entries, once they have been asked for.
  llvm::ArrayRef<Shortfall> shortfalls() const { return Shortfalls; }
  /// Those whose cost somebody bears: all but those that begin in a test or in
  /// a function that the program never runs.
  std::vector<const Execution *> executionsThatCost();
  /// No entry was left out in whole or in part, and no function that has no
  /// control flow.
  bool isComplete() {
    (void)executions();
    return Shortfalls.empty();
  }

  /// The user's functions, as they are written.
  Code &code();

  /// What was not understood may hold whatever would matter.
  bool hasErrors() const { return Context.getDiagnostics().hasErrorOccurred(); }

  /// The source text of an expression, on one line.
  std::string text(const clang::Expr *E) const;

private:
  clang::ASTContext &Context;
  std::unique_ptr<Code> User;
  std::vector<std::unique_ptr<Execution>> Executions;
  std::vector<Shortfall> Shortfalls;
  bool IsMade = false;
};

} // namespace torchtidy::model

#endif
