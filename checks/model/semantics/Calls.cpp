#include "model/semantics/Calls.h"
#include "model/domains/attributes/Transfer.h"
#include "model/domains/device/Copies.h"
#include "model/domains/device/Transfer.h"
#include "model/domains/loans/Transfer.h"
#include "model/semantics/Assignment.h"
#include "model/semantics/Autograd.h"
#include "model/semantics/Construction.h"
#include "model/semantics/Foreign.h"
#include "model/semantics/GradMode.h"
#include "model/semantics/HostReads.h"
#include "model/semantics/Library.h"
#include "model/semantics/Modules.h"
#include "model/semantics/Opaque.h"
#include "model/semantics/Operations.h"
#include "model/semantics/Optimizers.h"
#include "model/semantics/Registration.h"
#include "model/semantics/Std.h"
#include "model/semantics/Waiting.h"
#include "torch/Devices.h"
#include "torch/Options.h"
#include "torch/Ownership.h"

using namespace clang;
using torchtidy::torch::Api;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

/// The function that gives a call its meaning; null for forward passes and
/// foreign code, of which the body may have been seen.
static Meaning meaningOf(Api Kind) {
  switch (Kind) {
  case Api::Operation:
    return operations::call;
  case Api::Library:
    return libraryCall;
  case Api::Std:
    return stdCall;
  // Autograd.
  case Api::Backward:
    return autograd::backward;
  case Api::Grad:
    return autograd::grad;
  case Api::GradAccess:
    return autograd::gradient;
  case Api::RequiresGrad:
    return autograd::requireGrad;
  case Api::GradFn:
    return autograd::gradFn;
  case Api::SetGradMode:
    return gradmode::set;
  // Optimizers.
  case Api::OptimizerStep:
    return optimizers::step;
  case Api::OptimizerZeroGrad:
  case Api::ModuleZeroGrad:
    return optimizers::zeroGrad;
  case Api::OptimizerAdd:
    return optimizers::add;
  case Api::OptimizerParameters:
    return optimizers::parameters;
  // Modules.
  case Api::ModuleParameters:
    return modules::parameters;
  case Api::ModuleTrain:
    return modules::train;
  case Api::ModuleEval:
    return modules::eval;
  case Api::Load:
    return modules::load;
  case Api::Freeze:
    return modules::freeze;
  case Api::Initialize:
    return modules::initialize;
  case Api::NoEffect:
    return modules::otherMember;
  // Registration.
  case Api::RegisterModule:
    return registration::registerModule;
  case Api::RegisterParameter:
    return registration::registerParameter;
  case Api::RegisterBuffer:
    return registration::registerBuffer;
  case Api::ModuleForward:
  case Api::Foreign:
    return nullptr;
  }
  llvm_unreachable("not a kind of call");
}

/// x.device(), x.options(): has said what there is to say.
static bool isDeviceOfTensor(const CallExpr *Call) {
  const Expr *Object = ast::objectOf(Call);
  return Object && torch::isTensor(Object->getType());
}

static void finish(Machine &M, const Expr *E, Denotation D) {
  if (const auto *Call = dyn_cast<CallExpr>(E))
    loans::lendOfObject(M, Call, D.Own);
  if (!torch::mayBorrow(E->getType()))
    D.Own.forgetLoans();
  // loss.grad_fn()->name()
  if (torch::isPlainData(E->getType())) {
    D.Own.forgetHistory();
    D.Own.Refs.clear();
  }
  if (D.Objects.empty())
    device::complete(E, D.Own);
  if (torch::isTensorOptions(E->getType()) && D.Objects.empty())
    D.Own.Scalar = scalarOfOptions(M, E, D.Own);
  if (const auto *Call = dyn_cast<CallExpr>(E);
      Call && D.Objects.empty() && torch::maySayDevice(E->getType()) &&
      !isDeviceOfTensor(Call))
    D.Own.Index = device::indexOfReturned(Call, D.Own);
  if (const auto *Call = dyn_cast<CallExpr>(E);
      Call && torch::isTensorOptions(E->getType()))
    device::describePinning(Call, D.Own);
  M.remember(E, std::move(D));
}

/// What an activation has returned; nothing where that is not what the call
/// does.
static std::optional<Denotation> returnedBy(Machine &M, const Frame *Callee) {
  if (Callee->IsThread || Callee->Range ||
      isa<CXXConstructorDecl>(Callee->Function))
    return std::nullopt;
  const QualType Type = Callee->Function->getReturnType();
  if (Type->isVoidType())
    return std::nullopt;
  Denotation Result;
  const PlaceId Returned = M.returned(Callee);
  if (!Type->isReferenceType())
    Result.Objects = {Returned};
  else if (const Value *Held = M.state().find(Returned))
    Result.Objects = Held->Refs;
  return Result;
}

using Activations = llvm::ArrayRef<const Frame *>;

/// A module of a Sequential hands on to another, seen or not: what it returns
/// is not what the call does.
static bool handsOn(const Frame *Callee) {
  return Callee->Link.Module && !Callee->Link.IsLast;
}

/// What a call has returned whose body was seen, or of whose bodies one has
/// run; nothing for others.
static std::optional<Denotation> expanded(Machine &M, Activations Callees) {
  std::optional<Denotation> Result;
  for (const Frame *Callee : Callees)
    if (const std::optional<Denotation> One =
            handsOn(Callee) ? std::nullopt : returnedBy(M, Callee)) {
      if (Result)
        Result->join(*One);
      else
        Result = One;
    }
  return Result;
}

/// A method of the user's network other than forward() runs it all the same.
static bool runsNetwork(Machine &M, const CallSite &Site,
                        const Denotation &Returned, Activations Callees) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Site.callee());
  const QualType Type = Site.Call->getType();
  return Method && Site.Object &&
         !isa<CXXThisExpr>(Site.Object->IgnoreParenImpCasts()) &&
         torch::kindOf(Method->getParent()) == TypeKind::Module &&
         torch::mayHoldTensor(Type) && !torch::isModule(Type) &&
         llvm::any_of(Callees, [&](const Frame *Callee) {
           return modules::recordsIn(M, Returned, Callee);
         });
}

static Denotation foreign(Machine &M, const CallSite &Site, Activations Callees,
                          const std::optional<Denotation> &Returned) {
  if (Callees.empty())
    return foreignCall(M, Site.Call, Site.callee(), Site.Object,
                       Site.Arguments);
  if (!Returned)
    return {};
  return runsNetwork(M, Site, *Returned, Callees)
             ? modules::forward(M, Site, Returned)
             : *Returned;
}

/// What unseen modules at the end of a Sequential are given.
static Value handedToUnseen(Machine &M, Activations Callees) {
  Value Result;
  for (const Frame *Callee : Callees) {
    const bool IsFollowed = llvm::any_of(Callees, [&](const Frame *Other) {
      return Other->Link.Before == Callee;
    });
    if (handsOn(Callee) && !IsFollowed)
      Result.join(M.deepLoad(M.returned(Callee)));
  }
  return Result;
}

static Denotation denoted(Machine &M, const CallSite &Site) {
  const Activations Callees = M.graph().expansions(M.frame(), Site.Call);
  const std::optional<Denotation> Returned = expanded(M, Callees);
  if (M.isRecording() && Callees.empty()) {
    loans::touchOperands(M, Site.Call, Site.Kind, Site.Object, Site.Arguments);
    emitHostReads(M, Site);
    emitOpaque(M, Site);
  }
  device::meetCopies(M, Site.Call, Site.Kind, !Callees.empty());
  switch (Site.Kind.Kind) {
  case Api::ModuleForward:
    return modules::forward(M, Site, Returned, handedToUnseen(M, Callees));
  case Api::Foreign:
    return foreign(M, Site, Callees, Returned);
  case Api::Std:
    if (Returned)
      return *Returned;
    break;
  default:
    break;
  }
  return meaningOf(Site.Kind.Kind)(M, Site);
}

void visitCall(Machine &M, const CallExpr *Call) {
  const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
  if (Operator && Operator->getOperator() == OO_Equal &&
      Operator->getNumArgs() == 2) {
    assign(M, Call, Operator->getArg(0), Operator->getArg(1));
    return finish(M, Call, M.denote(Operator->getArg(0)));
  }
  const CallSite Site(Call);
  const Denotation Returned = denoted(M, Site);
  if (M.isRecording() && M.graph().expansions(M.frame(), Call).empty())
    emitDeviceWork(M, Site, Returned);
  finish(M, Call, Returned);
}

void visitConstruct(Machine &M, const CXXConstructExpr *Construct) {
  emitOpaque(M, Construct);
  finish(M, Construct, construct(M, Construct));
}

} // namespace torchtidy::model
