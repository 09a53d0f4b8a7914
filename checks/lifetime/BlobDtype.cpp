#include "lifetime/BlobDtype.h"
#include "queries/devices/Transfers.h"
#include "queries/paths/Uses.h"
#include "torch/Api.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace torchtidy::model {

/// Its memory is of a type that only the run knows: it hands the same memory
/// out as whatever is asked for (cv::Mat::ptr<T>()).
static bool isOfAnyType(const CXXRecordDecl *Class) {
  return Class && llvm::any_of(Class->decls(), [](const Decl *D) {
           const auto *Template = dyn_cast<FunctionTemplateDecl>(D);
           if (!Template)
             return false;
           const QualType Type = Template->getTemplatedDecl()->getReturnType();
           const QualType Pointee = Type->getPointeeType();
           return !Pointee.isNull() && Pointee->isTemplateTypeParmType();
         });
}

/// The class whose member the pointer is, or that has returned it.
static const CXXRecordDecl *giverOf(const Expr *E) {
  const VarDecl *Last = nullptr;
  while (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    // Of `char *p = p;` nothing is known.
    if (!V || V == Last || !V->isLocalVarDecl() || !V->getInit() ||
        !V->getType()->isPointerType())
      return nullptr;
    Last = V;
    E = V->getInit()->IgnoreParenImpCasts();
  }
  const Decl *From = nullptr;
  if (const auto *Member = dyn_cast<MemberExpr>(E))
    From = Member->getMemberDecl();
  else if (const auto *Call = dyn_cast<CXXMemberCallExpr>(E))
    From = Call->getMethodDecl();
  return From ? dyn_cast<CXXRecordDecl>(From->getDeclContext()) : nullptr;
}

/// The type that the pointer has where somebody last said what it leads to:
/// casts to void* and away from const say nothing.
static QualType pointeeOf(const Expr *E) {
  while (true) {
    E = E->IgnoreParenImpCasts();
    const auto *Cast = dyn_cast<ExplicitCastExpr>(E);
    if (!Cast)
      break;
    if (!isa<CXXConstCastExpr>(Cast) && !Cast->getType()->isVoidPointerType())
      break;
    E = Cast->getSubExpr();
  }
  const QualType Type = E->getType();
  if (Type.isNull() || Type->isDependentType())
    return QualType();
  if (Type->isPointerType() && Type->getPointeeType()->isCharType() &&
      isOfAnyType(giverOf(E)))
    return QualType();
  if (const ArrayType *Array = Type->getAsArrayTypeUnsafe())
    return Array->getElementType();
  return Type->isPointerType() ? Type->getPointeeType() : QualType();
}

static bool converts(const CXXMemberCallExpr *Call) {
  const torch::Operation *Op = Call ? torch::classify(Call).Op : nullptr;
  return Op && torch::transferOf(*Op) != torch::Transfer::None &&
         mayConvert(Call);
}

/// What is done to E at once, x.view(s).to(dtype), makes another type of it.
static bool isConverted(const flow::ControlFlow &Flow, const Expr *E) {
  for (const auto *Call = calledOn(Flow, E); Call; Call = calledOn(Flow, Call))
    if (converts(Call))
      return true;
  return false;
}

/// Wherever V, which it is in, is named.
static bool isAlwaysConverted(const flow::ControlFlow &Flow, const VarDecl *V) {
  const auto Mentions = mentionsOf(Flow, V);
  return !Mentions.empty() && llvm::all_of(Mentions, [&](const auto *Each) {
    return isConverted(Flow, Each);
  });
}

/// An operation writes into the memory through the tensor: a converted copy
/// would take that in its place.
static bool isWritten(const Execution &Entry, const VarDecl *V) {
  return llvm::any_of(Entry.events<WriteEvent>(), [&](const auto &Write) {
    return !Write.IsPointer && llvm::any_of(Write.Places, [&](PlaceId P) {
      return Entry.places().variable(P) == V;
    });
  });
}

static bool isTypeNeeded(const Execution &Entry, const BorrowEvent &Blob) {
  const flow::ControlFlow *Flow = Blob.In->Flow;
  if (!Flow)
    return true;
  if (isConverted(*Flow, Blob.Site))
    return false;
  const VarDecl *V = declaredWith(*Flow, Blob.Site);
  return !V || (!isAlwaysConverted(*Flow, V) && !isWritten(Entry, V));
}

std::vector<MistypedBlob> mistypedBlobs(Program &Program) {
  std::vector<MistypedBlob> Result;
  bool HasOtherDefault = false;
  for (const auto &Entry : Program.executions())
    HasOtherDefault |= !Entry->events<DefaultDTypeEvent>().empty();
  for (const auto &Entry : Program.executions())
    for (const BorrowEvent &Blob : Entry->events<BorrowEvent>()) {
      const std::optional<StringRef> ReadAs = Blob.Result.Scalar.get();
      if (!ReadAs || (!Blob.SaysType && HasOtherDefault))
        continue;
      const QualType Pointee = pointeeOf(Blob.Pointer);
      const std::optional<torch::Element> Memory =
          torch::elementOf(Pointee, Program.context());
      if (!Memory || torch::fits(*Memory, *ReadAs, Blob.SaysType))
        continue;
      MistypedBlob Found;
      Found.Entry = Entry.get();
      Found.Blob = &Blob;
      Found.Pointee = Pointee;
      Found.Memory = *Memory;
      Found.ReadAs = *ReadAs;
      Found.IsSaid = Blob.SaysType;
      Found.IsTypeNeeded = isTypeNeeded(*Entry, Blob);
      Result.push_back(Found);
    }
  return Result;
}

} // namespace torchtidy::model
