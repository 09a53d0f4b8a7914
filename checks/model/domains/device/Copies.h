// Copies to the host that it does not wait for: the device writes them while
// the host goes on (State::Copies). LibTorch makes such a copy of
// to(torch::kCPU, /*non_blocking=*/true), whose result it pins, and of copy_()
// into pinned memory; into pageable memory the host waits all the same
// (aten/src/ATen/native/cuda/Copy.cu, TensorConversions.cpp).
#ifndef TORCHTIDY_DOMAINS_DEVICE_COPIES_H
#define TORCHTIDY_DOMAINS_DEVICE_COPIES_H

#include "model/domains/Transfers.h"
#include "torch/Api.h"

namespace torchtidy::model::device {

/// The operation starts such a copy, or does not. Result is what it returns.
void startCopy(Machine &M, const OperationCall &Call, const Value &Result);

/// Before a call, of which IsSeen says whether its body is analysed: tells
/// where it reads what may not be there yet, and where it may wait for it, or
/// is not seen, takes all copies for finished.
void meetCopies(Machine &M, const clang::CallExpr *Call,
                const torch::Call &Kind, bool IsSeen);

} // namespace torchtidy::model::device

#endif
