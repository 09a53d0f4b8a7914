#include "queries/loops/Loops.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "flow/PathQuery.h"
#include "torch/Members.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace torchtidy::model {

using flow::Loop;

/// In a loop inside L, and in no forward().
static bool worksInside(const Execution &Entry, const Loop &L, const Event &E) {
  return L.contains(E.Point) && !Entry.isInForward(E.In) &&
         Entry.loopsAround(E.Point).back() != &L;
}

bool goesBackward(const Execution &Entry, const Loop &L) {
  return llvm::any_of(Entry.events<BackwardEvent>(),
                      [&](const Event &E) { return L.contains(E.Point); });
}

bool runsNetwork(const Execution &Entry, const Loop &L) {
  return goesBackward(Entry, L) ||
         llvm::any_of(Entry.events<ForwardEvent>(),
                      [&](const Event &E) { return L.contains(E.Point); });
}

bool trainsInside(const Execution &Entry, const Loop &L) {
  const auto WorksInside = [&](const Event &E) {
    return worksInside(Entry, L, E);
  };
  return llvm::any_of(Entry.events<BackwardEvent>(), WorksInside) ||
         llvm::any_of(Entry.events<StepEvent>(), WorksInside);
}

bool isOuterLoop(const Execution &Entry, const Loop &L) {
  const bool Learns =
      llvm::any_of(Entry.events<BackwardEvent>(), [&](const Event &E) {
        return L.contains(E.Point) && Entry.loopsAround(E.Point).back() == &L;
      });
  // A function that runs layers in a loop is a network of its own where L goes
  // back through what it returns.
  const auto RunsInside = [&](const Event &E) {
    const Loop *Inner =
        worksInside(Entry, L, E) ? Entry.loopsAround(E.Point).back() : nullptr;
    return Inner &&
           !(Learns && Entry.beginsIn(Entry.segment(Inner->Header).In, L));
  };
  return llvm::any_of(Entry.events<ForwardEvent>(), RunsInside) ||
         trainsInside(Entry, L);
}

bool isOutweighed(const Execution &Entry, const Loop *Around) {
  if (Around)
    return isOuterLoop(Entry, *Around);
  const auto IsInLoop = [&](const Event &E) {
    return !Entry.isInForward(E.In) && !Entry.loopsAround(E.Point).empty();
  };
  const auto RunsWithoutGraph = [&](const ForwardEvent &Forward) {
    return IsInLoop(Forward) &&
           !(Forward.GradMode & (mode::On | mode::Inherited));
  };
  return llvm::any_of(Entry.events<ForwardEvent>(), RunsWithoutGraph) ||
         llvm::any_of(Entry.events<BackwardEvent>(), IsInLoop) ||
         llvm::any_of(Entry.events<StepEvent>(), IsInLoop);
}

/// The loop puts what it makes into a list that outlives it.
static bool fillsList(const Execution &Entry, const Loop &L) {
  return llvm::any_of(Entry.events<FillEvent>(), [&](const FillEvent &Fill) {
    return Fill.IsAppended && L.contains(Fill.Point) &&
           llvm::any_of(Fill.Containers, [&](PlaceId P) {
             return Entry.outlives(P, L).value_or(false);
           });
  });
}

bool isPreparation(const Execution &Entry, flow::Digraph::Node Point) {
  const Loop *Outer = nullptr;
  for (const Loop *L : Entry.loopsAround(Point)) {
    const auto IsInside = [&](const Event &E) { return L->contains(E.Point); };
    if (!runsNetwork(Entry, *L) &&
        !llvm::any_of(Entry.events<StepEvent>(), IsInside))
      return fillsList(Entry, *L) && isOutweighed(Entry, Outer);
    Outer = L;
  }
  return false;
}

/// A backward() goes back through the pass.
static bool isTrained(const Execution &Entry, const ForwardEvent &Pass) {
  return llvm::any_of(Entry.events<BackwardEvent>(), [&](const auto &E) {
    return E.Root.ManyOrigins || E.Root.hasOrigin(Pass.Origin);
  });
}

/// In one of the loops around E.
template <class Kind>
static bool anyBeside(const Execution &Entry, const Event &E,
                      llvm::function_ref<bool(const Kind &)> Is) {
  const auto Around = Entry.loopsAround(E.Point);
  return llvm::any_of(Entry.events<Kind>(), [&](const Kind &Other) {
    return llvm::any_of(
               Around,
               [&](const Loop *L) { return L->contains(Other.Point); }) &&
           Is(Other);
  });
}

bool isBesidePasses(const Execution &Entry, const Event &E) {
  const auto Any = [](const ForwardEvent &) { return true; };
  return anyBeside<ForwardEvent>(Entry, E, Any) && !isPartOfTraining(Entry, E);
}

bool isPartOfTraining(const Execution &Entry, const Event &E) {
  const auto IsTrained = [&](const ForwardEvent &Pass) {
    return isTrained(Entry, Pass);
  };
  const auto Any = [](const auto &) { return true; };
  return Entry.isInForward(E.In) ||
         anyBeside<ForwardEvent>(Entry, E, IsTrained) ||
         anyBeside<BackwardEvent>(Entry, E, Any) ||
         anyBeside<StepEvent>(Entry, E, Any);
}

bool isUnconditional(const Execution &Entry, const Stmt *S, const Frame *F,
                     const Loop &L,
                     llvm::function_ref<bool(const Expr *)> Passes) {
  const Stmt *Statement = Entry.loopStatement(L);
  for (; F; S = F->Site, F = F->Caller) {
    if (!F->Flow || !S)
      return false;
    for (const Stmt *Child = S, *Parent = F->Flow->parent(S); Parent;
         Child = Parent, Parent = F->Flow->parent(Parent)) {
      if (Parent == Statement)
        return true;
      if (const auto *If = dyn_cast<IfStmt>(Parent))
        if (Child != If->getCond() && Child != If->getInit() &&
            !(Passes && Passes(If->getCond())))
          return false;
      if (const auto *Choice = dyn_cast<AbstractConditionalOperator>(Parent))
        if (Child != Choice->getCond())
          return false;
      if (const auto *Logical = dyn_cast<BinaryOperator>(Parent))
        if (Logical->isLogicalOp() && Child == Logical->getRHS())
          return false;
      if (isa<SwitchStmt, CXXCatchStmt>(Parent))
        return false;
      if (const auto *Declaration = dyn_cast<DeclStmt>(Parent))
        for (const Decl *D : Declaration->decls())
          if (const auto *V = dyn_cast<VarDecl>(D); V && V->isStaticLocal())
            return false;
    }
    if (!Entry.beginsIn(F, L))
      return true;
    if (const auto *Call = dyn_cast_or_null<CallExpr>(F->Site))
      if (const FunctionDecl *Callee = Call->getDirectCallee();
          Callee && torch::isStd(Callee) && torch::callsOnce(Callee))
        return false;
  }
  return true;
}

bool isOccasional(const Expr *Condition) {
  return Condition && ast::anyStmt(
                          Condition,
                          [](const Stmt *Part) {
                            const auto *Binary = dyn_cast<BinaryOperator>(Part);
                            return Binary && Binary->getOpcode() == BO_Rem;
                          },
                          ast::Lambdas::Skip);
}

bool canMoveBefore(const Expr *E, const Stmt *LoopStatement, const Frame *F) {
  if (!E || !LoopStatement || !F->Flow || !F->Flow->isInside(E, LoopStatement))
    return false;
  return !ast::anyStmt(
      E,
      [&](const Stmt *S) {
        const auto *Ref = dyn_cast<DeclRefExpr>(S);
        return Ref && isa<VarDecl, BindingDecl>(Ref->getDecl()) &&
               LoopStatement->getSourceRange().fullyContains(
                   Ref->getDecl()->getSourceRange());
      },
      ast::Lambdas::Enter);
}

bool mayHappenIn(const Execution &Entry, const WriteEvent &Write,
                 const Loop &L) {
  if (L.contains(Write.Point))
    return true;
  return Write.IsPointer &&
         flow::mayReach(
             Entry.points(), Write.Point,
             [&](flow::Digraph::Node N) { return L.contains(N); },
             [](flow::Digraph::Node) { return false; })
             .has_value();
}

/// The local variable, or parameter, that a pointer to data is or is taken
/// from.
static const VarDecl *localBehind(const Expr *Pointer) {
  const VarDecl *Result = nullptr;
  unsigned Named = 0;
  ast::forEachStmt(
      Pointer,
      [&](const Stmt *S) {
        if (isa<CXXThisExpr>(S))
          ++Named;
        if (const auto *Ref = dyn_cast<DeclRefExpr>(S))
          if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl())) {
            ++Named;
            Result = V;
          }
      },
      ast::Lambdas::Captures);
  return Named == 1 && Result && Result->isLocalVarDeclOrParm() ? Result
                                                                : nullptr;
}

/// V lies over memory of the program's (from_blob). It stays as it is where
/// that belongs to a local variable that the loop does not mention.
static bool isWrittenBesides(const Execution &Entry, const Value &V,
                             const Loop &L) {
  const Stmt *Inside = Entry.loopStatement(L);
  const auto MayWrite = [&](const BorrowEvent &Blob) {
    if (L.contains(Blob.Point))
      return false;
    const VarDecl *Owner = localBehind(Blob.Pointer);
    return !Owner || !Inside ||
           ast::anyStmt(
               Inside,
               [&](const Stmt *S) {
                 const auto *Ref = dyn_cast<DeclRefExpr>(S);
                 return Ref && Ref->getDecl() == Owner;
               },
               ast::Lambdas::Enter);
  };
  // What may be a copy as well mostly is one: blob.to(device).
  return !V.Memory.empty() && llvm::all_of(V.Memory, [&](AllocationId Id) {
    const Expr *Site = Entry.allocation(Id).Site;
    return llvm::any_of(Entry.events<BorrowEvent>(),
                        [&](const BorrowEvent &Blob) {
                          return Blob.Site == Site && MayWrite(Blob);
                        });
  });
}

bool isWritten(const Execution &Entry, const PlaceSet &Places, const Value &V,
               const Loop &L, std::optional<AllocationId> Copy) {
  if (isWrittenBesides(Entry, V, L))
    return true;
  const auto SharesMemory = [&](const Value &Other) {
    return llvm::any_of(V.Memory,
                        [&](AllocationId Id) { return Other.uses(Id); });
  };
  const auto Concerns = [&](const auto &E) {
    return L.contains(E.Point) && llvm::any_of(E.Places, [&](PlaceId P) {
             return llvm::any_of(Places, [&](PlaceId Q) {
               return Entry.places().overlap(P, Q);
             });
           });
  };
  for (const WriteEvent &Write : Entry.events<WriteEvent>()) {
    if (Copy && Write.Before.uses(*Copy))
      continue;
    if ((Entry.mayAlias(Write.Places, Places) || SharesMemory(Write.Before)) &&
        mayHappenIn(Entry, Write, L))
      return true;
  }
  const bool IsTrained =
      (V.History & history::Leaf) &&
      llvm::any_of(Entry.events<StepEvent>(), [&](const StepEvent &Step) {
        return L.contains(Step.Point);
      });
  return IsTrained || llvm::any_of(Entry.events<UpdateEvent>(), Concerns) ||
         llvm::any_of(Entry.events<EscapeEvent>(), [&](const auto &Escape) {
           return Concerns(Escape) ||
                  (L.contains(Escape.Point) && SharesMemory(Escape.Given));
         });
}

} // namespace torchtidy::model
