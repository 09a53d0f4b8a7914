#include "model/semantics/Foreign.h"
#include "model/domains/device/Transfer.h"
#include "model/domains/loans/Transfer.h"
#include "torch/Types.h"

using namespace clang;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

namespace {

/// What unknown code gets.
class Gift {
public:
  explicit Gift(Machine &M) : M(M) {}

  PlaceSet Places;
  Value Given;
  bool ConcernsTorch = false;

  void add(const Expr *Argument, QualType Parameter) {
    if (!torch::mayHoldTensor(Argument->getType()))
      return changeDevices(Argument, Parameter);
    ConcernsTorch = true;
    Given.join(M.deepValue(Argument));
    const bool IsWritable =
        Parameter.isNull() || (Parameter->isReferenceType() &&
                               !Parameter->getPointeeType().isConstQualified());
    if (leadsToObject(Argument->getType()))
      giveAway(M.identity(Argument));
    else if (IsWritable)
      giveAway(M.objects(Argument));
  }

  void addObject(const Expr *Object, bool IsConst) {
    if (!torch::mayHoldTensor(Object->getType()))
      return;
    ConcernsTorch = true;
    const PlaceSet Self = M.pointees(M.receiver(Object));
    if (!IsConst)
      giveAway(Self);
    for (PlaceId P : Self)
      Given.join(M.deepLoad(P));
  }

private:
  static bool leadsToObject(QualType Type) {
    switch (torch::kindOf(Type)) {
    case TypeKind::Pointer:
    case TypeKind::ModuleHolder:
    case TypeKind::Module:
    case TypeKind::Optimizer:
    case TypeKind::ScriptModule:
      return true;
    default:
      return Type->isPointerType();
    }
  }

  /// What is no tensor, and may be written there: a device, a structure that
  /// has one.
  void changeDevices(const Expr *Argument, QualType Parameter) {
    const QualType Led = Parameter.isNull() ? Argument->getType() : Parameter;
    const QualType To = Led->getPointeeType();
    if (To.isNull() || To.isConstQualified())
      return;
    for (PlaceId P : M.pointees(M.objects(Argument)))
      device::loseIndices(M, P);
  }

  void giveAway(const PlaceSet &Reachable) {
    insert(Places, Reachable);
    lose(M, Reachable);
  }

  Machine &M;
};

} // namespace

Denotation foreignCall(Machine &M, const Expr *Call, const FunctionDecl *Callee,
                       const Expr *Object,
                       llvm::ArrayRef<const Expr *> Arguments) {
  Denotation Result;
  loans::shareArguments(M, Callee, Object, Arguments);
  // Seen, and known to have nothing to do with tensors.
  if (const FunctionDecl *Definition = M.code().functions().definition(Callee))
    if (!M.code().concernsTorch(Definition))
      return Result;
  Gift To(M);
  for (unsigned I = 0; I < Arguments.size(); ++I)
    To.add(Arguments[I], Callee && I < Callee->getNumParams()
                             ? Callee->getParamDecl(I)->getType()
                             : QualType());
  if (Object) {
    const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Callee);
    To.addObject(Object, Method && Method->isConst());
  }
  if (torch::mayHoldTensor(Call->getType())) {
    Result.Own.History = history::Unknown;
    Result.Own.Share = share::Unknown;
    Result.Own.takeOrigins(To.Given);
  }
  if (To.ConcernsTorch)
    M.emit<EscapeEvent>(Call, [&](EscapeEvent &E) {
      E.Places = To.Places;
      insert(E.Places, M.withParts(To.Places));
      E.Given = To.Given;
    });
  return Result;
}

} // namespace torchtidy::model
