// Pointers, references and lists that lead into objects which an expression has
// made: data_ptr() of a temporary tensor, an ArrayRef over a temporary list.
#include "flow/Names.h"
#include "model/Interpreter.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using torchtidy::torch::Api;
using torchtidy::torch::Operation;
using torchtidy::torch::Tri;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

static const Expr *firstOperand(const CallExpr *Call) {
  if (const Expr *Object = objectOf(Call))
    return Object;
  return Call->getNumArgs() ? Call->getArg(0) : nullptr;
}

/// Layers and containers of LibTorch compute what they return.
static bool isForward(const CallExpr *Call) {
  if (torch::classify(Call).Kind != Api::ModuleForward)
    return false;
  const Expr *Object = objectOf(Call);
  const CXXRecordDecl *Class =
      Object ? torch::moduleClass(Object->getType()) : nullptr;
  return Class && torch::isLibTorch(Class) &&
         torch::parametersOf(Class) != torch::Parameters::None;
}

/// An IValue that a script module has computed, or the tuple in it.
static bool isComputedIValue(const Expr *E) {
  E = strip(E);
  while (const auto *Call = dyn_cast_or_null<CallExpr>(E)) {
    const Expr *Object = objectOf(Call);
    if (torch::classify(Call).Kind == Api::ModuleForward)
      return isForward(Call);
    const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
    const bool LeadsOn = flow::calleeName(Call).starts_with("to") ||
                         (Operator && (Operator->getOperator() == OO_Arrow ||
                                       Operator->getOperator() == OO_Star));
    if (!LeadsOn || !Object)
      return false;
    E = strip(Object);
  }
  return false;
}

/// The memory of this tensor may be nobody else's: it is gone with the tensor.
/// False where it is for certain that of a tensor with a name, or not known.
bool Interpreter::isFreshStorage(const Expr *E) {
  E = strip(E);
  const auto *Call = dyn_cast_or_null<CallExpr>(E);
  if (!Call || !E->isPRValue() || !torch::isTensor(E->getType()))
    return false;
  if (isForward(Call))
    return true;
  // forward(x).toTensor()
  if (flow::calleeName(Call) == "toTensor")
    return objectOf(Call) && isComputedIValue(objectOf(Call));
  const torch::Call Kind = torch::classify(Call);
  if (Kind.Kind != Api::Operation || !Kind.Op || Kind.Op->Name == "from_blob")
    return false;
  const Operation &Op = *Kind.Op;
  if (Op.Writes != torch::operation::NoArgument)
    return false;
  if (Op.View == Tri::No)
    return true;
  const Expr *Operand = firstOperand(Call);
  if (!Operand)
    return false;
  if (isFreshStorage(Operand))
    return true;
  if (Op.View == Tri::Yes)
    return false;
  // These return the tensor itself where nothing is to be done.
  const Value Of = deepValue(Operand);
  if (Op.Name == "contiguous")
    return Of.InLayout.get() != Layout::Contiguous;
  if (Op.Name == "cpu")
    return Of.OnDevice.get() != Device::CPU;
  return Op.Name == "to" || Op.Name == "cuda" || Op.Name == "toType";
}

/// The tensor object (its sizes, not its data) is made by this expression.
bool Interpreter::isNewTensor(const Expr *E) {
  const auto *Call = dyn_cast_or_null<CallExpr>(strip(E));
  if (!Call || !Call->isPRValue() || !torch::isTensor(Call->getType()))
    return false;
  if (isFreshStorage(Call))
    return true;
  const torch::Call Kind = torch::classify(Call);
  return Kind.Kind == Api::Operation && Kind.Op && Kind.Op->View == Tri::Yes &&
         Kind.Op->Writes == torch::operation::NoArgument;
}

void Interpreter::lendTemporary(Value &To, const Expr *Site, const Expr *Made) {
  const PlaceId P = Places.root(Root::Object, F->Id, strip(Made));
  Temporaries.insert(P);
  lend(To, Site, {P});
}

/// A local tensor that nothing else holds, whose memory no graph has saved:
/// what becomes of it is known. Copies and views give it up.
void Interpreter::lendOfVariable(Value &To, const Expr *Site,
                                 const Expr *Tensor) {
  for (PlaceId P : denote(Tensor).Objects) {
    const auto *V = Places.isRoot(P) && Places.rootKind(P) == Root::Local
                        ? static_cast<const VarDecl *>(Places.key(P))
                        : nullptr;
    if (!V || isa<ParmVarDecl>(V) || !V->getType()->isRecordType())
      continue;
    const Value Held = load(P);
    if (Held.History == history::None && Held.Loans.empty() &&
        Held.InStorage.get() == Storage::Owns)
      lend(To, Site, {P});
  }
}

/// What a call lends of the object that it is made on.
void Interpreter::lendOfObject(const CallExpr *Call, Value &To) {
  const Expr *Object = objectOf(Call);
  if (!Object || Object->getType().isNull())
    return;
  const StringRef Name = flow::calleeName(Call);
  if (torch::isTensor(Object->getType())) {
    const bool IsPointer = Name == "data_ptr" || Name == "const_data_ptr" ||
                           Name == "mutable_data_ptr";
    const bool IsList = Name == "sizes" || Name == "strides" ||
                        Name == "sym_sizes" || Name == "sym_strides";
    if ((IsPointer && isFreshStorage(Object)) ||
        (IsList && isNewTensor(Object)))
      lendTemporary(To, Call, Object);
    else if (IsPointer || IsList)
      lendOfVariable(To, Call, Object);
    return;
  }
  const FunctionDecl *Callee = Call->getDirectCallee();
  const bool Leads = Call->isGLValue() || Call->getType()->isPointerType();
  if (!Leads || !Callee)
    return;
  // A reference to a part of what is itself lent.
  if (hasLoans() && (torch::isStd(Callee) || torch::isLibTorch(Callee))) {
    const Value Of = denote(Object).Own;
    insert(To.Loans, Of.Loans);
    insert(To.Dangling, Of.Dangling);
  }
  const Expr *Made = strip(Object);
  const CXXRecordDecl *Class = torch::recordOf(Made->getType());
  if (!Class || !torch::isLibTorch(Class))
    return;
  const bool IsDict = Class->getIdentifier() &&
                      Class->getName() == "OrderedDict" && Made->isPRValue() &&
                      !isa<CXXThisExpr>(Made);
  if (IsDict && !Made->getType()->isPointerType())
    return lendTemporary(To, Call, Made);
  // forward(x).toTuple()->elements(), forward(x).toTupleRef()
  const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
  if (Operator || !isComputedIValue(Object))
    return;
  while (const auto *Arrow = dyn_cast<CXXOperatorCallExpr>(Made))
    Made = strip(Arrow->getArg(0));
  if (Made->isPRValue() && Made->getType()->isRecordType())
    lendTemporary(To, Call, Made);
}

/// An ArrayRef that is kept, over a list, a container or a value.
void Interpreter::lendToList(const CXXConstructExpr *Construct, Value &To,
                             bool IsTemporary) {
  const CXXRecordDecl *Record = Construct->getConstructor()->getParent();
  if (!Record->getIdentifier() || Record->getName() != "ArrayRef" ||
      !torch::isLibTorch(Record) || Construct->getNumArgs() == 0 ||
      Construct->getConstructor()->isCopyOrMoveConstructor())
    return;
  if (IsTemporary) {
    // An argument lives as long as the call.
    const Stmt *Parent = F->Flow ? F->Flow->parent(Construct) : nullptr;
    while (isa_and_nonnull<FullExpr, ParenExpr, MaterializeTemporaryExpr,
                           CXXBindTemporaryExpr, CastExpr>(Parent))
      Parent = F->Flow->parent(Parent);
    const auto *Operator = dyn_cast_or_null<CXXOperatorCallExpr>(Parent);
    const bool IsKept = isa_and_nonnull<ReturnStmt>(Parent) ||
                        (Operator && Operator->getOperator() == OO_Equal);
    if (!IsKept)
      return;
  }
  const Expr *Source = Construct->getArg(0);
  const Expr *List = strip(Source);
  const bool IsList = isa<CXXStdInitializerListExpr>(List);
  if (IsList || (List->isPRValue() && !torch::isWindow(List->getType())))
    return lendTemporary(To, Construct, List);
  PlaceSet Owners;
  for (PlaceId P : denote(Source).Objects) {
    const std::optional<PlaceId> Owner = ownerOf(P);
    if (!Owner)
      return;
    insert(Owners, *Owner);
  }
  lend(To, Construct, Owners);
}

/// A pointer, a reference or a list that leads into what is gone.
void Interpreter::touchVariable(const DeclRefExpr *Ref) {
  const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
  if (!V || V->getType()->isDependentType() || !torch::isWindow(V->getType()))
    return;
  const Value *Held = S->find(placeOf(V));
  if (!Held || Held->Dangling.empty())
    return;
  // It is bound anew.
  if (!V->getType()->isReferenceType() && F->Flow) {
    const Stmt *Parent = F->Flow->parent(Ref);
    if (const auto *Binary = dyn_cast_or_null<BinaryOperator>(Parent);
        Binary && Binary->getOpcode() == BO_Assign && Binary->getLHS() == Ref)
      return;
    if (const auto *Operator = dyn_cast_or_null<CXXOperatorCallExpr>(Parent);
        Operator && Operator->getOperator() == OO_Equal &&
        Operator->getArg(0) == Ref)
      return;
  }
  touch(Ref, *Held);
}

} // namespace torchtidy::model
