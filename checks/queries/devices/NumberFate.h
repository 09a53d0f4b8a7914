// What becomes of a number that the host has got: a loss that was read from a
// device, a time. Follows it through the text: variables, members, parameters,
// results.
#ifndef TORCHTIDY_QUERIES_DEVICES_NUMBERFATE_H
#define TORCHTIDY_QUERIES_DEVICES_NUMBERFATE_H

#include "model/execution/Execution.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/DenseSet.h"

namespace torchtidy::model {

/// A number is only recorded when nobody does anything else for its sake: it is
/// printed, summed up, collected, dropped, or asserted on. What is not
/// understood is taken to need it.
class NumberFate {
public:
  /// L: what is done with it behind that loop, or in some of its iterations
  /// (if (i % 100 == 0)), does not count. Null: everything counts.
  explicit NumberFate(const Execution &Entry, const flow::Loop *L = nullptr)
      : Entry(Entry), L(L) {}

  /// Of what E is, evaluated in F.
  bool isOnlyRecorded(const clang::Expr *E, const Frame *F);

private:
  /// A function that is looked at: of an activation, or, where F is null, of a
  /// call that is not expanded.
  struct Context {
    const flow::ControlFlow *Flow = nullptr;
    const Frame *F = nullptr;
    const Context *Caller = nullptr;
    const clang::Expr *Site = nullptr;
  };

  bool follow(const clang::Stmt *E, const Context &In);
  /// One step out: whether the value of Child goes on in Parent. Nothing where
  /// it does.
  std::optional<bool> stepOut(const clang::Stmt *Child,
                              const clang::Stmt *Parent, const Context &In);
  std::optional<bool> intoStatement(const clang::Stmt *Child,
                                    const clang::Stmt *Parent,
                                    const Context &In);
  std::optional<bool> intoBinary(const clang::Stmt *Child,
                                 const clang::BinaryOperator *Parent,
                                 const Context &In);
  std::optional<bool> intoConstruction(const clang::Stmt *Child,
                                       const clang::CXXConstructExpr *Made);
  std::optional<bool> intoCall(const clang::Stmt *Child,
                               const clang::CallExpr *Call, const Context &In);
  std::optional<bool> intoStd(const clang::Stmt *Child,
                              const clang::CallExpr *Call, const Context &In);
  std::optional<bool> intoUsers(const clang::Stmt *Child,
                                const clang::CallExpr *Call,
                                const clang::FunctionDecl *Definition,
                                const Context &In);
  bool returned(const clang::Stmt *Return, const Context &In);
  bool returnedToAll(const clang::FunctionDecl *F);
  bool keptIn(const clang::Expr *Target, const Context &In);
  bool keptIn(const clang::ValueDecl *D, const Context &In);
  bool keptInReferenced(const clang::FieldDecl *Member, const Context &In);
  bool mentionsIn(const flow::ControlFlow &Flow, const clang::ValueDecl *D,
                  const Context &In);
  /// Behind the loop, or in some of its iterations only.
  bool isElsewhere(const clang::Stmt *S, const flow::ControlFlow &Flow) const;

  const Execution &Entry;
  const flow::Loop *L;
  llvm::DenseSet<const clang::ValueDecl *> Seen;
  unsigned Depth = 0;
};

} // namespace torchtidy::model

#endif
