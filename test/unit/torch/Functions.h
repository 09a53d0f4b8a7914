// What a test calls in one source, by a name for each call.
#ifndef TORCHTIDY_TEST_UNIT_TORCH_FUNCTIONS_H
#define TORCHTIDY_TEST_UNIT_TORCH_FUNCTIONS_H

#include "support/Parse.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "gtest/gtest.h"

namespace torchtidy::test {

/// Expressions, one a line, parsed behind declarations: the outermost call of
/// each is known by its text.
class Calls {
public:
  Calls(llvm::StringRef Declarations, std::vector<std::string> Expressions)
      : Expressions(std::move(Expressions)) {
    std::string Code = Declarations.str();
    for (size_t I = 0; I < this->Expressions.size(); ++I)
      Code += "void case" + std::to_string(I) + "() { (void)(" +
              this->Expressions[I] + "); }\n";
    ParseOptions Quiet;
    Quiet.Arguments = {"-w"};
    Unit = parseTorch(Code, Quiet);
  }

  bool isRead() const { return Unit != nullptr; }

  const clang::CallExpr *call(llvm::StringRef Text) const {
    for (size_t I = 0; I < Expressions.size(); ++I)
      if (Expressions[I] == Text)
        return outermost(
            findFunction(*Unit, "case" + std::to_string(I))->getBody());
    ADD_FAILURE() << "the source has no " << Text.str();
    return nullptr;
  }
  const clang::FunctionDecl *callee(llvm::StringRef Text) const {
    const clang::CallExpr *Call = call(Text);
    EXPECT_TRUE(Call) << Text.str() << " is no call";
    return Call ? Call->getDirectCallee() : nullptr;
  }

  /// For which of the expressions Is holds, of their callees.
  template <class Predicate>
  std::vector<std::string> those(Predicate Is) const {
    std::vector<std::string> Result;
    for (const std::string &Each : Expressions)
      if (Is(callee(Each)))
        Result.push_back(Each);
    return Result;
  }

private:
  static const clang::CallExpr *outermost(clang::Stmt *Body) {
    struct Finder : clang::RecursiveASTVisitor<Finder> {
      const clang::CallExpr *Found = nullptr;
      bool VisitCallExpr(clang::CallExpr *Call) {
        Found = Call;
        return false;
      }
    } Find;
    Find.TraverseStmt(Body);
    return Find.Found;
  }

  std::vector<std::string> Expressions;
  std::unique_ptr<clang::ASTUnit> Unit;
};

} // namespace torchtidy::test

#endif
