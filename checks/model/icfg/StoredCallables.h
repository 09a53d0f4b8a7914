// What the file puts into variables, members and containers that are called:
// by declaration, wherever it is written and in whatever order it runs.
#ifndef TORCHTIDY_ICFG_STOREDCALLABLES_H
#define TORCHTIDY_ICFG_STOREDCALLABLES_H

#include "flow/Functions.h"
#include "llvm/ADT/SmallVector.h"

namespace torchtidy::model {

/// A std::function, a pointer to a function, a lambda, or a container of such.
bool isCallable(clang::QualType Type);

/// What an expression goes through to a variable or a member.
struct Designated {
  const clang::ValueDecl *Declaration = nullptr;
  /// Of a member the object, where it is not `this`.
  const clang::Expr *Object = nullptr;
  /// An element of the container that is designated.
  bool IsElement = false;
};
Designated designated(const clang::Expr *E);
/// What a name of a structured binding stands for, a member or get<I>(..); null
/// where E is none.
const clang::Expr *boundTo(const clang::Expr *E);
/// The variable that E names or points to, or null.
const clang::VarDecl *variableOf(const clang::Expr *E);

class StoredCallables {
public:
  explicit StoredCallables(const flow::UserFunctions &Functions);

  struct Store {
    const clang::Expr *What;
    /// The object whose member gets it, or whose method it is given to, where
    /// that is a variable that the store names.
    const clang::VarDecl *Object;
  };
  /// In source order, without what a variable is initialized with. A parameter
  /// gets the arguments of the calls in this file.
  llvm::ArrayRef<Store> in(const clang::ValueDecl *D) const;

  /// The functions and lambdas that are stored in what Call calls, seen without
  /// its callers.
  llvm::SmallVector<const clang::FunctionDecl *, 2>
  calledBy(const clang::CallExpr *Call) const;

private:
  class Collector;

  llvm::DenseMap<const clang::ValueDecl *, llvm::SmallVector<Store, 2>> Stores;
};

/// What a call calls, where that is a value: the std::function, or the pointer.
const clang::Expr *calledValue(const clang::CallExpr *Call);

} // namespace torchtidy::model

#endif
