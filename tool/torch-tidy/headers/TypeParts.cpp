#include "headers/TypeParts.h"
#include "clang/AST/Decl.h"
#include "clang/AST/DeclTemplate.h"

using namespace clang;

namespace torchtidy::tool {

void forEachNamed(const TemplateArgument &Argument,
                  llvm::function_ref<void(const Decl *)> See) {
  switch (Argument.getKind()) {
  case TemplateArgument::Type:
    return forEachNamed(Argument.getAsType(), See);
  case TemplateArgument::Declaration:
    return See(Argument.getAsDecl());
  case TemplateArgument::Template:
  case TemplateArgument::TemplateExpansion:
    if (const Decl *D =
            Argument.getAsTemplateOrTemplatePattern().getAsTemplateDecl())
      See(D);
    return;
  case TemplateArgument::Pack:
    for (const TemplateArgument &Each : Argument.pack_elements())
      forEachNamed(Each, See);
    return;
  default:
    return;
  }
}

void forEachNamed(QualType Type, llvm::function_ref<void(const Decl *)> See) {
  if (Type.isNull())
    return;
  const clang::Type *T = Type.getTypePtr();
  if (T->isBuiltinType())
    return;
  if (const auto *Function = T->getAs<FunctionProtoType>()) {
    forEachNamed(Function->getReturnType(), See);
    for (QualType Parameter : Function->param_types())
      forEachNamed(Parameter, See);
    return;
  }
  if (const auto *Member = T->getAs<MemberPointerType>()) {
    forEachNamed(QualType(Member->getClass(), 0), See);
    return forEachNamed(Member->getPointeeType(), See);
  }
  if (const QualType Pointee = T->getPointeeType(); !Pointee.isNull())
    return forEachNamed(Pointee, See);
  if (const clang::ArrayType *Array = T->getAsArrayTypeUnsafe())
    return forEachNamed(Array->getElementType(), See);
  if (const TagDecl *Tag = T->getAsTagDecl())
    return See(Tag);
  // In a template: what is known of it.
  if (const auto *Dependent = T->getAs<TemplateSpecializationType>()) {
    if (const Decl *D = Dependent->getTemplateName().getAsTemplateDecl())
      See(D);
    for (const TemplateArgument &Each : Dependent->template_arguments())
      forEachNamed(Each, See);
  } else if (const auto *Name = T->getAs<DependentNameType>()) {
    if (const clang::Type *Prefix = Name->getQualifier()->getAsType())
      forEachNamed(QualType(Prefix, 0), See);
  }
}

} // namespace torchtidy::tool
