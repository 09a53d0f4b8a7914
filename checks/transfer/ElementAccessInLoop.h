// Query: tensors whose elements a loop reads or writes one at a time.
#ifndef TORCHTIDY_TRANSFER_ELEMENTACCESSINLOOP_H
#define TORCHTIDY_TRANSFER_ELEMENTACCESSINLOOP_H

#include "model/execution/Program.h"
#include "queries/loops/ElementPath.h"

namespace torchtidy::model {

/// Elements of tensors, read or written one at a time in one nest of loops.
struct ElementAccessInLoop {
  const Execution *Entry = nullptr;
  const Frame *In = nullptr;
  /// The first access: the call that reads or writes.
  const clang::CallExpr *Site = nullptr;
  /// Its tensor, as it is written where it is indexed.
  Written Tensor;
  enum Kind {
    Reads,
    /// A row at a time is computed with, and the number is read.
    ReadsResult,
    Writes,
  } How = Reads;
  /// The tensor is known to lie on the CPU: nothing waits for a device.
  bool IsOnHost = false;
  /// The innermost loop that goes on from element to element.
  const flow::Loop *Around = nullptr;
  /// Nothing shows that the loop has many steps, or that it runs again and
  /// again: a message only for those who want to hear of all.
  bool IsStrictOnly = false;
  /// One loop, of a length that nothing says, over a tensor for which no device
  /// is waited: some microseconds for each element.
  bool IsMinor = false;
  /// Further accesses of the same kind, of this tensor and others.
  std::vector<const clang::CallExpr *> AsWell;
};

/// Reported is a tensor that stays the same in a loop while the counter of that
/// loop says which element is meant. Not where the loop runs a module, a
/// backward or a step, where at least as many other operations run in it, where
/// it prints, where a condition picks every k-th iteration, where it is known
/// to have few steps or the tensor few elements; nor in tests. Rows that are
/// written are no elements.
std::vector<ElementAccessInLoop> findElementAccessInLoop(Program &Program);

} // namespace torchtidy::model

#endif
