#include "memory/CatInLoop.h"
#include "ast/Expressions.h"
#include "ast/Locations.h"
#include "ast/Walk.h"
#include "queries/loops/LoopCounters.h"
#include "queries/loops/LoopInvariance.h"
#include "queries/loops/Loops.h"
#include "queries/loops/TripCount.h"
#include "queries/paths/Calls.h"
#include "torch/Api.h"
#include "torch/Members.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Analysis/CFG.h"
#include <set>

using namespace clang;

namespace torchtidy::model {

using flow::Loop;

/// So few copies are soon done.
static constexpr uint64_t FewCopies = 8;
/// So many numbers more in each iteration are soon copied, too.
static constexpr uint64_t FewNumbers = 16;

namespace {

class GrowthQuery {
public:
  GrowthQuery(const Execution &Entry, Invariance &Same, LoopCounters &Counters,
              llvm::ArrayRef<CallAt> Calls, const CallAt &At)
      : Entry(Entry), Same(Same), Counters(Counters), Calls(Calls), At(At) {}

  std::optional<CatInLoop> run() {
    const auto Around = Entry.loopsAround(At.Point);
    if (Around.empty() || At.Call->getNumArgs() == 0 || !findTarget() ||
        !findOperand())
      return std::nullopt;
    for (const Loop *L : llvm::reverse(Around)) {
      if (!survives(*L))
        continue;
      if (mostTrips(Entry, *L).value_or(FewCopies + 1) <= FewCopies ||
          goesThroughModules(*L) || isUsedIn(*L) || collectsNumbers(*L))
        return std::nullopt;
      CatInLoop Result;
      Result.Entry = &Entry;
      Result.In = At.In;
      Result.Cat = At.Call;
      Result.Operand = Operand;
      Result.Around = L;
      Result.IsMinor = runsNetwork(Entry, *L);
      return Result;
    }
    return std::nullopt;
  }

private:
  /// The assignment that stores the result, here or in a caller that the
  /// function returns it to.
  bool findTarget() {
    const Stmt *S = At.Call;
    for (const Frame *F = At.In; F && F->Flow; F = F->Caller) {
      const Stmt *Child = S;
      const Stmt *Parent = F->Flow->parent(S);
      for (; Parent; Child = Parent, Parent = F->Flow->parent(Parent)) {
        const auto *Assign = dyn_cast<CXXOperatorCallExpr>(Parent);
        if (Assign && Assign->getOperator() == OO_Equal &&
            Assign->getArg(1) == Child) {
          Assignment = Assign;
          Target = named(Assign->getArg(0));
          Whole = objectOf(Assign->getArg(0));
          TargetFrame = F;
          Known.insert(ast::strip(Assign->getArg(0)));
          return Target != nullptr;
        }
        if (isa<ReturnStmt>(Parent))
          break;
        const auto *Call = dyn_cast<CallExpr>(Parent);
        if (!isa<Expr>(Parent) || (Call && !keepsAll(Call)))
          return false;
      }
      if (!Parent || !F->Site)
        return false;
      S = F->Site;
    }
    return false;
  }

  /// to(), contiguous(): what was concatenated, in another form.
  static bool keepsAll(const CallExpr *Call) {
    const torch::Operation *Op = torch::classify(Call).Op;
    return Op && (torch::isTransfer(*Op) || torch::makesContiguous(*Op) ||
                  torch::isDetach(*Op));
  }

  /// Exactly one of the operands is what is assigned to.
  bool findOperand() {
    unsigned Found = 0;
    ast::forEachStmt(
        At.Call->getArg(0),
        [&](const Stmt *S) {
          const auto *List = dyn_cast<InitListExpr>(S);
          if (!List)
            return;
          for (const Expr *Each : List->inits())
            if (isTarget(Each)) {
              Operand = ast::stripCopies(Each);
              Known.insert(Operand);
              ++Found;
            }
        },
        ast::Lambdas::Skip);
    return Found == 1;
  }

  /// all, of all.states: the local object that the member is of; null for
  /// others.
  static const VarDecl *objectOf(const Expr *E) {
    const auto *Member = dyn_cast<MemberExpr>(ast::stripCopies(E));
    const auto *Ref = Member && !Member->isArrow()
                          ? dyn_cast<DeclRefExpr>(ast::strip(Member->getBase()))
                          : nullptr;
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    return V && !V->hasGlobalStorage() && !V->getType()->isReferenceType()
               ? V
               : nullptr;
  }

  /// The same member of another object is another tensor.
  bool isOfWhole(const Expr *E) const { return !Whole || objectOf(E) == Whole; }

  /// E, written where the call is, is what is assigned to, maybe in a caller.
  bool isTarget(const Expr *E) {
    const Frame *F = At.In;
    llvm::SmallVector<const Expr *, 4> Way;
    for (unsigned Hop = 0; E && Hop < 8; ++Hop) {
      const ValueDecl *D = named(E);
      if (!D)
        return false;
      Way.push_back(ast::stripCopies(E));
      if (D == Target && isOfWhole(E)) {
        for (const Expr *Each : Way) {
          Known.insert(Each);
          Aliases.insert(named(Each));
        }
        return true;
      }
      const auto *Parameter = dyn_cast<ParmVarDecl>(D);
      if (!Parameter)
        return false;
      const Supergraph::Passed Given = Supergraph::passed(F, Parameter);
      if (!Given.Argument)
        return false;
      E = Given.Argument;
      F = Given.To->Caller;
    }
    return false;
  }

  /// A reference that a helper was given stands for the caller's variable.
  const VarDecl *variableOfTarget(const Frame *&F) {
    const auto *V = dyn_cast<VarDecl>(Target);
    F = TargetFrame;
    for (unsigned Hop = 0; V && Hop < 8; ++Hop) {
      const auto *Parameter = dyn_cast<ParmVarDecl>(V);
      if (!Parameter || !Parameter->getType()->isReferenceType())
        return V;
      const Supergraph::Passed Given = Supergraph::passed(F, Parameter);
      const auto *Next = dyn_cast_or_null<VarDecl>(named(Given.Argument));
      if (!Next || !Given.To->Caller)
        return V;
      Known.insert(ast::stripCopies(Given.Argument));
      Aliases.insert(Next);
      V = Next;
      F = Given.To->Caller;
    }
    return V;
  }

  /// The next iteration of L finds what this one has stored.
  bool survives(const Loop &L) {
    const Stmt *Statement = Entry.loopStatement(L);
    if (!Statement)
      return false;
    Aliases.insert(Target);
    if (Whole)
      return livesOn(TargetFrame, Whole, L, Statement) &&
             !isBoundAnew(Statement);
    if (const auto *Member =
            dyn_cast<MemberExpr>(ast::strip(Assignment->getArg(0))))
      return Same.isInvariant(Member->getBase(), TargetFrame, L);
    const Frame *In = nullptr;
    const VarDecl *V = variableOfTarget(In);
    if (!V)
      return false;
    return V->hasGlobalStorage() || livesOn(In, V, L, Statement);
  }

  /// The variable is declared outside of the loop.
  bool livesOn(const Frame *In, const VarDecl *V, const Loop &L,
               const Stmt *Statement) const {
    const Frame *Owner = Supergraph::owner(In, V);
    return Owner && !Entry.beginsIn(Owner, L) &&
           !Statement->getSourceRange().fullyContains(V->getSourceRange());
  }

  /// The loop makes another object of the whole, or gives it to code that may.
  bool isBoundAnew(const Stmt *Statement) const {
    return ast::anyStmt(
        Statement,
        [&](const Stmt *S) {
          const auto *Call = dyn_cast<CallExpr>(S);
          return Call && llvm::any_of(Call->arguments(), [&](const Expr *E) {
                   const auto *Ref = dyn_cast<DeclRefExpr>(ast::strip(E));
                   return Ref && Ref->getDecl() == Whole;
                 });
        },
        ast::Lambdas::Enter);
  }

  /// Layers, or heads of attention: there are a few.
  bool goesThroughModules(const Loop &L) {
    const auto *Range =
        dyn_cast_or_null<CXXForRangeStmt>(Entry.loopStatement(L));
    if (Range && Range->getLoopVariable())
      return torch::isModule(
          torch::pointee(Range->getLoopVariable()->getType()));
    return llvm::any_of(Calls, [&](const CallAt &Each) {
      return L.contains(Each.Point) && choosesModule(Each, L);
    });
  }

  /// layers[i]
  bool choosesModule(const CallAt &Each, const Loop &L) {
    const auto *Subscript = dyn_cast<CXXOperatorCallExpr>(Each.Call);
    return Subscript && Subscript->getOperator() == OO_Subscript &&
           torch::isModule(torch::pointee(Subscript->getType())) &&
           Counters.follows(Subscript->getArg(1), Each.In, L);
  }

  /// A few numbers for each run of a network: all that is copied in the end is
  /// nothing beside what the network has computed.
  bool collectsNumbers(const Loop &L) const {
    const bool AreFew = llvm::any_of(
        Entry.events<CombineEvent>(), [&](const CombineEvent &Each) {
          return Each.Site == At.Call && Each.In == At.In &&
                 Each.Fewest.value_or(FewNumbers + 1) <= FewNumbers;
        });
    return AreFew && llvm::any_of(Entry.events<ForwardEvent>(),
                                  [&](const ForwardEvent &Each) {
                                    return L.contains(Each.Point);
                                  });
  }

  /// Code of L does something with the tensor besides letting it grow.
  bool isUsedIn(const Loop &L) {
    for (flow::Digraph::Node N : L.Body.set_bits()) {
      const Segment &S = Entry.segment(N);
      if (Entry.eventAt(N) || Entry.point(N).IsEnd ||
          S.Of != Segment::Elements || !S.Block)
        continue;
      for (unsigned I = S.Begin; I < S.End; ++I)
        if (const auto Element = (*S.Block)[I].getAs<CFGStmt>())
          if (isUse(S.In, Element->getStmt()))
            return true;
    }
    return false;
  }

  bool isUse(const Frame *F, const Stmt *S) {
    // Members that another file has the code of may read this one.
    if (const auto *Call = dyn_cast<CXXMemberCallExpr>(S);
        Call && isa<FieldDecl>(Target)) {
      const Expr *Object = ast::strip(Call->getImplicitObjectArgument());
      const auto *Ref = dyn_cast<DeclRefExpr>(Object);
      if (Whole)
        return Ref && Ref->getDecl() == Whole;
      return isa<CXXThisExpr>(Object) && Call->getMethodDecl() &&
             !torch::isLibTorch(Call->getMethodDecl()) &&
             !Entry.code().functions().definition(Call->getMethodDecl());
    }
    const auto *E = dyn_cast<Expr>(S);
    if (!E || !isa<DeclRefExpr, MemberExpr>(E) || !Aliases.count(named(E)) ||
        Known.count(E) || !isOfWhole(E))
      return false;
    return !isQuestion(F, E) && !isBeginning(F, E);
  }

  /// r.defined(), r.size(0)
  static bool isQuestion(const Frame *F, const Expr *E) {
    const Stmt *Parent = F->Flow ? F->Flow->parent(E) : nullptr;
    while (isa_and_nonnull<ImplicitCastExpr, ParenExpr>(Parent))
      Parent = F->Flow->parent(Parent);
    const auto *Member = dyn_cast_or_null<MemberExpr>(Parent);
    return Member && torch::saysProperty(
                         dyn_cast<CXXMethodDecl>(Member->getMemberDecl()));
  }

  /// if (first) { r = x; continue; } r = torch::cat({r, x});
  bool isInsteadOf(const IfStmt *If, const flow::ControlFlow &Flow) const {
    const auto *Then = dyn_cast<CompoundStmt>(If->getThen());
    const auto *Block = dyn_cast_or_null<CompoundStmt>(Flow.parent(If));
    return Then && !Then->body_empty() &&
           isa<ContinueStmt>(Then->body_back()) && !If->getElse() && Block &&
           Flow.isInside(Assignment, Block) && !Flow.isInside(Assignment, If);
  }

  /// if (first) r = x; else r = torch::cat({r, x});
  bool isBeginning(const Frame *F, const Expr *E) const {
    if (F != TargetFrame || !F->Flow)
      return false;
    const auto *Assign =
        dyn_cast_or_null<CXXOperatorCallExpr>(F->Flow->parent(E));
    if (!Assign || Assign->getOperator() != OO_Equal ||
        ast::strip(Assign->getArg(0)) != E)
      return false;
    for (const Stmt *S = F->Flow->parent(Assign); S; S = F->Flow->parent(S))
      if (const auto *If = dyn_cast<IfStmt>(S))
        return isInsteadOf(If, *F->Flow) ||
               (If->getElse() && F->Flow->isInside(Assignment, If) &&
                F->Flow->isInside(Assign, If->getThen()) !=
                    F->Flow->isInside(Assignment, If->getThen()));
    return false;
  }

  const Execution &Entry;
  Invariance &Same;
  LoopCounters &Counters;
  const llvm::ArrayRef<CallAt> Calls;
  const CallAt &At;
  const CXXOperatorCallExpr *Assignment = nullptr;
  const ValueDecl *Target = nullptr;
  const VarDecl *Whole = nullptr;
  const Frame *TargetFrame = nullptr;
  const Expr *Operand = nullptr;
  /// What names the tensor, and where that lets it grow.
  std::set<const ValueDecl *> Aliases;
  std::set<const Expr *> Known;
};

} // namespace

/// Who lets one tensor of the loop grow otherwise does it with all.
static void add(CatInLoop Found, std::vector<CatInLoop> &Result) {
  for (CatInLoop &Known : Result) {
    if (Known.Entry != Found.Entry || Known.Around != Found.Around)
      continue;
    if (ast::beginLoc(Found.Cat) < ast::beginLoc(Known.Cat)) {
      Found.AsWell = std::move(Known.AsWell);
      std::swap(Known, Found);
    }
    if (Found.Cat != Known.Cat)
      Known.AsWell.push_back(Found.Cat);
    return;
  }
  Result.push_back(std::move(Found));
}

std::vector<CatInLoop> findCatInLoop(Program &Program) {
  std::vector<CatInLoop> Result;
  for (const Execution *Entry : Program.executionsThatCost()) {
    Invariance Same(*Entry);
    LoopCounters Counters(*Entry);
    const std::vector<CallAt> Calls = callsOf(*Entry);
    for (const CallAt &At : Calls) {
      const torch::Operation *Op = torch::classify(At.Call).Op;
      if (Op && torch::isConcatenation(*Op))
        if (auto Found = GrowthQuery(*Entry, Same, Counters, Calls, At).run())
          add(std::move(*Found), Result);
    }
  }
  return Result;
}

} // namespace torchtidy::model
