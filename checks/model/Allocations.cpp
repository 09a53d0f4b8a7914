#include "model/Invariance.h"
#include "model/LoopWork.h"
#include "torch/Api.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/StringSet.h"

using namespace clang;

namespace torchtidy::model {

using flow::Loop;

/// Under these numbers of elements the allocation cannot be told from the
/// overhead of the calls around it: docs/checks/torch-allocation-in-loop.md.
static constexpr uint64_t SmallScratch = 1024, SmallConstant = 32;

static const torch::Operation *factory(const Event &Allocate) {
  const auto *Call = cast<CallExpr>(Allocate.Site);
  return torch::classify(Call).Op;
}

namespace {

class AllocationQuery {
public:
  AllocationQuery(const Execution &Way, Invariance &Loops,
                  const Event &Allocate)
      : Way(Way), Loops(Loops), Allocate(Allocate) {}

  std::optional<RepeatedAllocation> run() {
    const auto Around = Way.loopsAround(Allocate.Point);
    const torch::Operation *Op = factory(Allocate);
    if (Around.empty() || !Op || isMadeFromData(*Op) ||
        Allocate.Result.needsGrad())
      return std::nullopt;
    const Loop &L = *Around.back();
    if (Loops.isOuterLoop(L) || !hasSameShape(L) ||
        !Loops.isUnconditional(Allocate.Site, Allocate.In, L))
      return std::nullopt;
    findTarget();
    if (isRebound(L) || leavesIteration(L))
      return std::nullopt;
    const bool IsRandom = Op->has(torch::operation::Random);
    const bool IsScratch = isWrittenIn(L) || IsRandom ||
                           Op->Name.starts_with("empty") ||
                           Op->Name.starts_with("new_empty");
    if (GetsHistory || (IsScratch && isSavedBeyond(L)) ||
        isSmall(IsScratch ? SmallScratch : SmallConstant))
      return std::nullopt;
    if (IsRandom && Op->Name != "rand" && Op->Name != "randn" &&
        Op->Name != "rand_like" && Op->Name != "randn_like")
      return std::nullopt;
    RepeatedAllocation Result = {&Way,       &Allocate, &L,         Op->Name,
                                 !IsScratch, Variable,  AssignedTo, false};
    Result.CanMove =
        Variable && Loops.canMoveBefore(Variable->getInit(),
                                        Way.loopStatement(L), Allocate.In);
    return Result;
  }

private:
  static bool isMadeFromData(const torch::Operation &Op) {
    return Op.Name == "tensor" || Op.Name == "from_blob" ||
           Op.Name == "from_file" || Op.Name == "scalar_tensor" ||
           !Op.has(torch::operation::Allocates);
  }

  bool hasSameShape(const Loop &L) const {
    const auto *Call = cast<CallExpr>(Allocate.Site);
    if (const Expr *Object = objectOf(Call))
      if (!Loops.isInvariant(Object, Allocate.In, L))
        return false;
    return llvm::all_of(argumentsOf(Call), [&](const Expr *Argument) {
      return isa<CXXDefaultArgExpr>(Argument) ||
             Loops.isInvariant(Argument, Allocate.In, L);
    });
  }

  /// The variable that the tensor, moved to its device or not, is bound to.
  void findTarget() {
    const flow::ControlFlow *Flow = Allocate.In->Flow;
    const Stmt *Child = Allocate.Site;
    for (const Stmt *S = Flow->parent(Child); S;
         Child = S, S = Flow->parent(S)) {
      if (const auto *Declaration = dyn_cast<DeclStmt>(S)) {
        if (Declaration->isSingleDecl())
          Variable = dyn_cast<VarDecl>(Declaration->getSingleDecl());
        return;
      }
      const auto *Call = dyn_cast<CallExpr>(S);
      if (const auto *Assign = dyn_cast<CXXOperatorCallExpr>(S);
          Assign && Assign->getOperator() == OO_Equal) {
        if (Assign->getArg(1) == Child)
          AssignedTo = Assign->getArg(0);
        Assignment = Assign;
        return;
      }
      // x.view is a child of its call.
      const bool Passes =
          Call ? isa<MemberExpr>(Child) || keepsMemory(Call, cast<Expr>(Child))
               : isa<Expr>(S);
      if (!Passes)
        return;
    }
  }

  /// to(), view(), fill_() of Object: the result uses its memory.
  static bool keepsMemory(const CallExpr *Call, const Expr *Object) {
    const torch::Operation *Op = torch::classify(Call).Op;
    return Op && objectOf(Call) && strip(objectOf(Call)) == strip(Object) &&
           (Op->View != torch::Tri::No || Op->Writes == torch::operation::Self);
  }

  bool isTarget(PlaceId P) const {
    const PlaceTable &Places = Way.places();
    const Expr *To = AssignedTo ? strip(AssignedTo) : nullptr;
    const auto *Ref = dyn_cast_or_null<DeclRefExpr>(To);
    const auto *Member = dyn_cast_or_null<MemberExpr>(To);
    if (Places.isRoot(P)) {
      const void *Key = Places.key(P);
      return (Variable && Key == Variable) || (Ref && Key == Ref->getDecl());
    }
    return Member && Places.step(P).Of == Step::Field &&
           Places.step(P).Member == Member->getMemberDecl();
  }

  /// The variable gets another tensor in the same loop: what is made here is
  /// where it begins (a hidden state, a sum).
  bool isRebound(const Loop &L) const {
    for (const Event &E : Way.events()) {
      const bool Binds =
          E.Kind == EventKind::Store || E.Kind == EventKind::Release;
      if (!Binds || !L.contains(E.Point) || E.Site == Assignment ||
          isInPlace(E))
        continue;
      if (llvm::any_of(E.Places, [&](PlaceId P) { return isTarget(P); }))
        return true;
    }
    return false;
  }

  /// sum += x, sum.add_(x): the tensor stays the one that it is.
  static bool isInPlace(const Event &E) {
    const auto *Operator = dyn_cast_or_null<CXXOperatorCallExpr>(E.Site);
    const bool IsAssignment = Operator && Operator->getOperator() == OO_Equal;
    return E.How == StoreKind::InPlace ||
           (E.How == StoreKind::Accumulate && !IsAssignment);
  }

  bool leavesIteration(const Loop &L) const {
    for (const Event &E : Way.events())
      if (E.Kind == EventKind::Escape && E.Result.uses(Allocate.Origin))
        return true;
    unsigned Kept = 0;
    for (PlaceId P : Allocate.Places) {
      std::optional<bool> Outlives = Way.outlives(P, L);
      if (!Outlives || !*Outlives)
        continue;
      if (!isTarget(P))
        return true;
      ++Kept;
    }
    return Kept > 1;
  }

  bool isSavedBeyond(const Loop &L) const {
    return llvm::any_of(Allocate.Savers, [&](PlaceId P) {
      std::optional<bool> Outlives = Way.outlives(P, L);
      return Outlives && *Outlives && !isTarget(P);
    });
  }

  bool isWrittenIn(const Loop &L) {
    bool Result = false;
    for (const Event &E : Way.events()) {
      if (E.Kind != EventKind::Write || !E.Result.uses(Allocate.Origin))
        continue;
      // The next iteration would write into a graph.
      GetsHistory |= E.Input.needsGrad();
      Result |= L.contains(E.Point);
    }
    return Result;
  }

  static bool saysOptions(const Expr *Argument) {
    return isa<CXXDefaultArgExpr>(Argument) ||
           !strip(Argument)->getType()->isArithmeticType();
  }

  /// The number of elements is a constant under Limit.
  bool isSmall(uint64_t Limit) const {
    const auto *Call = cast<CallExpr>(Allocate.Site);
    const llvm::SmallVector<const Expr *, 4> Arguments = argumentsOf(Call);
    const StringRef Name = factory(Allocate)->Name;
    // The number of steps is the third argument.
    const unsigned Shape = Name == "linspace" || Name == "logspace" ? 2 : 0;
    if (Shape >= Arguments.size() || Name == "range" ||
        (Name == "arange" && Arguments.size() > 1 &&
         !saysOptions(Arguments[1])) ||
        torch::isTensor(Arguments[Shape]->getType()))
      return false;
    // n rows and n columns
    if (Name == "eye")
      Limit = 6;
    const ASTContext &Context = Way.code().context();
    uint64_t Elements = 1;
    bool IsKnown = true, Found = false;
    llvm::SmallVector<const Stmt *, 8> Work = {Arguments[Shape]};
    while (!Work.empty() && IsKnown) {
      const auto *E = dyn_cast_or_null<Expr>(Work.pop_back_val());
      if (!E)
        continue;
      E = strip(E);
      // The argument of a known caller.
      for (const Frame *F = Allocate.In; F && isa<DeclRefExpr>(E);) {
        const auto *Parameter =
            dyn_cast<ParmVarDecl>(cast<DeclRefExpr>(E)->getDecl());
        F = Parameter ? Supergraph::owner(F, Parameter) : nullptr;
        const unsigned I = Parameter ? Parameter->getFunctionScopeIndex() : 0;
        if (!F || !F->Caller || I >= F->Arguments.size() || !F->Arguments[I])
          break;
        E = strip(F->Arguments[I]);
        F = F->Caller;
      }
      if (E->getType()->isIntegralOrEnumerationType()) {
        Expr::EvalResult Evaluated;
        if (E->isValueDependent() || !E->EvaluateAsInt(Evaluated, Context)) {
          IsKnown = false;
        } else {
          Found = true;
          Elements *= std::min<uint64_t>(
              Evaluated.Val.getInt().getLimitedValue(Limit), Limit);
          if (Elements >= Limit)
            return false;
        }
        continue;
      }
      if (isa<DeclRefExpr, MemberExpr, CallExpr>(E))
        IsKnown = false;
      // zeros({}): one element.
      if (const auto *List = dyn_cast<InitListExpr>(E))
        Found |= List->getNumInits() == 0;
      if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
        Found |= Construct->getNumArgs() == 0;
      Work.append(E->child_begin(), E->child_end());
    }
    return IsKnown && Found && Elements < Limit;
  }

  const Execution &Way;
  Invariance &Loops;
  const Event &Allocate;
  const VarDecl *Variable = nullptr;
  const Expr *AssignedTo = nullptr, *Assignment = nullptr;
  bool GetsHistory = false;
};

} // namespace

std::vector<RepeatedAllocation> repeatedAllocations(Program &Program) {
  std::vector<RepeatedAllocation> Result;
  for (const Execution *Way : Program.executionsBesideTests()) {
    Invariance Loops(*Way);
    for (const Event &E : Way->events())
      if (E.Kind == EventKind::Allocate)
        if (auto Found = AllocationQuery(*Way, Loops, E).run())
          Result.push_back(*Found);
  }
  return Result;
}

} // namespace torchtidy::model
