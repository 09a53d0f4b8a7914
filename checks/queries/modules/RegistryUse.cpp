#include "queries/modules/RegistryUse.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "model/icfg/Bodies.h"
#include "torch/Modules.h"
#include "torch/Types.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;

namespace torchtidy::model {

namespace {

/// Whether an object of a type is, leads to or has a module.
class ModuleSearch {
public:
  bool in(QualType Type) {
    if (Type.isNull() || torch::isTensor(Type))
      return false;
    if (torch::moduleClass(Type))
      return true;
    const QualType To = torch::pointee(Type);
    const CXXRecordDecl *Class = To.isNull() ? nullptr : torch::recordOf(To);
    Class = Class ? Class->getDefinition() : nullptr;
    if (!Class || !Seen.insert(Class).second)
      return false;
    if (const auto *Made = dyn_cast<ClassTemplateSpecializationDecl>(Class))
      for (const TemplateArgument &Each : Made->getTemplateArgs().asArray())
        if (Each.getKind() == TemplateArgument::Type && in(Each.getAsType()))
          return true;
    if (torch::isStd(Class) || torch::isLibTorch(Class))
      return false;
    return llvm::any_of(
               Class->fields(),
               [&](const FieldDecl *Field) { return in(Field->getType()); }) ||
           llvm::any_of(Class->bases(), [&](const CXXBaseSpecifier &Base) {
             return in(Base.getType());
           });
  }

private:
  llvm::SmallPtrSet<const CXXRecordDecl *, 8> Seen;
};

} // namespace

static bool hasModule(const Expr *E) {
  return E && ModuleSearch().in(E->getType());
}

/// A function that gets a module and may ask it: not what keeps or returns it.
static bool mayAskForRegistered(const FunctionDecl *F,
                                const flow::UserFunctions &Functions) {
  if (!F)
    return true;
  if (torch::isLibTorch(F))
    return torch::readsRegistered(F);
  return !torch::isStd(F) && !Functions.definition(F);
}

static bool usesRegistered(const Stmt *S,
                           const flow::UserFunctions &Functions) {
  if (const auto *Made = dyn_cast<CXXConstructExpr>(S)) {
    const CXXConstructorDecl *Constructor = Made->getConstructor();
    return !torch::isLibTorch(Constructor) && !Constructor->isImplicit() &&
           llvm::any_of(Made->arguments(), hasModule) &&
           mayAskForRegistered(Constructor, Functions);
  }
  const auto *Call = dyn_cast<CallExpr>(S);
  return Call &&
         (llvm::any_of(Call->arguments(), hasModule) ||
          hasModule(ast::objectOf(Call))) &&
         mayAskForRegistered(Call->getDirectCallee(), Functions);
}

bool mayUseRegistered(Program &Program) {
  const flow::UserFunctions &Functions = Program.code().functions();
  bool Found = Program.hasErrors() ||
               llvm::none_of(Functions.all(),
                             [](const FunctionDecl *F) { return F->isMain(); });
  const auto Uses = [&](const Stmt *S) { return usesRegistered(S, Functions); };
  const auto Look = [&](const Stmt *S) {
    Found = Found || ast::anyStmt(S, Uses, ast::Lambdas::Enter);
  };
  forEachBody(Functions, Look,
              [&](const CXXCtorInitializer &Init) { Look(Init.getInit()); });
  for (const VarDecl *V : Functions.globals())
    Look(V->getInit());
  return Found;
}

} // namespace torchtidy::model
