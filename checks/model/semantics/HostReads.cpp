#include "model/semantics/HostReads.h"
#include "torch/Members.h"

using namespace clang;
using torchtidy::torch::Api;
using torchtidy::torch::TypeKind;
namespace op = torchtidy::torch::operation;

namespace torchtidy::model {

namespace {

/// Of the object and of the arguments: they are read.
struct Reads {
  bool Object = false, Arguments = false;
};

} // namespace

static Reads ofOperation(const CallSite &Site) {
  const torch::Operation &Op = *Site.Kind.Op;
  // item(), equal(); not size().
  if (Op.Returns == op::Scalar || Op.Returns == op::Nothing) {
    const bool Waits = Op.Sync != torch::Tri::No;
    return {Waits, Waits};
  }
  // What is written into keeps them, and is no copy itself.
  return {false, Op.Writes != op::NoArgument};
}

static Reads ofLibrary(const CallSite &Site) {
  const FunctionDecl *Callee = Site.callee();
  // A list of LibTorch's gets it.
  if (Site.Object && Site.objectKind() != TypeKind::Tensor)
    return {};
  if (torch::givesReadAccess(Callee))
    return {true, true};
  const QualType Type = Site.Call->getType();
  const bool Asks = torch::saysProperty(Callee) || torch::asksTensor(Callee);
  const bool Computes = torch::functionalOperation(Callee) ||
                        (!Type->isVoidType() && torch::mayHoldTensor(Type));
  return Asks || Computes ? Reads() : Reads{true, true};
}

static Reads readsOf(const CallSite &Site) {
  switch (Site.Kind.Kind) {
  case Api::Operation:
    return ofOperation(Site);
  case Api::Library:
    return ofLibrary(Site);
  case Api::Foreign:
  case Api::Std:
    return {};
  default:
    return {true, true};
  }
}

/// x.add_(y), where x is computed from all that y is: what y is stays in what
/// is followed as the same copies.
static bool staysInCopy(Machine &M, const CallSite &Site, const Value &Read) {
  if (Site.Kind.Kind != Api::Operation || !Site.Object ||
      Site.Kind.Op->Writes != op::Self)
    return false;
  const Value Into = M.operandValue(Site.Object);
  return llvm::all_of(Read.HostCopies, [&](AllocationId Copy) {
    return llvm::is_contained(Into.HostCopies, Copy);
  });
}

void emitHostReads(Machine &M, const CallSite &Site) {
  const Reads Read = readsOf(Site);
  auto Tell = [&](const Expr *E) {
    if (isa<CXXDefaultArgExpr>(E) || !torch::mayHoldTensor(E->getType()))
      return;
    const Value Given = M.operandValue(E);
    if (!Given.HostCopies.empty() && !staysInCopy(M, Site, Given))
      M.emitHostRead(Site.Call, Given);
  };
  if (Site.Object && Read.Object)
    Tell(Site.Object);
  if (Read.Arguments)
    llvm::for_each(Site.Arguments, Tell);
}

} // namespace torchtidy::model
