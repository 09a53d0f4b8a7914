// What keeps an object alive together with others: [util.smartptr.shared] of
// the C++ standard, c10/util/intrusive_ptr.h, and LibTorch's module holders.
// Null is answered by no.
#ifndef TORCHTIDY_TORCH_SHAREDOWNERS_H
#define TORCHTIDY_TORCH_SHAREDOWNERS_H

#include "clang/AST/DeclCXX.h"
#include "clang/AST/Expr.h"

namespace torchtidy::torch {

/// A copy of an object of this type keeps alive what it leads to: shared_ptr,
/// intrusive_ptr, a module holder. Not weak_ptr, nor unique_ptr.
bool sharesOwnership(clang::QualType Type);
/// That, or it owns what it leads to alone, or is the object itself.
bool owns(clang::QualType Type);
/// It is a tensor, a module, an optimizer or an IValue, or has one in it or
/// leads to one. What a std::function has captured does not count.
bool leadsToTensor(clang::QualType Type);
/// The same of a module or an optimizer: what is trained, or trains.
bool leadsToTrained(clang::QualType Type);
/// An object of this type holds numbers, text, times and opaque handles (void
/// *), and nothing that leads to an object of another kind: a stop watch, a
/// progress bar. Not of a class with virtual functions, nor of one without a
/// definition.
bool holdsPlainData(clang::QualType Type);
/// shared_from_this().
bool isSharedFromThis(const clang::FunctionDecl *Method);
/// std::function: holds what it calls.
bool holdsCallable(clang::QualType Type);
/// What was held may be let go, or goes elsewhere: reset, release, clear,
/// erase, pop_back, swap.
bool letsGo(const clang::FunctionDecl *Method);

} // namespace torchtidy::torch

#endif
