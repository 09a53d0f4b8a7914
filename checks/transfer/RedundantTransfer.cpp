#include "transfer/RedundantTransfer.h"
#include "ast/Expressions.h"
#include "queries/devices/DeviceUse.h"
#include "queries/devices/SettledVariables.h"
#include "queries/devices/Transfers.h"
#include "queries/loops/LoopInvariance.h"
#include "queries/memory/OutlivedLoans.h"
#include "queries/memory/Sizes.h"
#include "queries/paths/Uses.h"
#include "torch/Api.h"
#include "torch/Devices.h"
#include "torch/Elements.h"
#include "torch/Members.h"
#include "torch/Options.h"
#include "torch/Saving.h"
#include "torch/Shapes.h"
#include "torch/Types.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;
namespace op = torchtidy::torch::operation;

namespace torchtidy::model {

namespace {

const torch::Operation *operationOf(const Expr *E) {
  const auto *Call = dyn_cast_or_null<CallExpr>(E);
  return Call ? torch::classify(Call).Op : nullptr;
}

/// x.clone(), with the strides of x.
const CXXMemberCallExpr *asClone(const Expr *E) {
  const auto *Call = dyn_cast_or_null<CXXMemberCallExpr>(E);
  return operationOf(Call) && torch::isClone(Call->getMethodDecl()) &&
                 llvm::all_of(Call->arguments(),
                              [](const Expr *Argument) {
                                return isa<CXXDefaultArgExpr>(Argument);
                              })
             ? Call
             : nullptr;
}

/// The same variable, or member of this object.
bool isSameName(const Expr *A, const Expr *B) {
  A = ast::stripCopies(A);
  B = ast::stripCopies(B);
  const auto *First = dyn_cast<DeclRefExpr>(A);
  const auto *Second = dyn_cast<DeclRefExpr>(B);
  if (First && Second)
    return First->getDecl() == Second->getDecl();
  const auto *Mine = dyn_cast<MemberExpr>(A);
  const auto *Other = dyn_cast<MemberExpr>(B);
  return Mine && Other && Mine->getMemberDecl() == Other->getMemberDecl() &&
         isa<CXXThisExpr>(ast::strip(Mine->getBase())) &&
         isa<CXXThisExpr>(ast::strip(Other->getBase()));
}

/// E is Of, or computed by operations from nothing else: it is where Of is.
bool isComputedFrom(const Expr *E, const Expr *Of) {
  if (isSameName(E, Of))
    return true;
  const auto *Call = dyn_cast<CallExpr>(ast::stripCopies(E));
  const torch::Operation *Op = operationOf(Call);
  if (!Op || Op->has(op::Factory) || Op->has(op::ChangesDevice))
    return false;
  llvm::SmallVector<const Expr *, 4> Operands = ast::argumentsOf(Call);
  if (const Expr *Object = ast::objectOf(Call))
    Operands.push_back(Object);
  bool Found = false;
  for (const Expr *Operand : Operands) {
    if (isa<CXXDefaultArgExpr>(Operand))
      continue;
    if (torch::mayHoldTensor(Operand->getType())) {
      if (!isComputedFrom(Operand, Of))
        return false;
      Found = true;
    } else if (torch::maySayDevice(Operand->getType()) &&
               !torch::isScalarType(
                   Operand->IgnoreUnlessSpelledInSource()->getType())) {
      return false;
    }
  }
  return Found;
}

/// A transfer, with what stands around it.
class RedundancyQuery {
public:
  RedundancyQuery(const Execution &Entry, const TransferEvent &Transfer,
                  bool HasDevice)
      : Entry(Entry), Transfer(Transfer), HasDevice(HasDevice),
        Flow(*Transfer.In->Flow), Call(cast<CXXMemberCallExpr>(Transfer.Site)),
        Object(ast::stripCopies(Call->getImplicitObjectArgument())) {
    if (const std::optional<Chained> Before = chainedTo(Flow, Call))
      Source = Before->Source;
  }

  std::optional<RedundantTransfer> run() const {
    using Redundant = RedundantTransfer;
    if (const auto Way = wayBack())
      return Redundant{&Entry, Redundant::WayBack, Way, &Transfer};
    if (isThere())
      return Redundant{&Entry,
                       Transfer.MovesDevice ? Redundant::IsThere
                                            : Redundant::HasType,
                       Call, &Transfer};
    if (isKnownSmall(Entry, Transfer.Input))
      return std::nullopt;
    const CXXMemberCallExpr *After = cloneBehind();
    // A tensor that a graph has saved is not to be changed, its clone may be.
    const bool IsOwn =
        Transfer.Input.SavedBy.empty() && (isFresh(Object) || isOnlyHandle());
    if (After && (copiesForCertain() || IsOwn))
      return Redundant{&Entry, Redundant::CloneAfter, After, &Transfer};
    if (After && HasDevice && mayComeFromElsewhere() && isOnlyReadHere(After))
      return Redundant{&Entry, Redundant::UnwrittenAfter, After, &Transfer};
    const CXXMemberCallExpr *Before = asClone(Object);
    if (Before &&
        isFresh(ast::stripCopies(Before->getImplicitObjectArgument())))
      return Redundant{&Entry, Redundant::FreshClone, Before, &Transfer};
    if (Before && copiesForCertain() && !Transfer.IsNonBlocking)
      return Redundant{&Entry, Redundant::CloneBefore, Before, &Transfer};
    if (Before && HasDevice && mayBeNeededElsewhere() && isOnlyRead(Before))
      return Redundant{&Entry, Redundant::UnwrittenClone, Before, &Transfer};
    return std::nullopt;
  }

private:
  /// The transfer that makes E in the same activation.
  const TransferEvent *transferOf(const Expr *E) const {
    for (const TransferEvent &Each : Entry.events<TransferEvent>())
      if (Each.Site == E && Each.In == Transfer.In)
        return &Each;
    return nullptr;
  }

  /// A copy, whatever else is said, or in another order.
  bool saysMore() const {
    const FunctionDecl *Callee = Call->getDirectCallee();
    bool IsBehind = !Callee;
    for (unsigned I = 0; Callee && I < Call->getNumArgs(); ++I) {
      IsBehind |= torch::isCopyFlag(Callee->getParamDecl(I));
      if (IsBehind && !isa<CXXDefaultArgExpr>(Call->getArg(I)))
        return true;
    }
    return IsBehind && !Callee;
  }

  bool isNamedByVariable(const Value &V) const {
    const std::optional<PlaceId> From = V.DeviceFrom.get();
    return From && isSettled(Entry, *From, Transfer.In);
  }

  /// What others give may be elsewhere the next time.
  bool isGiven() const {
    const auto *Ref = dyn_cast<DeclRefExpr>(Object);
    return isa<MemberExpr>(Object) || (Ref && isa<ParmVarDecl>(Ref->getDecl()));
  }

  /// cpu(), cuda(), to(torch::kCUDA): no index.
  static bool namesConstant(const CallExpr *Asks) {
    const torch::Operation *Op = operationOf(Asks);
    if (Op && torch::transferOf(*Op) != torch::Transfer::To)
      return true;
    const auto Arguments = ast::argumentsOf(Asks);
    const auto *Ref =
        Arguments.empty()
            ? nullptr
            : dyn_cast<DeclRefExpr>(ast::stripCopies(Arguments[0]));
    return Ref && torch::deviceOf(Ref->getDecl());
  }

  /// x.device() of x.to(x.device()): x.
  const Expr *askedTensor() const {
    const auto Arguments = ast::argumentsOf(Call);
    const auto *Asked =
        Arguments.empty()
            ? nullptr
            : dyn_cast<CXXMemberCallExpr>(ast::stripCopies(Arguments[0]));
    const CXXMethodDecl *Method = Asked ? Asked->getMethodDecl() : nullptr;
    return Method && torch::isLibTorch(Method) && torch::saysDevice(Method) &&
                   !torch::saysOptions(Method)
               ? Asked->getImplicitObjectArgument()
               : nullptr;
  }

  bool isOnSameDevice() const {
    const Value &From = Transfer.Input, &To = Transfer.Result;
    if (const Expr *Asked = askedTensor())
      return isComputedFrom(Object, Asked);
    if (const TransferEvent *Before = transferOf(Source);
        Before && Before->MovesDevice &&
        namesConstant(cast<CallExpr>(Before->Site)) && namesConstant(Call))
      return To.OnDevice.get() && Before->Result.OnDevice == To.OnDevice;
    if (isGiven())
      return false;
    if (From.DeviceFrom.get() && From.DeviceFrom == To.DeviceFrom)
      return isNamedByVariable(To);
    return To.isOnCpu() && From.isOnCpu() && namesConstant(Call);
  }

  /// What a local variable is declared with, which it stays.
  const Expr *initializerOf(const Expr *E) const {
    const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E);
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    const bool Stays =
        V && V->getInit() && V->hasLocalStorage() &&
        V->getDeclContext() == Flow.function() &&
        llvm::none_of(mentionsOf(Flow, V), [&](const DeclRefExpr *Mention) {
          return mayChangeHere(Flow, Mention);
        });
    return Stays ? ast::stripCopies(V->getInit()) : E;
  }

  /// The code that makes E says of which type it is.
  bool saysItsType(const Expr *E, unsigned Depth = 0) const {
    const auto *Made = dyn_cast_or_null<CallExpr>(initializerOf(E));
    const torch::Operation *Op = operationOf(Made);
    if (!Op || Depth > 8)
      return false;
    if (Op->has(op::Factory))
      return Entry.events<DefaultDTypeEvent>().empty();
    if (torch::isTransfer(*Op) && mayConvert(Made))
      return true;
    const Expr *Of = ast::objectOf(Made);
    return Of && torch::keepsElements(*Op) &&
           saysItsType(ast::stripCopies(Of), Depth + 1);
  }

  /// Both types, where they are certain.
  bool areTypesCertain() const {
    const auto From = Transfer.Input.Scalar.get(),
               To = Transfer.Result.Scalar.get();
    return From && To && *From != DefaultScalar && *To != DefaultScalar &&
           saysItsType(Source ? Source : Object);
  }
  bool isSameType() const {
    return Transfer.Input.Scalar == Transfer.Result.Scalar;
  }

  bool isThere() const {
    if (saysMore() || (Transfer.MovesDevice && !HasDevice))
      return false;
    const bool Converts = Transfer.ConvertsType || mayConvert(Call);
    return (Transfer.MovesDevice || Converts) &&
           (!Transfer.MovesDevice || isOnSameDevice()) &&
           (!Converts || (areTypesCertain() && isSameType()));
  }

  bool copiesForCertain() const {
    const auto From = Transfer.Input.OnDevice.get(),
               To = Transfer.Result.OnDevice.get();
    return (Transfer.MovesDevice && From && To && *From != *To) ||
           (Transfer.ConvertsType && areTypesCertain() && !isSameType());
  }

  /// From the CPU to a device that a variable names.
  bool mayBeNeededElsewhere() const {
    return Transfer.MovesDevice && !Transfer.IsNonBlocking && !saysMore() &&
           Transfer.Input.isOnCpu() && Transfer.Result.mayBeElsewhere();
  }

  /// x.to(..).clone(), x.to(..).contiguous().clone()
  const CXXMemberCallExpr *cloneBehind() const {
    const CXXMemberCallExpr *Next = calledOn(Flow, Call);
    for (const torch::Operation *Op = operationOf(Next);
         Op && (torch::makesContiguous(*Op) || torch::isDetach(*Op));
         Op = operationOf(Next))
      Next = calledOn(Flow, Next);
    return asClone(Next);
  }

  /// To the CPU, from where it may be elsewhere.
  bool mayComeFromElsewhere() const {
    return Transfer.MovesDevice && !Transfer.IsNonBlocking && !saysMore() &&
           Transfer.Result.isOnCpu() && !Transfer.Input.isOnCpu();
  }

  /// The copy is a variable of a function, or of an iteration, that a loop runs
  /// again, which only computes other tensors of it, and writes none.
  bool isOnlyReadHere(const CXXMemberCallExpr *Clone) const {
    const auto Uses = usesOf(Flow, Clone);
    return Uses && !Entry.loopsAround(Transfer.Point).empty() &&
           declaredWith(Flow, Clone) && !writesAny() &&
           llvm::all_of(*Uses, [](const Use &Each) {
             const torch::Operation *Op = operationOf(Each.Call);
             return asksForShape(Each) || (Op && Op->View == torch::Tri::No &&
                                           Op->Writes == op::NoArgument);
           });
  }

  /// The function that the copy is made in, or what it calls, writes a tensor,
  /// or gives one to code that is not seen: it may be what was copied.
  bool writesAny() const {
    const auto IsHere = [&](const Event &E) {
      const Frame *F = E.In;
      while (F && F != Transfer.In)
        F = F->Caller;
      return F != nullptr;
    };
    return llvm::any_of(Entry.events<WriteEvent>(), IsHere) ||
           llvm::any_of(Entry.events<EscapeEvent>(), IsHere) ||
           llvm::any_of(Entry.events<StepEvent>(), IsHere) || mayBeOthers();
  }

  /// The copy is a variable of one iteration, which only computes with it, and
  /// what it was made of stays as it is in the loop.
  bool isOnlyRead(const CXXMemberCallExpr *Clone) const {
    const auto Around = Entry.loopsAround(Transfer.Point);
    const auto Uses = usesOf(Flow, Call);
    if (Around.empty() || !Uses || !declaredWith(Flow, Call) ||
        llvm::any_of(*Uses, [](const Use &Each) {
          const FunctionDecl *Callee = Each.Call->getDirectCallee();
          return !Callee || torch::isStd(Callee);
        }))
      return false;
    const Expr *Of = ast::stripCopies(Clone->getImplicitObjectArgument());
    for (const torch::Operation *Op = operationOf(Of);
         Op && Op->View == torch::Tri::Yes && ast::objectOf(cast<CallExpr>(Of));
         Op = operationOf(Of))
      Of = ast::stripCopies(ast::objectOf(cast<CallExpr>(Of)));
    return isa<DeclRefExpr, MemberExpr>(Of) && !mayBeOthers() &&
           !leaves(*Around.back()) &&
           Invariance(Entry).hasSameContent(Of, Transfer.In, *Around.back());
  }

  /// Memory that LibTorch does not own is used in place somewhere: a camera
  /// writes it when it likes, and the copy is what it held at one time.
  bool mayBeOthers() const {
    return llvm::any_of(Entry.events<BorrowEvent>(), [](const BorrowEvent &E) {
      const auto *Blob = dyn_cast<Expr>(E.Site);
      return !Blob || !E.In->Flow || !asClone(calledOn(*E.In->Flow, Blob));
    });
  }

  /// Something writes the memory of the copy, or has it when the iteration is
  /// over.
  bool leaves(const flow::Loop &L) const {
    const AllocationId Copy = Transfer.Memory;
    const auto LivesOn = [&](PlaceId P) {
      return Entry.outlives(P, L) != false;
    };
    return llvm::any_of(
               Entry.events<WriteEvent>(),
               [&](const WriteEvent &E) { return E.Before.uses(Copy); }) ||
           llvm::any_of(
               Entry.events<EscapeEvent>(),
               [&](const EscapeEvent &E) { return E.Given.uses(Copy); }) ||
           llvm::any_of(Entry.events<KeepEvent>(),
                        [&](const KeepEvent &E) {
                          return E.Kept.uses(Copy) &&
                                 llvm::any_of(E.Places, LivesOn);
                        }) ||
           llvm::any_of(Entry.holdersAtEnd(Copy), LivesOn);
  }

  /// What an operation returns and nothing else holds.
  static bool isFresh(const Expr *E) {
    const torch::Operation *Op = operationOf(E);
    return Op && E->isPRValue() && Op->View == torch::Tri::No &&
           Op->Writes == op::NoArgument && !torch::isFromBlob(*Op);
  }

  /// A variable that holds what an operation returns, and that nothing else
  /// mentions: whoever has the transfer's result has it alone. Not one that a
  /// loop behind it comes back to.
  bool isOnlyHandle() const {
    const auto *Ref = dyn_cast<DeclRefExpr>(Object);
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (!V || !V->hasLocalStorage() || isa<ParmVarDecl>(V) ||
        V->getType()->isReferenceType() || !V->getInit() ||
        V->getDeclContext() != Flow.function() ||
        !isFresh(ast::stripCopies(V->getInit())) ||
        llvm::size(mentionsOf(Flow, V)) != 1)
      return false;
    for (const Stmt *S = Call; S; S = Flow.parent(S)) {
      if (isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt, LambdaExpr>(S))
        return false;
      const auto *Block = dyn_cast<CompoundStmt>(S);
      if (Block && llvm::any_of(Block->body(), [V](const Stmt *Each) {
            const auto *Declared = dyn_cast<DeclStmt>(Each);
            return Declared && llvm::is_contained(Declared->decls(), V);
          }))
        return true;
    }
    return false;
  }

  /// x.cpu() of x.cpu().to(device).
  const CallExpr *wayBack() const {
    const TransferEvent *Down = transferOf(Object);
    if (!Down || !HasDevice || !mayLeaveCpu(Transfer) || !Down->MovesDevice ||
        !Down->Result.isOnCpu() || mayConvert(cast<CallExpr>(Down->Site)) ||
        isKnownSmall(Entry, Down->Input))
      return nullptr;
    const Value &From = Down->Input, &To = Transfer.Result;
    const bool IsElsewhere = From.OnDevice.get() && !From.isOnCpu() &&
                             To.OnDevice.get() && !To.isOnCpu();
    const bool IsSame = From.DeviceFrom.get() &&
                        From.DeviceFrom == To.DeviceFrom &&
                        isNamedByVariable(To);
    return IsElsewhere || IsSame ? cast<CallExpr>(Down->Site) : nullptr;
  }

  const Execution &Entry;
  const TransferEvent &Transfer;
  const bool HasDevice;
  const flow::ControlFlow &Flow;
  const CXXMemberCallExpr *Call;
  /// What it is called on, and what that was made by, where it is certain.
  const Expr *Object, *Source = nullptr;
};

/// The memory that ends before a tensor over it. A copy was wanted there: to()
/// is one call too few, not one too many. Few programs have such tensors, so
/// nobody looks before there is one.
class OutlivedBlobs {
public:
  explicit OutlivedBlobs(Program &Program) : Of(Program) {}

  bool contains(const Expr *Taken) {
    if (!Sites) {
      Sites.emplace();
      for (const OutlivedLoan &Found : outlivedLoans(Of, isBlob))
        Sites->insert(Found.Taken->Site);
    }
    return Sites->count(Taken);
  }

private:
  Program &Of;
  std::optional<llvm::SmallPtrSet<const Expr *, 4>> Sites;
};

} // namespace

/// It computes its result, whatever it is given. Others may return what they
/// are given: dropout() does in eval mode.
static bool computesAlways(const torch::Operation &Op) {
  return torch::isPointwise(Op) || torch::broadcasts(Op) ||
         torch::rearranges(Op) || (torch::savedBy(Op) & torch::saving::Both);
}

/// The clone() of what an operation has made where it stands. What a graph has
/// saved is not to be changed, and its clone may be; a sum is small; and who
/// clones what a factory has made may want no leaf.
static bool isOfFresh(const Execution &Entry, const ChainEvent &Link) {
  const torch::Operation *Op = operationOf(ast::strip(Link.Operand));
  return asClone(Link.Site) && Op && computesAlways(*Op) &&
         !Op->has(op::Factory) && !Op->has(op::LikeFactory) &&
         !torch::isFromBlob(*Op) && !torch::reduces(*Op) &&
         !(torch::savedBy(*Op) & torch::saving::Result) &&
         Link.OfOperand.SavedBy.empty() &&
         !isKnownSmall(Entry, Link.OfOperand) &&
         Link.OfOperand.InShape.elements().value_or(SmallElements) >=
             SmallElements;
}

/// Where no transfer is told of beside it.
static void addClones(Program &Program,
                      std::vector<RedundantTransfer> &Result) {
  llvm::SmallPtrSet<const Expr *, 8> Known;
  for (const RedundantTransfer &Each : Result)
    Known.insert(Each.Call);
  for (const Execution *Entry : Program.executionsThatCost())
    for (const ChainEvent &Link : Entry->events<ChainEvent>())
      if (isOfFresh(*Entry, Link) && Known.insert(Link.Site).second)
        Result.push_back({Entry, RedundantTransfer::FreshAlone,
                          cast<CallExpr>(Link.Site), &Link});
}

std::vector<RedundantTransfer> redundantTransfers(Program &Program) {
  const bool HasDevice = mayUseDevice(Program);
  OutlivedBlobs Outlived(Program);
  // However the function is called.
  llvm::MapVector<const Stmt *, std::optional<RedundantTransfer>> BySite;
  for (const Execution *Entry : Program.executionsThatCost())
    for (const TransferEvent &Transfer : Entry->events<TransferEvent>()) {
      if (!isa<CXXMemberCallExpr>(Transfer.Site) || !Transfer.In->Flow)
        continue;
      if (llvm::any_of(Transfer.Input.Loans, [&](LoanId Id) {
            return Outlived.contains(Entry->loan(Id).Site);
          }))
        continue;
      const auto Found = RedundancyQuery(*Entry, Transfer, HasDevice).run();
      const auto [It, IsNew] = BySite.insert({Transfer.Site, Found});
      if (!IsNew && It->second && (!Found || Found->How != It->second->How))
        It->second = std::nullopt;
    }
  std::vector<RedundantTransfer> Result;
  for (const auto &[Site, Found] : BySite)
    if (Found)
      Result.push_back(*Found);
  addClones(Program, Result);
  return Result;
}

} // namespace torchtidy::model
