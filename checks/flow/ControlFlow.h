// The control flow graph of one function, with its graph algorithms.
#ifndef TORCHTIDY_FLOW_CONTROLFLOW_H
#define TORCHTIDY_FLOW_CONTROLFLOW_H

#include "flow/Digraph.h"
#include "clang/AST/Decl.h"
#include "clang/AST/ParentMap.h"
#include "clang/Analysis/CFG.h"
#include "llvm/ADT/DenseMap.h"
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

  /// What gives a member its value: that of the class where the constructor
  /// names none. Null where nothing is written.
  static const clang::Expr *
  writtenInitializer(const clang::CXXCtorInitializer &Init);

  /// The nearest statement around S, inside the function; null for the body,
  /// and for the whole of an initializer.
  const clang::Stmt *parent(const clang::Stmt *S) const;
  /// Outer is S, or around it.
  bool isInside(const clang::Stmt *S, const clang::Stmt *Outer) const;
  /// S is evaluated as a whole, no part of another expression or declaration:
  /// the temporaries that it makes end with it.
  bool isFullExpression(const clang::Stmt *S) const;
  /// S is all that a constructor gives a member.
  bool isInitializer(const clang::Stmt *S) const;
  /// The statement around S whose parent is a compound statement, a loop, a
  /// branch, a label or the function: what a new statement can stand beside.
  const clang::Stmt *statement(const clang::Stmt *S) const;

  /// Where a statement is an element: in one block as a rule, in several where
  /// Clang copies it; nowhere where it is not in the graph.
  struct Position {
    const clang::CFGBlock *Block;
    unsigned Index;
  };
  llvm::ArrayRef<Position> positions(const clang::Stmt *S) const;
  /// The range loop whose variable V is, or null.
  const clang::CXXForRangeStmt *rangeLoop(const clang::VarDecl *V) const;
  /// The graph does not have all that is written: branches that an
  /// instantiation has dropped, captured statements.
  bool hasUnseenParts() const { return UnseenParts; }

private:
  /// What is asked for once for each statement is looked up: a generated
  /// function has thousands.
  void index();
  /// The nearest around S that is no mere wrapper of it.
  const clang::Stmt *around(const clang::Stmt *S) const;

  const clang::FunctionDecl *Function = nullptr;
  std::unique_ptr<clang::CFG> Graph;
  std::unique_ptr<clang::ParentMap> Parents;
  llvm::DenseMap<const clang::Stmt *, llvm::SmallVector<Position, 1>> Positions;
  llvm::DenseMap<const clang::VarDecl *, const clang::CXXForRangeStmt *>
      RangeLoops;
  bool UnseenParts = false;
};

} // namespace torchtidy::flow

#endif
