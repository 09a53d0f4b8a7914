// Pointers, references and lists that lead into objects which an expression has
// made: data_ptr() of a temporary tensor, an ArrayRef over a temporary list.
#include "ast/Expressions.h"
#include "model/domains/loans/Transfer.h"
#include "model/domains/shape/Transfer.h"
#include "model/machine/Machine.h"
#include "torch/Members.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;
using torchtidy::torch::Api;
using torchtidy::torch::Operation;
using torchtidy::torch::Tri;

namespace torchtidy::model::loans {

/// An IValue that a script module has computed, or the tuple in it.
static bool isComputedIValue(const Expr *E) {
  E = ast::strip(E);
  while (const auto *Call = dyn_cast_or_null<CallExpr>(E)) {
    const Expr *Object = ast::objectOf(Call);
    if (torch::classify(Call).Kind == Api::ModuleForward)
      return isLayer(Call);
    const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
    const bool LeadsOn = torch::leadsIntoIValue(Call->getDirectCallee()) ||
                         (Operator && (Operator->getOperator() == OO_Arrow ||
                                       Operator->getOperator() == OO_Star));
    if (!LeadsOn || !Object)
      return false;
    E = ast::strip(Object);
  }
  return false;
}

/// The tensor may be the sole owner of its storage, which then dies with it.
/// False where it is for certain that of a tensor with a name, or not known.
static bool isFreshStorage(Machine &M, const Expr *E) {
  E = ast::strip(E);
  const auto *Call = dyn_cast_or_null<CallExpr>(E);
  if (!Call || !E->isPRValue() || !torch::isTensor(E->getType()))
    return false;
  if (computesResult(Call))
    return true;
  // forward(x).toTensor()
  if (torch::isToTensor(Call->getDirectCallee()))
    return ast::objectOf(Call) && isComputedIValue(ast::objectOf(Call));
  const torch::Call Kind = torch::classify(Call);
  if (Kind.Kind != Api::Operation || !Kind.Op || torch::isFromBlob(*Kind.Op))
    return false;
  const Operation &Op = *Kind.Op;
  if (Op.Writes != torch::operation::NoArgument)
    return false;
  if (Op.View == Tri::No)
    return true;
  const Expr *Operand = ast::firstOperand(Call);
  if (!Operand)
    return false;
  if (isFreshStorage(M, Operand))
    return true;
  if (Op.View == Tri::Yes)
    return false;
  // These return the tensor itself when there is nothing to do.
  const Value Of = M.deepValue(Operand);
  if (torch::makesContiguous(Op))
    return Of.InLayout.get() != Layout::Contiguous;
  if (torch::transferOf(Op) == torch::Transfer::Cpu)
    return Of.OnDevice.get() != Device::CPU;
  return torch::isTransfer(Op);
}

/// flatten() over a single dimension: it has nothing to do, and returns the
/// tensor itself.
static bool flattensOne(Machine &M, const CallExpr *Call) {
  const auto Arguments = ast::argumentsOf(Call);
  const bool IsMember = isa<CXXMemberCallExpr>(Call);
  const auto DimensionAt = [&](unsigned I, int64_t Default) {
    const unsigned At = IsMember ? I : I + 1;
    return At < Arguments.size() && !isa<CXXDefaultArgExpr>(Arguments[At])
               ? shape::numberAt(M, Arguments[At])
               : std::optional<int64_t>(Default);
  };
  std::optional<int64_t> First = DimensionAt(0, 0), Last = DimensionAt(1, -1);
  const std::optional<unsigned> Rank =
      M.deepValue(ast::firstOperand(Call)).InShape.rank();
  if (!First || !Last)
    return false;
  for (std::optional<int64_t> *Each : {&First, &Last})
    if (Rank && **Each < 0)
      **Each += *Rank;
  return *First == *Last;
}

/// The same elements in another tensor, be it a view or a copy: reshape().
static bool makesAnother(Machine &M, const CallExpr *Call,
                         const Operation &Op) {
  if (Op.View == Tri::Yes)
    return true;
  return Op.View == Tri::Maybe && torch::changesShape(Op) &&
         !(torch::mayReturnItself(Op) && flattensOne(M, Call));
}

/// The tensor object (its sizes, not its data) is made by this expression.
static bool isNewTensor(Machine &M, const Expr *E) {
  const auto *Call = dyn_cast_or_null<CallExpr>(ast::strip(E));
  if (!Call || !Call->isPRValue() || !torch::isTensor(Call->getType()))
    return false;
  if (isFreshStorage(M, Call))
    return true;
  const torch::Call Kind = torch::classify(Call);
  return Kind.Kind == Api::Operation && Kind.Op &&
         makesAnother(M, Call, *Kind.Op) &&
         Kind.Op->Writes == torch::operation::NoArgument;
}

static void lendTemporary(Machine &M, Value &To, const Expr *Site,
                          const Expr *Made) {
  const PlaceId P = M.madeBy(ast::strip(Made));
  insert(M.state().Temporaries, P);
  lend(M, To, Site, {P});
}

/// A local tensor that nothing else holds, whose memory no graph has saved:
/// what becomes of it is known. Copies and views give it up.
static void lendOfVariable(Machine &M, Value &To, const Expr *Site,
                           const Expr *Tensor) {
  for (PlaceId P : M.denote(Tensor).Objects) {
    const auto *V = localVariable(M, P);
    if (!V || isa<ParmVarDecl>(V) || !V->getType()->isRecordType())
      continue;
    const Value Held = M.load(P);
    if (Held.History == history::None && Held.Loans.empty() &&
        Held.InStorage.get() == Storage::Owns)
      lend(M, To, Site, {P});
  }
}

/// What a call lends of the object that it is made on.
void lendOfObject(Machine &M, const CallExpr *Call, Value &To) {
  const Expr *Object = ast::objectOf(Call);
  if (!Object || Object->getType().isNull())
    return;
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (torch::isTensor(Object->getType())) {
    const bool IsPointer = torch::isDataPointer(Callee);
    const bool IsList = torch::isSizeList(Callee);
    if ((IsPointer && isFreshStorage(M, Object)) ||
        (IsList && isNewTensor(M, Object)))
      lendTemporary(M, To, Call, Object);
    else if (IsPointer || IsList)
      lendOfVariable(M, To, Call, Object);
    return;
  }
  const bool Leads = Call->isGLValue() || Call->getType()->isPointerType();
  if (!Leads || !Callee)
    return;
  // A reference to a part of what is itself lent.
  if ((torch::isStd(Callee) || torch::isLibTorch(Callee))) {
    const Value Of = M.denote(Object).Own;
    To.takeLoans(Of);
  }
  const Expr *Made = ast::strip(Object);
  const CXXRecordDecl *Class = torch::recordOf(Made->getType());
  if (!Class || !torch::isLibTorch(Class))
    return;
  const bool IsDict = torch::isOrderedDict(Class) && Made->isPRValue() &&
                      !isa<CXXThisExpr>(Made);
  if (IsDict && !Made->getType()->isPointerType())
    return lendTemporary(M, To, Call, Made);
  // forward(x).toTuple()->elements(), forward(x).toTupleRef()
  const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
  if (Operator || !isComputedIValue(Object))
    return;
  while (const auto *Arrow = dyn_cast<CXXOperatorCallExpr>(Made))
    Made = ast::strip(Arrow->getArg(0));
  if (Made->isPRValue() && Made->getType()->isRecordType())
    lendTemporary(M, To, Call, Made);
}

/// An ArrayRef that is kept, over a list, a container or a value.
void lendToList(Machine &M, const CXXConstructExpr *Construct, Value &To,
                bool IsTemporary) {
  if (!torch::isArrayRef(Construct->getConstructor()->getParent()) ||
      Construct->getNumArgs() == 0 ||
      Construct->getConstructor()->isCopyOrMoveConstructor())
    return;
  if (IsTemporary) {
    // An argument lives as long as the call.
    const Stmt *Parent =
        M.frame()->Flow ? M.frame()->Flow->parent(Construct) : nullptr;
    while (isa_and_nonnull<FullExpr, ParenExpr, MaterializeTemporaryExpr,
                           CXXBindTemporaryExpr, CastExpr>(Parent))
      Parent = M.frame()->Flow->parent(Parent);
    const auto *Operator = dyn_cast_or_null<CXXOperatorCallExpr>(Parent);
    const bool IsKept = isa_and_nonnull<ReturnStmt>(Parent) ||
                        (Operator && Operator->getOperator() == OO_Equal);
    if (!IsKept)
      return;
  }
  const Expr *Source = Construct->getArg(0);
  const Expr *List = ast::strip(Source);
  const bool IsList = isa<CXXStdInitializerListExpr>(List);
  if (IsList || (List->isPRValue() && !torch::ownsNothing(List->getType())))
    return lendTemporary(M, To, Construct, List);
  PlaceSet Owners;
  for (PlaceId P : M.denote(Source).Objects) {
    const std::optional<PlaceId> Owner = ownerOf(M, P);
    if (!Owner)
      return;
    insert(Owners, *Owner);
  }
  lend(M, To, Construct, Owners);
}

/// A pointer, a reference or a list that leads into what is gone.
void touchVariable(Machine &M, const DeclRefExpr *Ref) {
  const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
  if (!V || V->getType()->isDependentType() ||
      !torch::ownsNothing(V->getType()))
    return;
  const Value *Held = M.state().find(M.placeOf(V));
  if (!Held || Held->Dangling.empty())
    return;
  // It gets another binding.
  if (!V->getType()->isReferenceType() && M.frame()->Flow) {
    const Stmt *Parent = M.frame()->Flow->parent(Ref);
    if (const auto *Binary = dyn_cast_or_null<BinaryOperator>(Parent);
        Binary && Binary->getOpcode() == BO_Assign && Binary->getLHS() == Ref)
      return;
    if (const auto *Operator = dyn_cast_or_null<CXXOperatorCallExpr>(Parent);
        Operator && Operator->getOperator() == OO_Equal &&
        Operator->getArg(0) == Ref)
      return;
  }
  touch(M, Ref, *Held);
}

} // namespace torchtidy::model::loans
