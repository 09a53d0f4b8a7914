#include "torch/Data.h"
#include "ast/Names.h"
#include "torch/Types.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace torchtidy::torch {

QualType datasetOf(const FunctionDecl *Begin) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Begin);
  if (!Method || !isLibTorch(Method) || ast::nameOf(Method) != "begin")
    return QualType();
  const auto *Loader =
      dyn_cast<ClassTemplateSpecializationDecl>(Method->getParent());
  if (!Loader || ast::nameOf(Loader) != "DataLoaderBase" ||
      Loader->getTemplateArgs().size() == 0 ||
      Loader->getTemplateArgs()[0].getKind() != TemplateArgument::Type)
    return QualType();
  return Loader->getTemplateArgs()[0].getAsType();
}

DataOrigin dataOrigin(const CXXRecordDecl *Class) {
  return llvm::StringSwitch<DataOrigin>(ast::nameOf(Class))
      .Cases("MNIST", "Normalize", "Stack", DataOrigin::Host)
      .Case("MapDataset", DataOrigin::Parts)
      .Default(DataOrigin::Unknown);
}

} // namespace torchtidy::torch
