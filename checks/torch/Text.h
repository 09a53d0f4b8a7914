// LibTorch in source text that was not parsed.
#ifndef TORCHTIDY_TORCH_TEXT_H
#define TORCHTIDY_TORCH_TEXT_H

#include "llvm/ADT/StringRef.h"

namespace torchtidy::torch {

/// Text names something of LibTorch's namespaces, or includes one of its
/// headers; in a comment or a string does not count.
bool isUsedIn(llvm::StringRef Text);
/// The namespace that Name, of a function or a constant, is written with: "at"
/// or "torch", which is also that of names that stand alone.
llvm::StringRef namespaceIn(llvm::StringRef Name);

} // namespace torchtidy::torch

#endif
