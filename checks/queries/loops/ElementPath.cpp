#include "queries/loops/ElementPath.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "torch/Api.h"
#include "torch/Elements.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace torchtidy::model {

namespace {

class Way {
public:
  Way(const Execution &Entry, LoopChanges &Changes, const flow::Loop &Within)
      : Entry(Entry), Changes(Changes), Within(Within) {}

  ElementPath from(Written At) {
    // Bounds the way through variables and callers.
    for (unsigned Hop = 0; At.E && Hop < 32; ++Hop) {
      At.E = ast::stripCopies(At.E);
      At = step(At);
    }
    return std::move(Path);
  }

private:
  Written step(Written At) {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(At.E))
      return boundTo(At, Ref->getDecl());
    const auto *Call = dyn_cast<CallExpr>(At.E);
    const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    if (!Callee)
      return {};
    // std::get<0>(t[i].max(0))
    if (torch::isStd(Callee))
      return torch::meaning(Callee) == torch::StdMeaning::Get &&
                     Call->getNumArgs() == 1
                 ? Written{At.In, Call->getArg(0)}
                 : Written();
    const torch::Operation *Op = torch::classify(Call).Op;
    if (!Op || Op->Writes != torch::operation::NoArgument ||
        Op->Returns == torch::operation::Scalar)
      return {};
    return through(At, Call, *Op);
  }

  Written through(Written At, const CallExpr *Call,
                  const torch::Operation &Op) {
    auto Arguments = ast::argumentsOf(Call);
    const Expr *Operand = ast::objectOf(Call);
    if (!Operand && !Arguments.empty()) {
      Operand = Arguments.front();
      Arguments.erase(Arguments.begin());
    }
    if (!Operand || !torch::isTensor(Operand->getType()))
      return {};
    const bool IsRange = torch::choosesRange(Op);
    if (IsRange || torch::choosesPosition(Op)) {
      // narrow(0, 0, n) says how many, not which.
      const auto HowMany = IsRange ? torch::firstPositions(Call)
                                   : llvm::SmallVector<const Expr *, 2>();
      for (const Expr *Index : Arguments)
        if (!llvm::is_contained(HowMany, ast::stripCopies(Index)))
          Path.Indices.push_back({At.In, Index});
      Path.HasRange |= IsRange || !llvm::all_of(Arguments, torch::areNumbers);
      Path.IsComputed |= Computes;
      Path.Tensor = {At.In, Operand};
    } else if (llvm::any_of(Arguments, [](const Expr *Argument) {
                 return torch::mayHoldTensor(Argument->getType());
               })) {
      return {};
    } else {
      Computes |= !torch::keepsElements(Op);
    }
    Path.Calls.push_back(Call);
    return {At.In, Operand};
  }

  /// What the variable is bound to, where that is a part of something.
  Written boundTo(Written At, const ValueDecl *D) {
    const auto *V = dyn_cast<VarDecl>(D);
    if (!V || V->hasGlobalStorage() || Changes.isChanged(V, Within))
      return {};
    Written To;
    if (const auto *Parameter = dyn_cast<ParmVarDecl>(V)) {
      const Supergraph::Passed Given = Supergraph::passed(At.In, Parameter);
      if (Given.Argument && Given.To->Caller)
        To = {Given.To->Caller, Given.Argument};
    } else if (const Frame *Owner = Supergraph::owner(At.In, V);
               Owner && isDeclaredWithin(V, Owner)) {
      To = {Owner, V->getInit()};
    }
    if (!To.E)
      return {};
    // Anything else is a tensor of its own.
    Way Further(Entry, Changes, Within);
    Further.Bindings = Bindings + 1;
    if (Further.Bindings > 6 || Further.from(To).Indices.empty())
      return {};
    return To;
  }

  /// Before the loop it may have been bound to something else since.
  bool isDeclaredWithin(const VarDecl *V, const Frame *Owner) const {
    const Stmt *Statement = Entry.loopStatement(Within);
    return Entry.beginsIn(Owner, Within) ||
           (Statement &&
            Statement->getSourceRange().fullyContains(V->getSourceRange()));
  }

  const Execution &Entry;
  LoopChanges &Changes;
  const flow::Loop &Within;
  ElementPath Path;
  /// With what was chosen above the next index.
  bool Computes = false;
  unsigned Bindings = 0;
};

} // namespace

ElementPath elementPath(const Execution &Entry, const Frame *In, const Expr *E,
                        LoopChanges &Changes, const flow::Loop &Within) {
  return Way(Entry, Changes, Within).from({In, E});
}

const CallExpr *madeByOperation(const Expr *E) {
  for (unsigned Hop = 0; E && Hop < 16; ++Hop) {
    E = ast::stripCopies(E);
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
      const ValueDecl *D = Ref->getDecl();
      if (const auto *Binding = dyn_cast<BindingDecl>(D))
        D = Binding->getDecomposedDecl();
      const auto *V = dyn_cast_or_null<VarDecl>(D);
      if (!V || isa<ParmVarDecl>(V))
        return nullptr;
      E = V->getInit();
      continue;
    }
    const auto *Call = dyn_cast<CallExpr>(E);
    const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    if (!Callee)
      return nullptr;
    if (torch::isStd(Callee)) {
      E = torch::meaning(Callee) == torch::StdMeaning::Get &&
                  Call->getNumArgs() == 1
              ? Call->getArg(0)
              : nullptr;
      continue;
    }
    const torch::Operation *Op = torch::classify(Call).Op;
    const Expr *Object = ast::objectOf(Call);
    if (!Op || !Object || !torch::keepsElements(*Op))
      return Op ? Call : nullptr;
    E = Object;
  }
  return nullptr;
}

} // namespace torchtidy::model
