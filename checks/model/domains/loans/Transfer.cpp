// Memory that one object owns and another uses: who lends it, and who uses it.
#include "model/domains/loans/Transfer.h"
#include "ast/Expressions.h"
#include "ast/Names.h"
#include "model/domains/attributes/Transfer.h"
#include "model/machine/Machine.h"
#include "torch/Members.h"
#include "torch/Options.h"
#include "torch/Ownership.h"
#include "torch/RawMemory.h"
#include "torch/Reading.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;
using torchtidy::torch::TypeKind;

namespace torchtidy::model::loans {

/// The local variable at P, or null.
const VarDecl *localVariable(Machine &M, PlaceId P) {
  return M.places().isRoot(P) && M.places().rootKind(P) == Root::Local
             ? M.places().variable(P)
             : nullptr;
}

static const NamespaceDecl *outermost(const Decl *D) {
  const NamespaceDecl *Result = nullptr;
  for (const DeclContext *C = D->getDeclContext(); C; C = C->getParent())
    if (const auto *N = dyn_cast<NamespaceDecl>(C))
      Result = N->getCanonicalDecl();
  return Result;
}

/// The object whose end is the end of the memory at P. Nothing where that
/// cannot be known: behind pointers and references whose target is elsewhere.
std::optional<PlaceId> ownerOf(Machine &M, PlaceId P) {
  PlaceId Owner = P;
  if (!M.places().isRoot(P) && M.places().step(P).Of == Step::Element)
    Owner = M.places().parent(P);
  for (PlaceId Around = Owner;; Around = M.places().parent(Around)) {
    const QualType Type = M.places().typeOf(Around);
    const bool IsPlace = Type.isNull() || torch::isUnique(Type) ||
                         torch::isOptional(Type) ||
                         (!Type->isReferenceType() && !Type->isPointerType() &&
                          torch::kindOf(Type) != TypeKind::Pointer);
    if (!IsPlace || (!Type.isNull() && torch::ownsNothing(Type)) ||
        (!Type.isNull() && (torch::isHandle(Type) && !torch::isUnique(Type) &&
                            !torch::isOptional(Type))))
      return std::nullopt;
    if (M.places().isRoot(Around))
      return Owner;
  }
}

static bool isFreshHandle(const VarDecl *V);
static bool isFreshExpression(const Expr *E, const CXXRecordDecl *Class);

/// image.clone().data: the object that the call returns has the memory, and
/// ends with the statement.
static std::optional<PlaceId> freshTemporary(Machine &M, const Expr *Base) {
  const auto *Call = dyn_cast<CallExpr>(ast::strip(Base));
  const CXXRecordDecl *Class = Call ? torch::classOf(Call->getType()) : nullptr;
  if (!Class || !Call->isPRValue() || !isFreshExpression(Call, Class))
    return std::nullopt;
  const PlaceId Made = M.madeBy(Call);
  insert(M.state().Temporaries, Made);
  return Made;
}

/// The objects whose memory a pointer leads to; none where one is not known.
PlaceSet lenders(Machine &M, const Expr *Pointer) {
  const Expr *E = ast::strip(Pointer);
  PlaceSet Targets;
  if (E->getType()->isArrayType()) {
    Targets = M.denote(E).Objects;
  } else if (const auto *Sum = dyn_cast<BinaryOperator>(E);
             Sum && Sum->isAdditiveOp()) {
    const bool IsLeft = Sum->getLHS()->getType()->isPointerType();
    return lenders(M, IsLeft ? Sum->getLHS() : Sum->getRHS());
  } else {
    Denotation D = M.denote(E);
    Targets = D.Own.Refs;
    for (PlaceId P : D.Objects)
      insert(Targets, M.load(P).Refs);
  }
  PlaceSet Result;
  for (PlaceId P : Targets) {
    const std::optional<PlaceId> Owner = ownerOf(M, P);
    if (!Owner)
      return {};
    insert(Result, *Owner);
  }
  if (!Result.empty())
    return Result;
  // image.data, matrix.data(): an object that owns what it leads to.
  const Expr *Base = nullptr;
  if (const auto *Member = dyn_cast<MemberExpr>(E);
      Member && !Member->isArrow()) {
    Base = Member->getBase();
  } else if (const auto *Call = dyn_cast<CXXMemberCallExpr>(E)) {
    if (torch::leadsToMemory(Call->getMethodDecl()))
      Base = Call->getImplicitObjectArgument();
  }
  if (!Base || Base->getType()->isPointerType() ||
      !torch::isHandleToMemory(Base->getType()))
    return {};
  if (const std::optional<PlaceId> Made = freshTemporary(M, Base))
    return {*Made};
  for (PlaceId P : M.denote(Base).Objects) {
    const auto *V = localVariable(M, P);
    if (!V || V->getType()->isReferenceType() ||
        !(torch::isMatrix(V->getType()) || isFreshHandle(V)))
      return {};
    insert(Result, P);
  }
  return Result;
}

static bool isFreshExpression(const Expr *E, const CXXRecordDecl *Class) {
  E = ast::strip(E);
  llvm::ArrayRef<const Expr *> Arguments;
  llvm::SmallVector<const Expr *, 4> Held;
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E)) {
    Held.assign(Construct->arg_begin(), Construct->arg_end());
    // A conversion or a copy of something that is itself fresh.
    if (Construct->getConstructor()->isCopyOrMoveConstructor())
      return isFreshExpression(Held.front(), Class);
  } else if (const auto *Call = dyn_cast<CallExpr>(E)) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (!Callee)
      return false;
    if (isa<CXXMethodDecl>(Callee) && !cast<CXXMethodDecl>(Callee)->isStatic())
      return torch::isClone(Callee);
    const NamespaceDecl *Library = outermost(Class);
    if (!Library || outermost(Callee) != Library)
      return false;
    Held.assign(Call->arg_begin(), Call->arg_end());
  } else {
    return false;
  }
  Arguments = Held;
  // What is given may be what the result leads to.
  return llvm::all_of(Arguments, [&](const Expr *Argument) {
    if (isa<CXXDefaultArgExpr>(Argument))
      return true;
    const QualType Type = ast::strip(Argument)->getType();
    const CXXRecordDecl *Record = torch::classOf(Type);
    return (!Type->isPointerType() && !Type->isArrayType() &&
            !torch::isHandleToMemory(Type)) ||
           isa<StringLiteral>(ast::strip(Argument)) ||
           (Record && torch::isStd(Record) && !torch::isContiguous(Type));
  });
}

/// The memory of such an object is its own when it was made by the library of
/// its class from nothing that has memory: cv::Mat m(8, 8, CV_8U), cv::imread.
static bool isFreshHandle(const VarDecl *V) {
  if (isa<ParmVarDecl>(V) || !V->getInit())
    return false;
  const CXXRecordDecl *Class = torch::classOf(V->getType());
  return Class && isFreshExpression(V->getInit(), Class);
}

void giveUp(Machine &M, const PlaceSet &Owners) {
  State &Now = M.state();
  for (PlaceId P : Owners) {
    insert(Now.GivenUp, P);
    if (const Value *Held = Now.find(P))
      insert(Now.GivenUp, Held->Refs);
  }
}

void own(Machine &M, PlaceId P) {
  auto IsPart = [&](PlaceId Other) { return M.places().isWithin(Other, P); };
  llvm::erase_if(M.state().GivenUp, IsPart);
  llvm::erase_if(M.state().Reserved, IsPart);
}

/// Code that cannot be seen may keep a copy of a handle to memory, or put
/// another one into it. The library of its own class only fills it.
void shareArguments(Machine &M, const FunctionDecl *Callee, const Expr *Object,
                    llvm::ArrayRef<const Expr *> Arguments) {
  auto Share = [&](const Expr *E) {
    if (torch::isTensor(E->getType()))
      return giveUp(M, M.denote(E).Objects);
    const CXXRecordDecl *Class = torch::classOf(E->getType());
    if (!torch::isHandleToMemory(E->getType()) || torch::isMatrix(E->getType()))
      return;
    const bool IsOwn =
        Callee && outermost(Class) && outermost(Callee) == outermost(Class);
    if (!IsOwn)
      giveUp(M, M.denote(E).Objects);
  };
  for (const Expr *Argument : Arguments)
    Share(Argument);
  // cv::Mat part = whole(area)
  if (Object && Callee && torch::isHandleToMemory(Callee->getReturnType()) &&
      !torch::isClone(Callee))
    giveUp(M, M.denote(Object).Objects);
}

/// A copy of a handle shares the memory.
void shareHandle(Machine &M, const Expr *E) {
  if (E && (torch::isTensor(E->getType()) ||
            (torch::isHandleToMemory(E->getType()) &&
             !torch::isMatrix(E->getType()))))
    giveUp(M, M.denote(E).Objects);
}

/// What an owner had is gone when it gets something else.
void replaceOwned(Machine &M, const Expr *Site, const Expr *To,
                  const Expr *From, const PlaceSet &Targets) {
  const CXXRecordDecl *Class = torch::classOf(To->getType());
  if (torch::isHandleToMemory(To->getType()) &&
      !torch::isMatrix(To->getType()) && !isFreshExpression(From, Class)) {
    giveUp(M, Targets);
    shareHandle(M, From);
  }
  if (torch::isTensor(From->getType()))
    shareHandle(M, From);
  if (!Class || Class->hasTrivialDestructor())
    return;
  for (PlaceId P : Targets) {
    if (M.places().isSummary(P))
      continue;
    endHeld(M, P, EndKind::Delete, Site);
    endMemory(M, P, EndKind::Reallocation, Site);
  }
}

/// A task, or a module, keeps it.
void keepInBackground(Machine &M, const Value &V) {
  if (!V.borrows())
    return;
  Value Kept;
  Kept.Loans = V.Loans;
  Kept.Dangling = V.Dangling;
  M.storeWeak(M.background(), Kept);
}

void lend(Machine &M, Value &To, const Expr *Site, const PlaceSet &Owners) {
  for (PlaceId Owner : Owners)
    insert(To.Loans, M.names().loan(M.frame(), Site, Owner));
}

/// Whether to(), cpu() and their like return the tensor itself, as far as what
/// they are given says.
static bool asksForNothing(Machine &M, const CallExpr *Call,
                           const Value &Self) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  const auto Arguments = ast::argumentsOf(Call);
  for (unsigned I = 0; Callee && I < Arguments.size(); ++I) {
    const Expr *Argument = Arguments[I];
    if (isa<CXXDefaultArgExpr>(Argument) || I >= Callee->getNumParams())
      continue;
    const ParmVarDecl *Parameter = Callee->getParamDecl(I);
    if (torch::isCopyFlag(Parameter)) {
      if (ast::boolAt(Argument, false) != false)
        return false;
      continue;
    }
    if (Argument->getType()->isBooleanType())
      continue;
    const Value Said = M.deepValue(Argument);
    // A literal other device, or one that is known to be one: a copy.
    if (Said.OnDevice.get() && *Said.OnDevice.get() != Device::CPU)
      return false;
    const QualType Type = Parameter->getType().getNonReferenceType();
    if (torch::isDevice(Type))
      continue;
    if (torch::isTensor(Type))
      return false;
    const std::optional<StringRef> Scalar = Said.Scalar.get();
    if (Scalar == StringRef(DefaultScalar))
      continue;
    if (!Scalar || Scalar != Self.Scalar.get())
      return false;
  }
  return true;
}

/// Returns true only if the result is known to share its operand's storage.
static bool keepsMemory(Machine &M, const OperationCall &Call) {
  const torch::Operation &Op = *Call.Op;
  const Value &Self = Call.Values.front();
  if (!Self.borrows())
    return false;
  if (Op.View != torch::Tri::Maybe)
    return Op.View == torch::Tri::Yes;
  if (torch::sharesContiguous(Op))
    return Self.InLayout.get() == Layout::Contiguous;
  const std::optional<Device> At = Self.OnDevice.get();
  const bool IsOnCpu = !At || *At == Device::CPU;
  switch (torch::transferOf(Op)) {
  case torch::Transfer::Cpu:
    return IsOnCpu;
  case torch::Transfer::To:
  case torch::Transfer::ToType:
    return IsOnCpu && asksForNothing(M, Call.Call, Self);
  case torch::Transfer::Cuda:
  case torch::Transfer::None:
    return false;
  }
}

/// A tensor over memory that it does not own: from_blob. One with a deleter
/// owns it.
static void borrow(Machine &M, const CallExpr *Call, Value &Result) {
  if (Call->getNumArgs() == 0)
    return;
  const bool SaysType = describeBlob(M, Call, Result);
  if (!torch::hasDeleter(Call))
    lend(M, Result, Call, lenders(M, Call->getArg(0)));
  M.emit<BorrowEvent>(Call, [&](BorrowEvent &E) {
    E.Pointer = Call->getArg(0);
    E.SaysType = SaysType;
    E.Result = Result;
  });
}

void operation(Machine &M, const OperationCall &Call, Value &Result) {
  const torch::Operation &Op = *Call.Op;
  if (torch::isFromBlob(Op))
    borrow(M, Call.Call, Result);
  if (Call.Operands.empty() || Op.Writes == torch::operation::Self ||
      Op.Writes == torch::operation::Out)
    return;
  // What a view or a detached alias designates, it still designates.
  if (Op.View != torch::Tri::No)
    shareHandle(M, Call.Operands.front());
  if (keepsMemory(M, Call)) {
    Result.Loans = Call.Values.front().Loans;
    Result.Dangling = Call.Values.front().Dangling;
  }
}

void touch(Machine &M, const Expr *Site, const Value &V) {
  if (V.Dangling.empty())
    return;
  M.emit<TouchEvent>(Site, [&](TouchEvent &E) { E.Dangling = V.Dangling; });
}

/// What reads the data of tensors that it is given.
void touchOperands(Machine &M, const CallExpr *Call, const torch::Call &Kind,
                   const Expr *Object, llvm::ArrayRef<const Expr *> Arguments) {
  const torch::DataReads Reads = torch::dataReads(Call, Kind);
  if (Object && Reads.OfObject && torch::mayHoldTensor(Object->getType()))
    touch(M, Call, M.deepValue(Object));
  for (const Expr *Argument : Arguments)
    if (Reads.OfArguments && !isa<CXXDefaultArgExpr>(Argument) &&
        torch::mayHoldTensor(Argument->getType()))
      touch(M, Call, M.deepValue(Argument));
}

} // namespace torchtidy::model::loans
