// The types of variables that a test declares, by name.
#ifndef TORCHTIDY_TEST_UNIT_TORCH_VARIABLES_H
#define TORCHTIDY_TEST_UNIT_TORCH_VARIABLES_H

#include "support/Parse.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "gtest/gtest.h"

namespace torchtidy::test {

class Variables {
public:
  explicit Variables(llvm::StringRef Code, const ParseOptions &Options = {})
      : Unit(parseTorch(Code, Options)) {}

  bool isRead() const { return Unit != nullptr; }
  clang::ASTContext &context() { return Unit->getASTContext(); }

  const clang::VarDecl *variable(llvm::StringRef Name) const {
    for (auto It = Unit->top_level_begin(); It != Unit->top_level_end(); ++It)
      if (const auto *V = llvm::dyn_cast<clang::VarDecl>(*It);
          V && V->getName() == Name)
        return V;
    ADD_FAILURE() << "no variable " << Name.str();
    return nullptr;
  }
  clang::QualType type(llvm::StringRef Name) const {
    const clang::VarDecl *V = variable(Name);
    return V ? V->getType() : Unit->getASTContext().IntTy;
  }

  /// A class at the top of the source.
  const clang::CXXRecordDecl *record(llvm::StringRef Name) const {
    for (auto It = Unit->top_level_begin(); It != Unit->top_level_end(); ++It)
      if (const auto *R = llvm::dyn_cast<clang::CXXRecordDecl>(*It);
          R && R->getName() == Name)
        return R;
    ADD_FAILURE() << "no class " << Name.str();
    return nullptr;
  }

private:
  std::unique_ptr<clang::ASTUnit> Unit;
};

} // namespace torchtidy::test

#endif
