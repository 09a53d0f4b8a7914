#include "flow/ClassParts.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace torchtidy::flow {

/// static inline const bool known = list.add<Class>();
static bool computesStatics(const CXXRecordDecl *Class) {
  return llvm::any_of(Class->decls(), [](const Decl *Each) {
    const auto *Member = dyn_cast<VarDecl>(Each);
    return Member && Member->hasInit() && !Member->isConstexpr() &&
           !Member->getInit()->isValueDependent() &&
           !Member->getInit()->isEvaluatable(Member->getASTContext());
  });
}

bool mayBeMadeUnnamed(const CXXRecordDecl *Class) {
  return Class->isLambda() || !Class->getIdentifier() ||
         Class->isDependentContext() || !Class->hasDefinition() ||
         isa<ClassTemplateSpecializationDecl>(Class) ||
         Class->getDefinition()->isEmbeddedInDeclarator() ||
         computesStatics(Class->getDefinition());
}

llvm::SmallVector<SourceRange, 8> partsOf(const CXXRecordDecl *Class) {
  llvm::SmallVector<SourceRange, 8> Result;
  for (const auto *Each : Class->redecls())
    Result.emplace_back(Each->getBeginLoc(), Each->getEndLoc());
  for (const Decl *Member : Class->getDefinition()->decls())
    for (const Decl *Each : Member->redecls())
      if (Each->isOutOfLine())
        Result.emplace_back(Each->getBeginLoc(), isa<VarDecl>(Each)
                                                     ? Each->getLocation()
                                                     : Each->getEndLoc());
  return Result;
}

bool isMentioned(const FunctionDecl *F) {
  return llvm::any_of(F->redecls(), [](const FunctionDecl *Each) {
    return Each->isReferenced() || Each->isUsed(/*CheckUsedAttr=*/false);
  });
}

bool isConstructorMentioned(const CXXRecordDecl *Class) {
  return llvm::any_of(Class->ctors(), [](const CXXConstructorDecl *Each) {
    return isMentioned(Each);
  });
}

} // namespace torchtidy::flow
