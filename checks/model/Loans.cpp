// Memory that one object owns and another uses: who lends it, and who uses it.
#include "flow/Names.h"
#include "model/Interpreter.h"
#include "model/LoanTypes.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;
using torchtidy::torch::Api;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

static const NamespaceDecl *outermost(const Decl *D) {
  const NamespaceDecl *Result = nullptr;
  for (const DeclContext *C = D->getDeclContext(); C; C = C->getParent())
    if (const auto *N = dyn_cast<NamespaceDecl>(C))
      Result = N->getCanonicalDecl();
  return Result;
}

/// The object whose end is the end of the memory at P. Nothing where that
/// cannot be known: behind pointers and references whose target is elsewhere.
std::optional<PlaceId> Interpreter::ownerOf(PlaceId P) {
  PlaceId Owner = P;
  if (!Places.isRoot(P) && Places.step(P).Of == Step::Element)
    Owner = Places.parent(P);
  for (PlaceId Around = Owner;; Around = Places.parent(Around)) {
    const QualType Type = Places.typeOf(Around);
    const bool IsPlace = Type.isNull() || isUnique(Type) ||
                         torch::isOptional(Type) ||
                         (!Type->isReferenceType() && !Type->isPointerType() &&
                          torch::kindOf(Type) != TypeKind::Pointer);
    if (!IsPlace || isWindow(Type) ||
        (!Type.isNull() && (torch::isHandle(Type) && !isUnique(Type) &&
                            !torch::isOptional(Type))))
      return std::nullopt;
    if (Places.isRoot(Around))
      return Owner;
  }
}

/// The objects whose memory a pointer leads to; none where one is not known.
PlaceSet Interpreter::lenders(const Expr *Pointer) {
  const Expr *E = strip(Pointer);
  PlaceSet Targets;
  if (E->getType()->isArrayType()) {
    Targets = denote(E).Objects;
  } else if (const auto *Sum = dyn_cast<BinaryOperator>(E);
             Sum && Sum->isAdditiveOp()) {
    const bool IsLeft = Sum->getLHS()->getType()->isPointerType();
    return lenders(IsLeft ? Sum->getLHS() : Sum->getRHS());
  } else {
    Denotation D = denote(E);
    Targets = D.Own.Refs;
    for (PlaceId P : D.Objects)
      insert(Targets, load(P).Refs);
  }
  PlaceSet Result;
  for (PlaceId P : Targets) {
    const std::optional<PlaceId> Owner = ownerOf(P);
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
    const StringRef Name = flow::nameOf(Call->getMethodDecl());
    if (Name == "data" || Name == "ptr")
      Base = Call->getImplicitObjectArgument();
  }
  if (!Base || Base->getType()->isPointerType() ||
      !isHandleToMemory(Base->getType()))
    return {};
  for (PlaceId P : denote(Base).Objects) {
    const auto *V = Places.isRoot(P) && Places.rootKind(P) == Root::Local
                        ? static_cast<const VarDecl *>(Places.key(P))
                        : nullptr;
    if (!V || V->getType()->isReferenceType() ||
        !(isMatrix(V->getType()) || isFreshHandle(V)))
      return {};
    insert(Result, P);
  }
  return Result;
}

static bool isFreshExpression(const Expr *E, const CXXRecordDecl *Class) {
  E = strip(E);
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
      return flow::nameOf(Callee) == "clone";
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
    const QualType Type = strip(Argument)->getType();
    const CXXRecordDecl *Record = classOf(Type);
    return (!Type->isPointerType() && !Type->isArrayType() &&
            !isHandleToMemory(Type)) ||
           isa<StringLiteral>(strip(Argument)) ||
           (Record && torch::isStd(Record) && !isContiguous(Type));
  });
}

/// The memory of such an object is its own when it was made by the library of
/// its class from nothing that has memory: cv::Mat m(8, 8, CV_8U), cv::imread.
bool Interpreter::isFreshHandle(const VarDecl *V) {
  if (isa<ParmVarDecl>(V) || !V->getInit())
    return false;
  const CXXRecordDecl *Class = classOf(V->getType());
  return Class && isFreshExpression(V->getInit(), Class);
}

void Interpreter::giveUp(const PlaceSet &Owners) {
  for (PlaceId P : Owners) {
    insert(GivenUp, P);
    if (const Value *Held = S->find(P))
      insert(GivenUp, Held->Refs);
  }
}

/// Code that cannot be seen may keep a copy of a handle to memory, or put
/// another one into it. The library of its own class only fills it.
void Interpreter::shareArguments(const FunctionDecl *Callee, const Expr *Object,
                                 llvm::ArrayRef<const Expr *> Arguments) {
  auto Share = [&](const Expr *E) {
    if (torch::isTensor(E->getType()))
      return giveUp(denote(E).Objects);
    const CXXRecordDecl *Class = classOf(E->getType());
    if (!isHandleToMemory(E->getType()) || isMatrix(E->getType()))
      return;
    const bool IsOwn =
        Callee && outermost(Class) && outermost(Callee) == outermost(Class);
    if (!IsOwn)
      giveUp(denote(E).Objects);
  };
  for (const Expr *Argument : Arguments)
    Share(Argument);
  // cv::Mat part = whole(area)
  if (Object && Callee && isHandleToMemory(Callee->getReturnType()) &&
      flow::nameOf(Callee) != "clone")
    giveUp(denote(Object).Objects);
}

/// A copy of a handle shares the memory.
void Interpreter::shareHandle(const Expr *E) {
  if (E && (torch::isTensor(E->getType()) ||
            (isHandleToMemory(E->getType()) && !isMatrix(E->getType()))))
    giveUp(denote(E).Objects);
}

/// What an owner had is gone when it gets something else.
void Interpreter::reassign(const Expr *Site, const Expr *To, const Expr *From,
                           const PlaceSet &Targets) {
  const CXXRecordDecl *Class = classOf(To->getType());
  if (isHandleToMemory(To->getType()) && !isMatrix(To->getType()) &&
      !isFreshExpression(From, Class)) {
    giveUp(Targets);
    shareHandle(From);
  }
  if (torch::isTensor(From->getType()))
    shareHandle(From);
  if (!hasLoans() || !Class || Class->hasTrivialDestructor())
    return;
  for (PlaceId P : Targets) {
    if (Places.isSummary(P))
      continue;
    endHeld(P, EndKind::Delete, Site);
    endMemory(P, EndKind::Reallocation, Site);
  }
}

/// A task, or a module, keeps it.
void Interpreter::keepInBackground(const Value &V) {
  if (V.Loans.empty() && V.Dangling.empty())
    return;
  Value Kept;
  Kept.Loans = V.Loans;
  Kept.Dangling = V.Dangling;
  storeWeak(background(), Kept);
}

void Interpreter::lend(Value &To, const Expr *Site, const PlaceSet &Owners) {
  if (Owners.empty())
    return;
  const OriginId Taken = origin(Origin::Loan, Site);
  for (PlaceId Owner : Owners) {
    auto [It, Inserted] = LoanIds.try_emplace({Taken, Owner}, 0);
    if (Inserted) {
      It->second = Origins.size();
      Origins.push_back({Origin::Loan, F, Site, Owner});
      LoanList.push_back(It->second);
    }
    insert(To.Loans, It->second);
  }
}

/// Whether the result of an operation is, as far as that is known, in the
/// memory of its operand. Where it is not known at all, it is not.
bool Interpreter::keepsMemory(const torch::Operation &Op, const CallExpr *Call,
                              const Value &Self) {
  if (Self.Loans.empty() && Self.Dangling.empty())
    return false;
  if (Op.View != torch::Tri::Maybe)
    return Op.View == torch::Tri::Yes;
  const std::optional<Device> At = Self.OnDevice.get();
  if (Op.Name == "contiguous" || Op.Name == "reshape" || Op.Name == "flatten")
    return Self.InLayout.get() == Layout::Contiguous;
  if (Op.Name == "cpu")
    return !At || *At == Device::CPU;
  if (Op.Name != "to" && Op.Name != "toType")
    return false;
  const FunctionDecl *Callee = Call->getDirectCallee();
  const auto Arguments = argumentsOf(Call);
  for (unsigned I = 0; Callee && I < Arguments.size(); ++I) {
    const Expr *Argument = Arguments[I];
    if (isa<CXXDefaultArgExpr>(Argument) || I >= Callee->getNumParams())
      continue;
    const StringRef Parameter = flow::nameOf(Callee->getParamDecl(I));
    if (Parameter == "copy") {
      bool IsKnown = true;
      if (literalBool(Argument, false, IsKnown) || !IsKnown)
        return false;
      continue;
    }
    if (Argument->getType()->isBooleanType())
      continue;
    const Value Said = deepValue(Argument);
    // A literal other device, or one that is known to be one: a copy.
    if (Said.OnDevice.get() && *Said.OnDevice.get() != Device::CPU)
      return false;
    const QualType Type =
        Callee->getParamDecl(I)->getType().getNonReferenceType();
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
  return !At || *At == Device::CPU;
}

void Interpreter::touch(const Expr *Site, const Value &V) {
  if (V.Dangling.empty())
    return;
  Event E;
  E.Kind = EventKind::Touch;
  E.Site = Site;
  E.Result = V;
  emit(std::move(E));
}

/// What reads the data of tensors that it is given.
void Interpreter::touchOperands(const CallExpr *Call, const torch::Call &Kind,
                                const Expr *Object,
                                llvm::ArrayRef<const Expr *> Arguments) {
  const StringRef Name = flow::nameOf(Call->getDirectCallee());
  bool ReadsObject = false, ReadsArguments = true;
  switch (Kind.Kind) {
  case Api::Operation:
    // Views read nothing, nor does size().
    ReadsArguments = ReadsObject =
        Kind.Op->View != torch::Tri::Yes &&
        !(Kind.Op->Returns == torch::operation::Scalar &&
          Kind.Op->Sync == torch::Tri::No);
    break;
  case Api::ModuleForward:
  case Api::Foreign:
    break;
  case Api::Library:
    // Not its size, its device or whether it is defined.
    ReadsObject = Name.contains("data_ptr") || Name.contains("accessor");
    ReadsArguments = !Object;
    break;
  default:
    return;
  }
  if (Object && ReadsObject && torch::mayHoldTensor(Object->getType()))
    touch(Call, deepValue(Object));
  for (const Expr *Argument : Arguments)
    if (ReadsArguments && !isa<CXXDefaultArgExpr>(Argument) &&
        torch::mayHoldTensor(Argument->getType()))
      touch(Call, deepValue(Argument));
}

} // namespace torchtidy::model
