#include "model/domains/registration/Transfer.h"
#include "ast/Expressions.h"
#include "model/machine/Machine.h"
#include "torch/Api.h"
#include "torch/Modules.h"
#include "torch/Types.h"

using namespace clang;
using torchtidy::torch::Tri;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

/// Of a member of a module: a weight of a layer, what the class registers.
void registration::initial(Machine &M, PlaceId P, Value &Result) {
  const PlaceTable &Places = M.places();
  if (Places.isRoot(P) || Places.step(P).Of != Step::Field)
    return;
  const FieldDecl *Member = Places.step(P).Member;
  const auto *Class = dyn_cast<CXXRecordDecl>(Member->getParent());
  if (!Class || torch::kindOf(Class) != TypeKind::Module)
    return;
  if (torch::isLibTorch(Class)) {
    if (torch::isTensor(Member->getType()))
      Result.Registered = registered::Yes;
    return;
  }
  // Its constructors are still at it.
  for (const Frame *Active = M.frame(); Active; Active = Active->Caller)
    if (const auto *Constructor =
            dyn_cast<CXXConstructorDecl>(Active->Function);
        Constructor &&
        torch::kindOf(Constructor->getParent()) == TypeKind::Module)
      return;
  if (M.code().isRegisteredByClass(Member))
    Result.Registered = registered::Yes;
}

/// A module that is registered says nothing of its members.
void registration::part(Machine &M, PlaceId P, Value &Part) {
  Part.Registered = 0;
  initial(M, P, Part);
}

void registration::operation(Machine & /*M*/, const OperationCall &Call,
                             Value &Result) {
  // F::relu(x, F::ReLUFuncOptions().inplace(true)) returns x.
  const bool MayBeOperand =
      torch::functionalOperation(Call.Call->getDirectCallee()) &&
      !torch::functionalMakesTensor(Call.Call);
  Result.Registered =
      (Call.Op->View == Tri::No && !MayBeOperand) || Call.isFactory()
          ? uint8_t(registered::No)
          : Call.self().Registered | registered::No;
}

/// What a layer, or a function of torch::nn::functional, computes.
void registration::call(Machine & /*M*/, const LibraryCall &Call,
                        Value &Result) {
  const Expr *Object = ast::objectOf(Call.Call);
  const bool IsComputed =
      Call.IsForward
          ? Object && torch::computesAnew(torch::moduleClass(Object->getType()))
          : torch::functionalMakesTensor(Call.Call);
  if (IsComputed)
    Result.Registered = registered::No;
}

} // namespace torchtidy::model
