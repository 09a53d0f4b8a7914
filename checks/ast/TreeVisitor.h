// Goes through declarations, with the statements, expressions and types below
// them. Where only statements are asked for, ast/Walk.h is lighter.
//
// Clang's RecursiveASTVisitor is a template that takes a compiler longer than
// any other code here: this is one instantiation of it, with virtual functions.
#ifndef TORCHTIDY_AST_TREEVISITOR_H
#define TORCHTIDY_AST_TREEVISITOR_H

#include "clang/AST/Decl.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/TypeLoc.h"

namespace torchtidy::ast {

class TreeVisitor {
public:
  /// What is gone through beside what is written.
  enum Also : unsigned {
    Nothing = 0,
    /// Implicit members, casts and calls.
    ImplicitCode = 1,
    /// What templates have been instantiated to, beside their patterns.
    Instantiations = 2,
  };
  explicit TreeVisitor(unsigned Beside = Nothing) : Beside(Beside) {}
  virtual ~TreeVisitor();

  /// Goes through D and all that is below it; false where a visit has ended
  /// that. Those who override it call it for the declarations to go into.
  virtual bool traverseDecl(clang::Decl *D);
  bool traverseStmt(clang::Stmt *S);

protected:
  /// Called for a node before those below it; false ends all.
  virtual bool visitDecl(clang::Decl *) { return true; }
  virtual bool visitStmt(clang::Stmt *) { return true; }
  virtual bool visitTypeLoc(clang::TypeLoc) { return true; }

  /// Visits a lambda, its captures, its parameters and its body.
  virtual bool traverseLambda(clang::LambdaExpr *Lambda);

private:
  class Walk;
  unsigned Beside;
};

} // namespace torchtidy::ast

#endif
