#include "flow/Tests.h"
#include "ast/Names.h"
#include "ast/TreeVisitor.h"
#include "clang/AST/DeclCXX.h"

using namespace clang;

namespace torchtidy::flow {

static bool isOfFramework(const Decl *D) {
  const StringRef Name = ast::outermostNamespace(D);
  return Name == "Catch" || Name == "doctest" ||
         (Name == "boost" &&
          StringRef(cast<NamedDecl>(D)->getQualifiedNameAsString())
              .starts_with("boost::unit_test::"));
}

namespace {

class MentionedFunctions : public ast::TreeVisitor {
public:
  explicit MentionedFunctions(llvm::DenseSet<const FunctionDecl *> &Result)
      : Result(Result) {}

private:
  bool visitStmt(Stmt *S) override {
    const auto *Ref = dyn_cast<DeclRefExpr>(S);
    if (const auto *F = Ref ? dyn_cast<FunctionDecl>(Ref->getDecl()) : nullptr)
      Result.insert(F->getCanonicalDecl());
    return true;
  }

  llvm::DenseSet<const FunctionDecl *> &Result;
};

/// The functions that an initializer hands to a test framework: as they are, or
/// in a boost::function and the like.
class GivenFunctions : public ast::TreeVisitor {
public:
  explicit GivenFunctions(llvm::DenseSet<const FunctionDecl *> &Result)
      : Mentioned(Result) {}

private:
  bool visitStmt(Stmt *S) override {
    if (auto *Call = dyn_cast<CallExpr>(S)) {
      if (const Decl *Callee = Call->getCalleeDecl();
          Callee && isOfFramework(Callee))
        add(Call->arguments());
    } else if (auto *Construct = dyn_cast<CXXConstructExpr>(S);
               Construct && isOfFramework(Construct->getConstructor())) {
      add(Construct->arguments());
    }
    return true;
  }

  template <class Range> void add(Range Arguments) {
    for (Expr *Argument : Arguments)
      Mentioned.traverseStmt(Argument);
  }

  MentionedFunctions Mentioned;
};

} // namespace

static bool isGoogleTest(const CXXRecordDecl *Class) {
  return ast::nameOf(Class) == "Test" &&
         ast::outermostNamespace(Class) == "testing";
}

static bool derivesFromGoogleTest(const CXXRecordDecl *Class) {
  bool Result = false;
  if (Class->hasDefinition())
    (void)Class->forallBases([&](const CXXRecordDecl *Base) {
      Result |= isGoogleTest(Base);
      return true;
    });
  return Result;
}

Tests::Tests(const UserFunctions &Functions) {
  GivenFunctions Found(GivenToFramework);
  for (const VarDecl *Global : Functions.globals())
    Found.traverseStmt(const_cast<Expr *>(Global->getInit()));
}

bool Tests::contains(const FunctionDecl *F) const {
  for (const DeclContext *C = F; C; C = C->getLexicalParent()) {
    if (const auto *Around = dyn_cast<FunctionDecl>(C);
        Around && GivenToFramework.count(Around->getCanonicalDecl()))
      return true;
    // A method that is defined outside of its class.
    const auto *Method = dyn_cast<CXXMethodDecl>(C);
    const auto *Class =
        Method ? Method->getParent() : dyn_cast<CXXRecordDecl>(C);
    if (Class && derivesFromGoogleTest(Class))
      return true;
  }
  return false;
}

} // namespace torchtidy::flow
