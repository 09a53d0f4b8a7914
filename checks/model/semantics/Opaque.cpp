#include "model/semantics/Opaque.h"
#include "torch/Measurement.h"
#include "torch/Std.h"

using namespace clang;
using torchtidy::torch::Api;

namespace torchtidy::model {

void emitOpaque(Machine &M, const CallSite &Site) {
  const bool IsCallable = Site.objectKind() == torch::TypeKind::Callable &&
                          isa<CXXOperatorCallExpr>(Site.Call);
  if (Site.Kind.Kind == Api::Foreign || IsCallable ||
      torch::readsClock(Site.callee()) || torch::waitsForThread(Site.callee()))
    M.emit<OpaqueEvent>(Site.Call);
}

void emitOpaque(Machine &M, const CXXConstructExpr *Construct) {
  const CXXConstructorDecl *Callee = Construct->getConstructor();
  if (!M.isRecording() || torch::isLibTorch(Callee) || torch::isStd(Callee) ||
      Callee->isCopyOrMoveConstructor() ||
      !M.graph().expansions(M.frame(), Construct).empty())
    return;
  M.emit<OpaqueEvent>(Construct);
}

} // namespace torchtidy::model
