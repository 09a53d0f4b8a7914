#include "memory/AllocationInLoop.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "queries/loops/LoopInvariance.h"
#include "queries/loops/Loops.h"
#include "queries/memory/Sizes.h"
#include "queries/paths/Calls.h"
#include "torch/Api.h"
#include "torch/Factories.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/StringSet.h"

using namespace clang;

namespace torchtidy::model {

using flow::Loop;

/// A loop of fewer steps does not make the work around it cheap.
static constexpr uint64_t FewSteps = 16;

static const torch::Operation *factory(const AllocateEvent &Allocate) {
  const auto *Call = cast<CallExpr>(Allocate.Site);
  return torch::classify(Call).Op;
}

namespace {

class AllocationQuery {
public:
  AllocationQuery(const Execution &Entry, Invariance &Same,
                  const AllocateEvent &Allocate)
      : Entry(Entry), Same(Same), Allocate(Allocate) {}

  std::optional<RepeatedAllocation> run() {
    const auto Around = Entry.loopsAround(Allocate.Point);
    const torch::Operation *Op = factory(Allocate);
    // Drawing random numbers costs more than the memory for them, in a tensor
    // that exists as in a new one.
    if (Around.empty() || !Op || (isMadeFromData(*Op) && !isUpload(*Op)) ||
        Op->has(torch::operation::Random) || Allocate.Result.needsGrad())
      return std::nullopt;
    const Loop &L = *Around.back();
    if (isOuterLoop(Entry, L) || !hasSameShape(L) ||
        !isUnconditional(Entry, Allocate.Site, Allocate.In, L))
      return std::nullopt;
    findTarget();
    if (isRebound(L) || isOfNewObject(L) || leavesIteration(L))
      return std::nullopt;
    const bool IsScratch = isWrittenIn(L) || torch::isUninitialized(Op->Name);
    if (GetsHistory || (IsScratch && isSavedBeyond(L)) ||
        (isUpload(*Op) ? IsScratch || !goesBackward(Entry, L) : isSmall()) ||
        servesInnerLoop(L))
      return std::nullopt;
    RepeatedAllocation Result;
    Result.Entry = &Entry;
    Result.Allocate = &Allocate;
    Result.Around = &L;
    Result.Factory = Op->Name;
    Result.IsConstant = !IsScratch;
    Result.IsUpload = isUpload(*Op);
    Result.IsStrictOnly =
        (isRowOfUnknownLength(Entry, Allocate) && !goesBackward(Entry, L)) ||
        mayBeNoMatter(L) || (IsScratch && isScratchOfCallee(L));
    Result.IsMinor =
        !Result.IsUpload &&
        (runsNetwork(Entry, L) || Entry.isInForward(Allocate.In)) &&
        knownElements(Entry, Allocate).value_or(0) < FewestForMemory;
    Result.Variable = Variable;
    Result.AssignedTo = AssignedTo;
    Result.CanMove =
        Variable &&
        canMoveBefore(Variable->getInit(), Entry.loopStatement(L), Allocate.In);
    return Result;
  }

private:
  static bool isMadeFromData(const torch::Operation &Op) {
    return torch::isMadeFromData(Op) || !Op.has(torch::operation::Allocates);
  }

  /// torch::tensor(numbers, options): the numbers are on the host, and go to a
  /// device from there, for which the host waits. How many is no matter.
  bool isUpload(const torch::Operation &Op) const {
    return torch::listsContent(Op) && Allocate.Result.Rank == rank::Some &&
           Allocate.Result.mayBeElsewhere();
  }

  bool hasSameShape(const Loop &L) const {
    const auto *Call = cast<CallExpr>(Allocate.Site);
    if (const Expr *Object = ast::objectOf(Call))
      if (!Same.isInvariant(Object, Allocate.In, L))
        return false;
    return llvm::all_of(ast::argumentsOf(Call), [&](const Expr *Argument) {
      return isa<CXXDefaultArgExpr>(Argument) ||
             Same.isInvariant(Argument, Allocate.In, L);
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
    const Expr *Own = ast::objectOf(Call);
    return Op && Own && ast::strip(Own) == ast::strip(Object) &&
           (Op->View != torch::Tri::No || Op->Writes == torch::operation::Self);
  }

  bool isTarget(PlaceId P) const {
    const PlaceTable &Places = Entry.places();
    const Expr *To = AssignedTo ? ast::strip(AssignedTo) : nullptr;
    const auto *Ref = dyn_cast_or_null<DeclRefExpr>(To);
    const auto *Member = dyn_cast_or_null<MemberExpr>(To);
    if (Places.isRoot(P)) {
      const VarDecl *V = Places.variable(P);
      return V && (V == Variable || (Ref && V == Ref->getDecl()));
    }
    return Member && Places.step(P).Of == Step::Field &&
           Places.step(P).Member == Member->getMemberDecl();
  }

  /// The variable gets another tensor in the same loop: what is made here is
  /// where it begins (a hidden state, a sum).
  bool isRebound(const Loop &L) const {
    return llvm::any_of(Entry.events<UpdateEvent>(), [&](const auto &Update) {
      return L.contains(Update.Point) && Update.Site != Assignment &&
             !isInPlace(Update) && llvm::any_of(Update.Places, [&](PlaceId P) {
               return isTarget(P);
             });
    });
  }

  /// sum += x, sum.add_(x): the tensor stays the one that it is.
  static bool isInPlace(const UpdateEvent &Update) {
    const auto *Operator = dyn_cast_or_null<CXXOperatorCallExpr>(Update.Site);
    const bool IsAssignment = Operator && Operator->getOperator() == OO_Equal;
    return Update.How == StoreKind::InPlace ||
           (Update.How == StoreKind::Accumulate && !IsAssignment);
  }

  /// Each object on the heap that the loop makes has a tensor of its own, and
  /// so has each module that it makes.
  bool isOfNewObject(const Loop &L) const {
    if (makesFirstValues(Allocate.In) || isInInitializer())
      return true;
    return llvm::any_of(Entry.events<UpdateEvent>(), [&](const auto &Update) {
      return Assignment && Update.Site == Assignment &&
             llvm::any_of(Update.Places, [&](PlaceId P) {
               return Entry.places().rootKind(Entry.places().rootOf(P)) ==
                          Root::Object &&
                      !Entry.outlives(P, L).value_or(true);
             });
    });
  }

  /// Of a member: Layer(int n) : table(torch::zeros({n, n})) {}
  bool isInInitializer() const {
    const auto *Made = dyn_cast<CXXConstructorDecl>(Allocate.In->Function);
    return Made && llvm::any_of(Made->inits(), [&](const auto *Init) {
             return Init->isAnyMemberInitializer() &&
                    ast::anyStmt(
                        Init->getInit(),
                        [&](const Stmt *S) { return S == Allocate.Site; },
                        ast::Lambdas::Skip);
           });
  }

  bool leavesIteration(const Loop &L) const {
    for (const EscapeEvent &Escape : Entry.events<EscapeEvent>())
      if (Escape.Given.uses(Allocate.Memory))
        return true;
    // A module that is made in the loop may keep it as its own.
    for (const RegisterEvent &Register : Entry.events<RegisterEvent>())
      if (Register.Before.uses(Allocate.Memory))
        return true;
    unsigned Kept = 0;
    PlaceSet Holders = Allocate.Holders;
    // An object that this iteration has made and put away for later is another
    // one when the factory is called again.
    insert(Holders, Entry.holdersAtEnd(Allocate.Memory));
    for (PlaceId P : Holders) {
      std::optional<bool> Outlives = Entry.outlives(P, L);
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
      std::optional<bool> Outlives = Entry.outlives(P, L);
      return Outlives && *Outlives && !isTarget(P);
    });
  }

  bool isWrittenIn(const Loop &L) {
    bool Result = false;
    for (const WriteEvent &Write : Entry.events<WriteEvent>()) {
      if (!Write.Before.uses(Allocate.Memory))
        continue;
      // The next iteration would write into a graph.
      GetsHistory |= Write.Written.needsGrad();
      Result |= L.contains(Write.Point);
    }
    return Result;
  }

  /// So that what it saves cannot be told from the calls around it.
  bool isSmall() const {
    const std::optional<uint64_t> Elements = knownElements(Entry, Allocate);
    return Elements && *Elements < SmallElements;
  }

  /// Where nothing is trained: where its size is not known; or it is not large
  /// and stands beside the passes of a network, or in a function that the loop
  /// calls, which has other callers and no place to keep it in.
  bool mayBeNoMatter(const Loop &L) const {
    const bool IsBesideEvaluation =
        !Entry.isInForward(Allocate.In) && evaluates(L);
    if (isPartOfTraining(Entry, Allocate) && !IsBesideEvaluation)
      return false;
    const std::optional<uint64_t> Elements = knownElements(Entry, Allocate);
    return !Elements ||
           (*Elements < LargeElements &&
            (IsBesideEvaluation || Entry.beginsIn(Allocate.In, L) ||
             isBesidePasses(Entry, Allocate)));
  }

  /// Scratch that a function makes which the loop calls, and not known to be
  /// large: it has to be filled again, so that only the call is saved, and the
  /// function has no place to keep it in.
  bool isScratchOfCallee(const Loop &L) const {
    return Entry.beginsIn(Allocate.In, L) && !Entry.isInForward(Allocate.In) &&
           knownElements(Entry, Allocate).value_or(0) < LargeElements;
  }

  /// The loop runs networks, all under a guard, and nothing in it trains,
  /// though a loop around it may: a rollout, a validation, between epochs.
  bool evaluates(const Loop &L) const {
    const auto IsInside = [&](const Event &E) { return L.contains(E.Point); };
    bool Runs = false;
    for (const ForwardEvent &Pass : Entry.events<ForwardEvent>()) {
      if (!IsInside(Pass))
        continue;
      Runs = true;
      if (Pass.GradMode & (mode::On | mode::Inherited))
        return false;
    }
    return Runs && !goesBackward(Entry, L) &&
           !llvm::any_of(Entry.events<StepEvent>(), IsInside);
  }

  /// A loop of many steps inside the iteration works with the tensor: what is
  /// made once for all of them costs next to nothing.
  bool servesInnerLoop(const Loop &L) const {
    const ValueDecl *Target = Variable;
    if (AssignedTo) {
      const Expr *To = ast::strip(AssignedTo);
      if (const auto *Ref = dyn_cast<DeclRefExpr>(To))
        Target = Ref->getDecl();
      else if (const auto *Member = dyn_cast<MemberExpr>(To))
        Target = Member->getMemberDecl();
    }
    const flow::ControlFlow *Flow = Allocate.In->Flow;
    if (!Target || !Flow)
      return false;
    const Stmt *Iteration = Entry.loopStatement(L);
    const Stmt *Within = Iteration && Flow->isInside(Allocate.Site, Iteration)
                             ? Iteration
                             : Flow->function()->getBody();
    return ast::anyStmt(
        Within,
        [&](const Stmt *S) {
          return S != Iteration &&
                 isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(S) &&
                 !Flow->isInside(Allocate.Site, S) && !hasFewSteps(S) &&
                 names(repeatedPart(S), Target);
        },
        ast::Lambdas::Skip);
  }

  /// What a loop goes through is evaluated once.
  static const Stmt *repeatedPart(const Stmt *S) {
    const auto *Range = dyn_cast<CXXForRangeStmt>(S);
    return Range ? Range->getBody() : S;
  }

  static bool names(const Stmt *S, const ValueDecl *D) {
    return ast::anyStmt(
        S,
        [&](const Stmt *Part) {
          const auto *Ref = dyn_cast<DeclRefExpr>(Part);
          const auto *Member = dyn_cast<MemberExpr>(Part);
          return (Ref && Ref->getDecl() == D) ||
                 (Member && Member->getMemberDecl() == D);
        },
        ast::Lambdas::Enter);
  }

  /// for (int i = 0; i < 3; ++i)
  bool hasFewSteps(const Stmt *S) const {
    const auto *For = dyn_cast<ForStmt>(S);
    const auto *Condition =
        For ? dyn_cast_or_null<BinaryOperator>(For->getCond()) : nullptr;
    Expr::EvalResult Limit;
    return Condition && Condition->isRelationalOp() &&
           !Condition->getRHS()->isValueDependent() &&
           Condition->getRHS()->EvaluateAsInt(Limit, Entry.code().context()) &&
           Limit.Val.getInt().getLimitedValue(FewSteps) < FewSteps;
  }

  const Execution &Entry;
  Invariance &Same;
  const AllocateEvent &Allocate;
  const VarDecl *Variable = nullptr;
  const Expr *AssignedTo = nullptr, *Assignment = nullptr;
  bool GetsHistory = false;
};

} // namespace

std::vector<RepeatedAllocation> repeatedAllocations(Program &Program) {
  std::vector<RepeatedAllocation> Result;
  for (const Execution *Entry : Program.executionsThatCost()) {
    Invariance Same(*Entry);
    for (const AllocateEvent &Allocate : Entry->events<AllocateEvent>())
      if (auto Found = AllocationQuery(*Entry, Same, Allocate).run())
        Result.push_back(*Found);
  }
  return Result;
}

} // namespace torchtidy::model
