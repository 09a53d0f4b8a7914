// What goes wrong for a reason that the user can see to.
#ifndef TORCHTIDY_CONFIRM_SUPPORT_ERRORS_H
#define TORCHTIDY_CONFIRM_SUPPORT_ERRORS_H

#include <stdexcept>

namespace torchtidy::confirm {

/// Printed as "torch-confirm: error: <message>"; torch-confirm ends with
/// ExitError. The message says what to do about it.
struct UserError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// torch-confirm's own exit codes. Those of the program that it runs pass
/// through, and so do codes that mean the same to a shell: 126, 127, 128 + n.
enum ExitCode {
  ExitSuccess = 0,
  /// --fail-on: there is such a verdict.
  ExitFailOn = 1,
  /// Bad input, or something that is needed is missing.
  ExitError = 2,
  /// The time was over before all was done; the same command goes on.
  ExitUnfinished = 3,
};

} // namespace torchtidy::confirm

#endif
