// Which of the user's functions an element of a control flow graph runs.
#ifndef TORCHTIDY_ICFG_TARGETS_H
#define TORCHTIDY_ICFG_TARGETS_H

#include "model/icfg/Supergraph.h"

namespace torchtidy::model {

/// What one call may run: each costs an activation.
inline constexpr unsigned MaxTargets = 8;

struct Target {
  const clang::FunctionDecl *Function = nullptr;
  llvm::SmallVector<const clang::Expr *, 4> Arguments;
  const clang::Expr *Object = nullptr;
  const clang::Expr *Callable = nullptr;
  const clang::Expr *Range = nullptr;
  const clang::VarDecl *Destroyed = nullptr;
  const clang::Stmt *Site = nullptr;
  /// Before is the target that it follows.
  ChainLink Link;
  bool IsThread = false, IsSpread = false;
  /// Runs after the target before it, not instead of it.
  bool Follows = false;
  /// May run any number of times, or not at all.
  bool Repeats = false;
  /// Any of the instances, or overloads, of what is called may be the one.
  bool IsAnyInstance = false;
};

/// Resolves the calls of one activation.
class Resolver {
public:
  /// The definition to expand for a callee, or null.
  using Expansion = llvm::function_ref<const clang::FunctionDecl *(
      const clang::FunctionDecl *)>;

  /// Expandable is called while the resolver lives.
  Resolver(Code &User, const Frame *F, Expansion Expandable)
      : User(User), F(F), Expandable(Expandable) {}

  /// Empty where the element calls nothing that is expanded. Of several, one
  /// runs, but for those that follow another.
  std::vector<Target> targets(const clang::CFGElement &Element);

private:
  /// The user's method, or what overrides it in this file.
  void resolveMethod(const clang::CXXMethodDecl *Method, const Target &Call,
                     bool IsVirtual, std::vector<Target> &Targets);
  void resolveCall(const clang::CallExpr *Call, std::vector<Target> &Targets);
  void resolveConstruction(const clang::CXXConstructExpr *Construct,
                           std::vector<Target> &Targets);
  /// The modules of the user that a Sequential or an AnyModule runs.
  void resolveChains(const clang::CallExpr *Call, std::vector<Target> &Targets);
  /// What a value that is called leads to: CallableTargets.cpp.
  void resolveCallable(const clang::Expr *Callable,
                       llvm::ArrayRef<const clang::Expr *> Arguments,
                       const Target &Call, std::vector<Target> &Targets);

  Code &User;
  const Frame *F;
  Expansion Expandable;
};

} // namespace torchtidy::model

#endif
