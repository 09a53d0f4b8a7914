// Query: members that a module uses and never registers, and names that are
// registered twice.
#ifndef TORCHTIDY_MODULES_UNREGISTEREDMODULE_H
#define TORCHTIDY_MODULES_UNREGISTEREDMODULE_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// A member that a module makes for itself and uses in forward(), and that is
/// never registered.
struct UnregisteredMember {
  const clang::FieldDecl *Member = nullptr;
  enum Kind {
    /// It has parameters: parameters() lacks them.
    Submodule,
    /// It depends on the mode only (Dropout): train() and eval() do not reach
    /// it.
    ModeOnly,
    /// A tensor that requires a gradient.
    Parameter,
  } What = Submodule;
  /// Where the member gets its value; null for an initializer in the class.
  const clang::Expr *Made = nullptr;
  /// Where forward() uses it.
  const clang::Expr *Used = nullptr;
  /// The assignment in the body of a constructor, or the one call that puts
  /// modules into a container; else null.
  const clang::Expr *Assignment = nullptr;
};

/// Nothing is reported where the member is registered anywhere, under whatever
/// name; where it is handed on, so that something else may own it; where its
/// parameters, its mode or its device are handled otherwise; where it comes
/// from outside the class; and where methods of the class lie elsewhere.
std::vector<UnregisteredMember> unregisteredMembers(Program &Program);

/// A name that is registered again in the same module: it throws.
struct RepeatedName {
  const Execution *Entry = nullptr;
  const RegisterEvent *First = nullptr;
  /// First itself, where a loop repeats it.
  const RegisterEvent *Again = nullptr;
  llvm::StringRef Name;
};

/// Nothing is reported where something is unregistered, or where the
/// registration stands in a try block.
std::vector<RepeatedName> repeatedNames(Program &Program);

} // namespace torchtidy::model

#endif
