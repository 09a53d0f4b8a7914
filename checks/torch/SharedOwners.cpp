#include "torch/SharedOwners.h"
#include "ast/Names.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;

namespace torchtidy::torch {

/// The class of an object of this type, which is no pointer or reference.
static const CXXRecordDecl *recordAt(QualType Type) {
  return Type.isNull() ? nullptr : Type->getAsCXXRecordDecl();
}

bool sharesOwnership(QualType Type) {
  const CXXRecordDecl *Class = recordAt(Type);
  if (!Class || kindOf(Class) == TypeKind::ModuleHolder)
    return Class;
  const StringRef Name = ast::nameOf(Class);
  return (isStd(Class) && Name == "shared_ptr") ||
         (isLibTorch(Class) && Name == "intrusive_ptr");
}

bool owns(QualType Type) {
  const CXXRecordDecl *Class = recordAt(Type);
  if (!Class)
    return false;
  return sharesOwnership(Type) || kindOf(Class) != TypeKind::Pointer ||
         (isStd(Class) && ast::nameOf(Class) == "unique_ptr");
}

using Classes = llvm::SmallPtrSet<const CXXRecordDecl *, 8>;

/// Whether a kind of type is what somebody looks for.
using IsSought = bool (*)(TypeKind Kind);

static bool leadsTo(QualType Type, IsSought Is, Classes &Seen) {
  if (Type.isNull() || Type->isDependentType())
    return false;
  Type = Type.getNonReferenceType();
  while (Type->isPointerType() || Type->isArrayType())
    Type = Type->isPointerType()
               ? Type->getPointeeType()
               : Type->getAsArrayTypeUnsafe()->getElementType();
  const CXXRecordDecl *Class = recordAt(Type);
  if (!Class || !Seen.insert(Class->getCanonicalDecl()).second)
    return false;
  const TypeKind Kind = kindOf(Class);
  if (Is(Kind))
    return true;
  if (Kind == TypeKind::Callable)
    return false;
  const auto Leads = [&](QualType Of) { return leadsTo(Of, Is, Seen); };
  if (const auto *Made = dyn_cast<ClassTemplateSpecializationDecl>(Class);
      Made && (isStd(Class) || isLibTorch(Class)))
    return llvm::any_of(Made->getTemplateArgs().asArray(),
                        [&](const TemplateArgument &Each) {
                          return Each.getKind() == TemplateArgument::Type &&
                                 Leads(Each.getAsType());
                        });
  Class = Class->getDefinition();
  if (!Class || isStd(Class) || isLibTorch(Class))
    return false;
  return llvm::any_of(
             Class->fields(),
             [&](const FieldDecl *Field) { return Leads(Field->getType()); }) ||
         llvm::any_of(Class->bases(), [&](const CXXBaseSpecifier &Base) {
           return Leads(Base.getType());
         });
}

static bool isTrained(TypeKind Kind) {
  switch (Kind) {
  case TypeKind::Optimizer:
  case TypeKind::Module:
  case TypeKind::ModuleHolder:
  case TypeKind::ScriptModule:
    return true;
  default:
    return false;
  }
}

static bool isOrHasTensors(TypeKind Kind) {
  return Kind == TypeKind::Tensor || Kind == TypeKind::IValue ||
         isTrained(Kind);
}

bool leadsToTensor(QualType Type) {
  Classes Seen;
  return leadsTo(Type, isOrHasTensors, Seen);
}

bool leadsToTrained(QualType Type) {
  Classes Seen;
  return leadsTo(Type, isTrained, Seen);
}

static bool isPlainData(QualType Type, Classes &Seen) {
  if (Type.isNull() || Type->isDependentType() || Type->isReferenceType())
    return false;
  while (const ArrayType *Array = Type->getAsArrayTypeUnsafe())
    Type = Array->getElementType();
  if (Type->isPointerType())
    return Type->getPointeeType()->isVoidType() ||
           Type->getPointeeType()->isAnyCharacterType();
  if (Type->isArithmeticType() || Type->isEnumeralType())
    return true;
  const CXXRecordDecl *Class = recordAt(Type);
  if (!Class || isLibTorch(Class) || kindOf(Class) == TypeKind::Callable)
    return false;
  if (!Seen.insert(Class->getCanonicalDecl()).second)
    return true;
  const auto IsPlain = [&](QualType Of) { return isPlainData(Of, Seen); };
  // Nobody may have needed its definition yet.
  if (const auto *Made = dyn_cast<ClassTemplateSpecializationDecl>(Class);
      Made && isStd(Class))
    return llvm::all_of(Made->getTemplateArgs().asArray(),
                        [&](const TemplateArgument &Each) {
                          return Each.getKind() != TemplateArgument::Type ||
                                 IsPlain(Each.getAsType());
                        });
  Class = Class->getDefinition();
  return Class && !Class->isPolymorphic() &&
         llvm::all_of(Class->fields(),
                      [&](const FieldDecl *Field) {
                        return IsPlain(Field->getType());
                      }) &&
         llvm::all_of(Class->bases(), [&](const CXXBaseSpecifier &Base) {
           return IsPlain(Base.getType());
         });
}

bool holdsPlainData(QualType Type) {
  Classes Seen;
  return isPlainData(Type, Seen);
}

bool isSharedFromThis(const FunctionDecl *Method) {
  return ast::nameOf(Method) == "shared_from_this";
}

bool holdsCallable(QualType Type) {
  const CXXRecordDecl *Class = recordAt(Type);
  return Class && isStd(Class) && kindOf(Class) == TypeKind::Callable &&
         ast::nameOf(Class) == "function";
}

bool letsGo(const FunctionDecl *Method) {
  switch (meaning(Method)) {
  case StdMeaning::Clear:
  case StdMeaning::Remove:
  case StdMeaning::Resize:
  case StdMeaning::Extract:
  case StdMeaning::Swap:
  case StdMeaning::Exchange:
  case StdMeaning::Reset:
  case StdMeaning::GiveUp:
  case StdMeaning::Move:
    return true;
  default:
    return false;
  }
}

} // namespace torchtidy::torch
