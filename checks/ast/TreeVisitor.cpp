#include "ast/TreeVisitor.h"
#include "clang/AST/RecursiveASTVisitor.h"

using namespace clang;

namespace torchtidy::ast {

class TreeVisitor::Walk : public RecursiveASTVisitor<Walk> {
public:
  using Base = RecursiveASTVisitor<Walk>;
  explicit Walk(TreeVisitor &Visitor) : Visitor(Visitor) {}

  bool shouldVisitImplicitCode() const {
    return Visitor.Beside & Also::ImplicitCode;
  }
  bool shouldVisitTemplateInstantiations() const {
    return Visitor.Beside & Also::Instantiations;
  }
  bool VisitDecl(Decl *D) { return Visitor.visitDecl(D); }
  bool VisitStmt(Stmt *S) { return Visitor.visitStmt(S); }
  bool VisitTypeLoc(TypeLoc T) { return Visitor.visitTypeLoc(T); }
  bool TraverseDecl(Decl *D) { return Visitor.traverseDecl(D); }
  bool TraverseLambdaExpr(LambdaExpr *Lambda) {
    return Visitor.traverseLambda(Lambda);
  }

private:
  TreeVisitor &Visitor;
};

TreeVisitor::~TreeVisitor() = default;

bool TreeVisitor::traverseDecl(Decl *D) {
  return Walk(*this).Base::TraverseDecl(D);
}

bool TreeVisitor::traverseStmt(Stmt *S) { return Walk(*this).TraverseStmt(S); }

bool TreeVisitor::traverseLambda(LambdaExpr *Lambda) {
  return Walk(*this).Base::TraverseLambdaExpr(Lambda);
}

} // namespace torchtidy::ast
