// Tensors that meet in one operation, and where they are.
#ifndef TORCHTIDY_SEMANTICS_DEVICES_H
#define TORCHTIDY_SEMANTICS_DEVICES_H

#include "model/domains/Transfers.h"
#include "model/semantics/CallSite.h"

namespace torchtidy::model::devices {

/// Of an operation that needs its tensors on one device: tells where one is on
/// the CPU and another is not, or may be elsewhere.
void meet(Machine &M, const torch::Operation &Op, const clang::CallExpr *Call,
          llvm::ArrayRef<const clang::Expr *> Operands);
/// The same of a module that computes with its parameters, and is at Where.
void meetModule(Machine &M, const CallSite &Site, const PlaceSet &Modules,
                const Placement &Where);
/// Of a loss, which has no parameters.
void meetInLoss(Machine &M, const CallSite &Site);

/// A member of a module may move it: to, load.
void moveModule(Machine &M, const CallSite &Site);
/// Tensor::set_data: the tensor, or the module whose parameter it is, may be
/// anywhere.
void replaceData(Machine &M, const clang::Expr *Target);

} // namespace torchtidy::model::devices

#endif
