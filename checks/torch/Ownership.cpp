#include "torch/Ownership.h"
#include "ast/Names.h"
#include "torch/Types.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace torchtidy::torch {

const CXXRecordDecl *classOf(QualType Type) {
  if (Type.isNull())
    return nullptr;
  Type = Type.getNonReferenceType();
  const CXXRecordDecl *Record = Type->getAsCXXRecordDecl();
  return Record ? Record->getDefinition() : nullptr;
}

bool isHandleToMemory(QualType Type) {
  const CXXRecordDecl *Record = classOf(Type);
  return Record && !torch::isStd(Record) && !torch::isLibTorch(Record) &&
         !Record->hasTrivialDestructor() &&
         torch::kindOf(Record) == TypeKind::Other;
}

/// The class is one of these names in the namespace In: cv::Mat.
static bool isOneOf(QualType Type, StringRef In,
                    std::initializer_list<StringRef> Names) {
  const CXXRecordDecl *Record = classOf(Type);
  const auto *Around =
      Record ? dyn_cast<NamespaceDecl>(Record->getDeclContext()) : nullptr;
  return ast::nameOf(Around) == In &&
         llvm::is_contained(Names, ast::nameOf(Record));
}

bool isPicture(QualType Type) { return isOneOf(Type, "cv", {"Mat", "Mat_"}); }

bool standsOverPointer(const FunctionDecl *Constructor) {
  const auto *Made = dyn_cast_or_null<CXXConstructorDecl>(Constructor);
  return Made &&
         isPicture(Made->getASTContext().getRecordType(Made->getParent())) &&
         llvm::any_of(Made->parameters(), [](const ParmVarDecl *Parameter) {
           return Parameter->getType()->isPointerType() &&
                  !Parameter->getType()->getPointeeType().isConstQualified();
         });
}

bool isMatrix(QualType Type) {
  return isOneOf(Type, "Eigen", {"Matrix", "Array"});
}

bool isUnique(QualType Type) {
  return ast::nameOf(classOf(Type)) == "unique_ptr";
}

bool isContiguous(QualType Type) {
  return llvm::StringSwitch<bool>(ast::nameOf(classOf(Type)))
      .Cases("vector", "basic_string", "SmallVector", "SmallVectorImpl", true)
      .Default(false);
}

/// Of a container's arguments: comparisons, hashes and allocators hold nothing.
static bool areAllPlain(llvm::ArrayRef<TemplateArgument> Arguments) {
  return llvm::all_of(Arguments, [](const TemplateArgument &Argument) {
    if (Argument.getKind() == TemplateArgument::Pack)
      return areAllPlain(Argument.getPackAsArray());
    if (Argument.getKind() != TemplateArgument::Type)
      return true;
    const QualType Type = Argument.getAsType();
    const CXXRecordDecl *Record = Type->getAsCXXRecordDecl();
    const bool IsPolicy =
        Record && torch::isStd(Record) &&
        torch::kindOf(Record) == TypeKind::Other &&
        (!Record->hasDefinition() || Record->getDefinition()->isEmpty());
    return IsPolicy || isPlainData(Type);
  });
}

bool isPlainData(QualType Type) {
  if (Type.isNull() || Type->isDependentType())
    return false;
  Type = Type.getNonReferenceType();
  if (Type->isArithmeticType() || Type->isEnumeralType())
    return true;
  const CXXRecordDecl *Record = Type->getAsCXXRecordDecl();
  if (!Record || !torch::isStd(Record))
    return false;
  if (ast::nameOf(Record).starts_with("basic_string"))
    return true;
  const TypeKind Kind = torch::kindOf(Record);
  const auto *Specialization =
      dyn_cast<ClassTemplateSpecializationDecl>(Record);
  return Specialization &&
         (Kind == TypeKind::Container || Kind == TypeKind::Aggregate ||
          torch::isOptional(Type)) &&
         areAllPlain(Specialization->getTemplateArgs().asArray());
}

} // namespace torchtidy::torch
