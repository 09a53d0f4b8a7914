// Queries about what modules register: submodules, parameters and buffers.
#ifndef TORCHTIDY_MODEL_REGISTRATION_H
#define TORCHTIDY_MODEL_REGISTRATION_H

#include "model/Program.h"

namespace torchtidy::model {

/// A member that a module makes for itself and uses in forward(), and that is
/// never registered.
struct UnregisteredMember {
  const clang::FieldDecl *Member;
  enum Kind {
    /// It has parameters: parameters() lacks them.
    Submodule,
    /// It depends on the mode only (Dropout): train() and eval() do not reach
    /// it.
    ModeOnly,
    /// A tensor that requires a gradient.
    Parameter,
  } What;
  /// Where the member gets its value; null for an initializer in the class.
  const clang::Expr *Made;
  /// Where forward() uses it.
  const clang::Expr *Used;
  /// The assignment in the body of a constructor, or null.
  const clang::Expr *Assignment;
};

/// Nothing is reported where the member is registered anywhere, under whatever
/// name; where it is handed on, so that something else may own it; where its
/// parameters, its mode or its device are seen to otherwise; where it comes
/// from outside the class; and where methods of the class lie elsewhere.
std::vector<UnregisteredMember> unregisteredMembers(Program &Program);

/// A name that is registered again in the same module: it throws.
struct RepeatedName {
  const Execution *Way;
  const Event *First;
  /// First itself, where a loop repeats it.
  const Event *Again;
  llvm::StringRef Name;
};

std::vector<RepeatedName> repeatedNames(Program &Program);

/// A registered member that gets another tensor or module, which is not
/// registered.
struct ReassignedMember {
  const Execution *Way;
  const Event *Replace;
  enum Kind { Tensor, Buffer, Module } What;
};

/// Nothing is reported where the new one is registered too (shared weights),
/// may be the old one (.to(), .view()), is computed from other parameters, or
/// where something is registered afterwards.
std::vector<ReassignedMember> reassignedMembers(Program &Program);

} // namespace torchtidy::model

#endif
