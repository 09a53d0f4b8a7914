// Query: registered members that are bound to what is not registered.
#ifndef TORCHTIDY_MODULES_REASSIGNEDMEMBER_H
#define TORCHTIDY_MODULES_REASSIGNEDMEMBER_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// A registered member that gets another tensor or module, which is not
/// registered.
struct ReassignedMember {
  const Execution *Entry = nullptr;
  const ReplaceEvent *Replace = nullptr;
  enum Kind { Tensor, Buffer, Module } What = Tensor;
  /// Only the module's to() tells them apart: the new one, computed from other
  /// parameters, stays where it is.
  bool IsLeftBehind = false;
  /// A buffer gets what may have a graph, and is not computed from itself as a
  /// running average is: gradients may flow through it, and set_data() would
  /// cut them off.
  bool MayCarryGradient = false;
};

/// Nothing is reported where the new one is registered too (shared weights),
/// may be the old one (.to(), .view()), is computed from other parameters and
/// the module is not moved afterwards, or is computed anew after the move, or
/// where something is registered afterwards.
std::vector<ReassignedMember> reassignedMembers(Program &Program);

} // namespace torchtidy::model

#endif
