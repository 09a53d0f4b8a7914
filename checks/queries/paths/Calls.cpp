#include "queries/paths/Calls.h"
#include "ast/Expressions.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/Analysis/CFG.h"

using namespace clang;

namespace torchtidy::model {

std::vector<CallAt> callsOf(const Execution &Entry) {
  std::vector<CallAt> Result;
  for (flow::Digraph::Node N = 0; N < Entry.points().size(); ++N) {
    const Segment &S = Entry.segment(N);
    if (Entry.eventAt(N) || Entry.point(N).IsEnd || S.Of != Segment::Elements ||
        !S.Block)
      continue;
    for (unsigned I = S.Begin; I < S.End; ++I)
      if (const auto Element = (*S.Block)[I].getAs<CFGStmt>())
        if (const auto *Call = dyn_cast<CallExpr>(Element->getStmt()))
          Result.push_back({Call, S.In, N});
  }
  return Result;
}

bool isInModuleConstructor(const Frame *F) {
  for (; F; F = F->Caller)
    if (const auto *Made = dyn_cast<CXXConstructorDecl>(F->Function);
        Made && torch::kindOf(Made->getParent()) == torch::TypeKind::Module)
      return true;
  return false;
}

bool makesFirstValues(const Frame *F) {
  if (isInModuleConstructor(F))
    return true;
  for (; F; F = F->Caller) {
    const auto *Call = dyn_cast_or_null<CallExpr>(F->Site);
    if (Call && isa<CXXConstructorDecl>(F->Function) &&
        Call->getDirectCallee() &&
        torch::constructsLast(Call->getDirectCallee()))
      return true;
  }
  return false;
}

bool isInOwnConstructor(const Frame *F) {
  for (; F; F = F->Caller)
    if (F->Caller && !F->Site)
      return true;
  return false;
}

const ValueDecl *named(const Expr *E) {
  E = E ? ast::stripCopies(E) : nullptr;
  if (const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E))
    return Ref->getDecl();
  const auto *Member = dyn_cast_or_null<MemberExpr>(E);
  return Member ? Member->getMemberDecl() : nullptr;
}

const ValueDecl *namedHere(const Expr *E) {
  const auto *Member = dyn_cast<MemberExpr>(ast::strip(E));
  return Member && !isa<CXXThisExpr>(ast::strip(Member->getBase())) ? nullptr
                                                                    : named(E);
}

} // namespace torchtidy::model
