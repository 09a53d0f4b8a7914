#include "flow/Unreached.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace torchtidy::flow {

static bool isInMainFile(const FunctionDecl *F) {
  const SourceManager &SM = F->getASTContext().getSourceManager();
  return SM.isInMainFile(SM.getExpansionLoc(F->getLocation()));
}

static bool isProgram(const UserFunctions &Functions) {
  return llvm::any_of(Functions.all(), [](const FunctionDecl *F) {
    return F->isMain() && isInMainFile(F);
  });
}

/// Something else than a line of this file may run it.
static bool mayBeRunFromElsewhere(const FunctionDecl *F) {
  return isa<CXXMethodDecl>(F) || F->isOverloadedOperator() ||
         F->isTemplateInstantiation() || F->isExternC() ||
         F->hasAttr<UsedAttr>() || F->hasAttr<ConstructorAttr>() ||
         F->hasAttr<DestructorAttr>() || F->hasAttr<VisibilityAttr>();
}

bool isUnreached(const UserFunctions &Functions, const FunctionDecl *F) {
  return !F->isMain() && !mayBeRunFromElsewhere(F) &&
         llvm::all_of(F->redecls(),
                      [](const FunctionDecl *Each) {
                        return isInMainFile(Each) && !Each->isReferenced() &&
                               !Each->isUsed(/*CheckUsedAttr=*/false);
                      }) &&
         isProgram(Functions);
}

} // namespace torchtidy::flow
