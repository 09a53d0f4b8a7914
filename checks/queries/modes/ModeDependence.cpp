#include "queries/modes/ModeDependence.h"
#include "ast/Walk.h"
#include "model/icfg/HeldModules.h"
#include "model/syntax/FreshModules.h"
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

  /// A layer that the class makes and runs and does nothing else with, so that
  /// it is not registered: eval() does not reach it.
  bool isOnlyRun(const FieldDecl *Field) {
    const auto *Class = dyn_cast<CXXRecordDecl>(Field->getParent());
    if (!Class || torch::kindOf(Class) != torch::TypeKind::Module)
      return false;
    auto HandsOn = [&](const Stmt *S) { return handsOn(Field, S); };
    if (Field->getInClassInitializer() &&
        !isMaking(Field->getInClassInitializer()))
      return false;
    for (const Decl *D : Class->decls()) {
      const FunctionDecl *Method = D->getAsFunction();
      if (!Method || Method->isImplicit() || Method->isDefaulted() ||
          Method->isDeleted() || Method->isPureVirtual())
        continue;
      const FunctionDecl *F = User.functions().definition(Method);
      if (!F)
        return false;
      if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(F))
        for (const CXXCtorInitializer *Init : Constructor->inits())
          if (Init->getAnyMember() == Field ? !isMaking(Init->getInit())
                                            : HandsOn(Init->getInit()))
            return false;
      if (HandsOn(F->getBody()))
        return false;
    }
    return true;
  }

private:
  std::string inMembers(const CXXRecordDecl *Class) {
    for (const FieldDecl *Field : Class->fields()) {
      if (isOnlyRun(Field))
        continue;
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

  /// Dropout(0.5), and not register_module("dropout", Dropout(0.5)).
  static bool isMaking(const Expr *Init) {
    return isFreshModule(Init) && !mayRegister(Init);
  }

  /// The member is named otherwise than to be run: drop(x), drop->forward(x).
  static bool handsOn(const FieldDecl *Field, const Stmt *Root) {
    bool Found = false;
    ast::walk(
        Root,
        [&](const Stmt *S, llvm::ArrayRef<const Stmt *> Around) {
          const auto *Member = dyn_cast<MemberExpr>(S);
          Found |= Member && Member->getMemberDecl() == Field &&
                   !isRun(Member, Around);
          return ast::Next::Children;
        },
        ast::Lambdas::Enter);
    return Found;
  }

  static bool isRun(const MemberExpr *Member,
                    llvm::ArrayRef<const Stmt *> Around) {
    auto Up = [&] {
      while (!Around.empty() && isa<ImplicitCastExpr, ParenExpr>(Around.back()))
        Around = Around.drop_back();
      if (Around.empty())
        return static_cast<const Stmt *>(nullptr);
      const Stmt *Result = Around.back();
      Around = Around.drop_back();
      return Result;
    };
    const auto *Call = dyn_cast_or_null<CXXOperatorCallExpr>(Up());
    if (!Call || Call->getArg(0)->IgnoreParenImpCasts() != Member)
      return false;
    if (Call->getOperator() != OO_Arrow)
      return Call->getOperator() == OO_Call;
    const auto *Method = dyn_cast_or_null<MemberExpr>(Up());
    return Method &&
           torch::isForward(dyn_cast<FunctionDecl>(Method->getMemberDecl()));
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
      if (Init->isAnyMemberInitializer() && !isOnlyRun(Init->getAnyMember()))
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
    if (!Entry.places().isRoot(P) && Entry.places().step(P).Of == Step::Field &&
        Search.isOnlyRun(Entry.places().step(P).Member))
      continue;
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

std::string modeDependentPart(const Execution &Entry,
                              const ForwardEvent &Pass) {
  std::string Result = modeDependentPart(Entry, Pass.Parts);
  const auto *Call = dyn_cast_or_null<CallExpr>(Pass.Site);
  if (!Result.empty() || !Call)
    return Result;
  for (const ModuleChain &Chain :
       Entry.code().heldModules().runBy(Pass.In, Call)) {
    PartSearch Search(Entry.code());
    std::string Found;
    for (const Expr *Module : Chain)
      if (Found.empty())
        Found = Search.inClass(torch::moduleClass(Module->getType()));
    // Filled in another way, it may depend on nothing.
    if (Found.empty())
      return {};
    Result = Found;
  }
  return Result;
}

} // namespace torchtidy::model
