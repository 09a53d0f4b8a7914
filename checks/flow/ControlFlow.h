// The control flow graph of one function, with its graph algorithms.
#ifndef TORCHTIDY_FLOW_CONTROLFLOW_H
#define TORCHTIDY_FLOW_CONTROLFLOW_H

#include "flow/Digraph.h"
#include "clang/AST/Decl.h"
#include "clang/AST/ParentMap.h"
#include "clang/Analysis/CFG.h"
#include <memory>

namespace torchtidy::flow {

class ControlFlow {
public:
  /// Functions with more blocks than this are not analysed. Found code of this
  /// size is generated.
  static constexpr unsigned MaxBlocks = 20000;

  /// Null where Clang cannot build a graph (code with errors) or the function
  /// is over the bound.
  static std::unique_ptr<ControlFlow> build(const clang::FunctionDecl *Function,
                                            clang::ASTContext &Context);

  const clang::FunctionDecl *function() const { return Function; }
  const clang::CFG &cfg() const { return *Graph; }

  /// The nearest statement around S, inside the function; null for the body.
  const clang::Stmt *parent(const clang::Stmt *S) const;
  /// Outer is S, or around it.
  bool isInside(const clang::Stmt *S, const clang::Stmt *Outer) const;
  /// The statement around S whose parent is a compound statement, a loop, a
  /// branch, a label or the function: what a new statement can stand beside.
  const clang::Stmt *statement(const clang::Stmt *S) const;

private:
  const clang::FunctionDecl *Function = nullptr;
  std::unique_ptr<clang::CFG> Graph;
  std::unique_ptr<clang::ParentMap> Parents;
};

} // namespace torchtidy::flow

#endif
