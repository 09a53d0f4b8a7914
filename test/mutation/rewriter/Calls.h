// What calls of LibTorch say about devices.
#ifndef TORCH_TIDY_MUTATION_CALLS_H
#define TORCH_TIDY_MUTATION_CALLS_H

#include "Program.h"

namespace torchtidy::mutation {

/// The function that makes the tensor, as torch::zeros() or x.new_zeros(); null
/// of another expression.
const clang::FunctionDecl *factory(const clang::Expr *E);

/// The device as it is written where an argument is one, or is made of one by a
/// conversion; null of another argument, and where it is the CPU by name.
const clang::Expr *deviceOf(const clang::Expr *Argument);
/// The same of an element type.
const clang::Expr *typeOf(const clang::Expr *Argument);

/// How many arguments of the call are written.
unsigned writtenArguments(const clang::CallExpr *Call);
/// Takes one of them away, and the comma beside it.
std::optional<Edit> withoutArgument(const Program &Whole,
                                    const clang::CallExpr *Call,
                                    unsigned Index);
/// Takes a call of a method away, and leaves its object.
std::optional<Edit> withoutCall(const Program &Whole,
                                const clang::CXXMemberCallExpr *Call);
/// Puts the text behind an expression.
std::optional<Edit> behind(const Program &Whole, const clang::Expr *E,
                           std::string Text);

/// Whether it is a method of a tensor, those of its base included.
bool isOfTensor(const clang::CXXMemberCallExpr *Call);

/// `x.to(device)`, `x.to(device, type)`, `x.cuda()` of a tensor.
struct Transfer {
  const clang::CXXMemberCallExpr *Call = nullptr;
  /// Null of cuda().
  const clang::Expr *Device = nullptr;
  unsigned DeviceIndex = 0;
  const clang::Expr *Type = nullptr;

  explicit operator bool() const { return Call; }
};
Transfer transferOf(const clang::Stmt *S);

/// Whether the program moves a module to a device.
bool movesModules(const Program &Whole);

/// Whether the function makes it once: a constructor, and main() outside of all
/// loops.
bool isMadeOnce(const Function &In, const clang::Stmt *S);
/// Once for a loop that goes backward or takes steps: it stands in the same
/// iteration, or the same function, outside of that loop.
bool isBesideTraining(const Function &In, const clang::Stmt *S);

/// The statement of a block that this lies in.
const clang::Stmt *statementAround(const Function &In, const clang::Stmt *S);

/// The one local variable that is declared with this value.
const clang::VarDecl *declaredWith(const Function &In,
                                   const clang::Expr *Value);

} // namespace torchtidy::mutation

#endif
