// The user's functions of a translation unit: what the analysis looks at.
#ifndef TORCHTIDY_FLOW_FUNCTIONS_H
#define TORCHTIDY_FLOW_FUNCTIONS_H

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <vector>

namespace torchtidy::flow {

/// Says of a file's path that it belongs to a library whose bodies are never
/// read, even when it was not included as a system header.
using LibraryPath = bool (*)(llvm::StringRef Path);

class UserFunctions {
public:
  UserFunctions(clang::ASTContext &Context, LibraryPath IsLibrary);

  /// Functions, methods, constructors, destructors and the call operators of
  /// lambdas that have a body to analyse, in source order. Of a template one
  /// instantiation stands for all; the pattern itself is there only when the
  /// file never instantiates it. Bodies that were skipped by the parser are
  /// not there.
  llvm::ArrayRef<const clang::FunctionDecl *> all() const { return Functions; }

  /// The definition to analyse when F is called, or null: F has no body here,
  /// or it is library code.
  const clang::FunctionDecl *definition(const clang::FunctionDecl *F) const;

  /// Variables of namespace scope and static members that have an initializer.
  llvm::ArrayRef<const clang::VarDecl *> globals() const { return Globals; }

  /// The lambda whose call operator F is, or null.
  const clang::LambdaExpr *lambda(const clang::FunctionDecl *F) const {
    return Lambdas.lookup(F);
  }

  bool isUserCode(clang::SourceLocation Location) const;

private:
  class Collector;

  clang::ASTContext &Context;
  LibraryPath IsLibrary;
  std::vector<const clang::FunctionDecl *> Functions;
  std::vector<const clang::VarDecl *> Globals;
  llvm::DenseMap<const clang::FunctionDecl *, const clang::LambdaExpr *>
      Lambdas;
  mutable llvm::DenseMap<clang::FileID, bool> UserFiles;
};

} // namespace torchtidy::flow

#endif
