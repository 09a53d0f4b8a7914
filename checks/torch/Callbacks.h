// Functions of the standard library and of LibTorch that call what they are
// given: <algorithm>, <functional>, <mutex>, <future>, ATen/Parallel.h
// (parallel_for, launch), torch/optim/optimizer.h (step with a closure).
#ifndef TORCHTIDY_TORCH_CALLBACKS_H
#define TORCHTIDY_TORCH_CALLBACKS_H

#include "clang/AST/ExprCXX.h"
#include <optional>

namespace torchtidy::torch {

struct Callback {
  /// Which argument is called.
  unsigned Position = 0;
  /// It is called any number of times, or not at all, with arguments that the
  /// function chooses: with elements, for algorithms of the standard library,
  /// that begin at the first argument. Otherwise once (step: a few times), with
  /// the arguments that follow it.
  bool Repeats = false;
  /// It is called once, with the alternatives that the variants have which
  /// follow it (std::visit): a generic lambda has an instance for each that may
  /// come.
  bool Unpacks = false;
  /// It runs in a thread of its own. What std::async defers does not: it is
  /// taken to run where it is given, in the thread that asks for its result.
  bool IsThread = false;
  /// Its calls are spread over the threads of a pool, and the caller is one of
  /// them: at::parallel_for where the file is compiled with OpenMP. Without,
  /// one thread makes them all.
  bool IsSpread = false;
};

/// Nothing where the function is not known to call an argument, or it is given
/// too few.
std::optional<Callback>
callbackOf(const clang::FunctionDecl *Callee,
           llvm::ArrayRef<const clang::Expr *> Arguments);

/// Module::apply: calls what it is given for each module in the object.
bool callsForModules(const clang::FunctionDecl *Callee);

/// std::bind: its first argument is called with the others, of which
/// placeholderIndex() says which of them the caller gives.
bool bindsArguments(const clang::FunctionDecl *Callee);
/// 0 for std::placeholders::_1; nothing for what is no placeholder.
std::optional<unsigned> placeholderIndex(const clang::Expr *E);

} // namespace torchtidy::torch

#endif
