#include "queries/ModeDependence.h"
#include "ast/Walk.h"
#include "torch/Modules.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;

namespace torchtidy::model {

namespace {

/// Looks for it in classes and in the expressions that make modules.
class PartSearch {
public:
  explicit PartSearch(const Code &User) : User(User) {}

  std::string inClass(const CXXRecordDecl *Class) {
    if (!Class)
      return {};
    if (torch::isLibTorch(Class)) {
      if (torch::modeDependence(Class) != torch::Parameters::Some)
        return {};
      return torch::layerName(Class).str();
    }
    Class = Class->getDefinition();
    if (!Class || !Seen.insert(Class).second)
      return {};
    std::string Found = inMembers(Class);
    return Found.empty() ? inMethods(Class) : Found;
  }

  /// Modules that S makes.
  std::string madeIn(const Stmt *S) {
    std::string Found;
    ast::anyStmt(
        S,
        [&](const Stmt *Part) {
          const auto *E = dyn_cast<Expr>(Part);
          if (isa<CXXConstructExpr, CallExpr>(Part))
            Found = inClass(torch::moduleClass(E->getType()));
          return !Found.empty();
        },
        ast::Lambdas::Enter);
    return Found;
  }

private:
  std::string inMembers(const CXXRecordDecl *Class) {
    for (const FieldDecl *Field : Class->fields()) {
      const QualType Element = torch::elementType(Field->getType());
      std::string Found = inClass(
          torch::moduleClass(Element.isNull() ? Field->getType() : Element));
      if (Found.empty() && Field->getInClassInitializer())
        Found = madeIn(Field->getInClassInitializer());
      if (!Found.empty())
        return Found;
    }
    for (const CXXBaseSpecifier &Base : Class->bases())
      if (const CXXRecordDecl *Record = torch::recordOf(Base.getType());
          Record && !torch::isLibTorch(Record))
        if (std::string Found = inClass(Record); !Found.empty())
          return Found;
    return {};
  }

  /// Constructors make modules for a Sequential; others ask for the mode.
  std::string inMethods(const CXXRecordDecl *Class) {
    for (const CXXMethodDecl *Method : Class->methods()) {
      const FunctionDecl *F = User.functions().definition(Method);
      if (!F)
        continue;
      const auto *Constructor = dyn_cast<CXXConstructorDecl>(F);
      std::string Found = Constructor ? madeBy(Constructor) : std::string();
      if (Found.empty() && asksForMode(F->getBody()))
        Found = "code under is_training()";
      if (!Found.empty())
        return Found;
    }
    return {};
  }

  std::string madeBy(const CXXConstructorDecl *Constructor) {
    for (const CXXCtorInitializer *Init : Constructor->inits())
      if (Init->isAnyMemberInitializer())
        if (std::string Found = madeIn(Init->getInit()); !Found.empty())
          return Found;
    return madeIn(Constructor->getBody());
  }

  static bool asksForMode(const Stmt *Body) {
    return ast::anyStmt(
        Body,
        [](const Stmt *S) {
          const auto *Call = dyn_cast<CXXMemberCallExpr>(S);
          return Call && torch::asksForMode(Call->getMethodDecl());
        },
        ast::Lambdas::Enter);
  }

  const Code &User;
  llvm::SmallPtrSet<const CXXRecordDecl *, 8> Seen;
};

} // namespace

std::string modeDependentPart(const Execution &Entry, const PlaceSet &Parts) {
  PartSearch Search(Entry.code());
  for (PlaceId P : Parts) {
    const QualType Type = Entry.places().knownType(P);
    std::string Found;
    if (!Type.isNull())
      Found = Search.inClass(torch::moduleClass(Type));
    const VarDecl *V =
        Entry.places().isRoot(P) ? Entry.places().variable(P) : nullptr;
    if (Found.empty() && V && V->getInit())
      Found = Search.madeIn(V->getInit());
    if (!Found.empty())
      return Found;
  }
  return {};
}

} // namespace torchtidy::model
