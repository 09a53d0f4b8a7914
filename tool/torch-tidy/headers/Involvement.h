// Which of the user's code has to do with LibTorch.
#ifndef TORCHTIDY_TOOL_HEADERS_INVOLVEMENT_H
#define TORCHTIDY_TOOL_HEADERS_INVOLVEMENT_H

#include "clang/AST/ASTContext.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

namespace torchtidy::tool {

/// The user's functions and classes that name something of LibTorch, or that
/// use others of the user which do. A class is one with its methods, and with
/// the functions that take it: what is looked up by its type may find them.
/// Whatever is not among them means the same to every check, whether it is
/// instantiated or not.
class Involvement {
public:
  /// Scope: the user's declarations at the outermost level.
  explicit Involvement(llvm::ArrayRef<clang::Decl *> Scope);

  bool of(const clang::Decl *D) const;
  /// Any part of a type: what it points to, returns, holds as an argument.
  bool of(clang::QualType Type) const;
  bool of(const clang::TemplateArgument &Argument) const;

private:
  class Collector;

  bool isOfLibTorch(const clang::Decl *D) const;

  llvm::DenseSet<const clang::Decl *> Involved;
  mutable llvm::DenseMap<const clang::Decl *, bool> OfLibTorch;
};

} // namespace torchtidy::tool

#endif
