#include "torch/Loaders.h"
#include "ast/Expressions.h"
#include "ast/Names.h"
#include "torch/Types.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace torchtidy::torch {

/// The type that is the first argument of a template of this name; null for
/// other classes.
static QualType firstArgument(QualType Type, StringRef Name) {
  const auto *Class = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
      Type.isNull() ? nullptr : Type->getAsCXXRecordDecl());
  if (!Class || ast::nameOf(Class) != Name ||
      Class->getTemplateArgs().size() == 0 ||
      Class->getTemplateArgs()[0].getKind() != TemplateArgument::Type)
    return QualType();
  return Class->getTemplateArgs()[0].getAsType();
}

QualType copiedDataset(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee || !isLibTorch(Callee) ||
      ast::nameOf(Callee) != "make_data_loader")
    return QualType();
  const QualType Loader = firstArgument(Callee->getReturnType(), "unique_ptr");
  return firstArgument(Loader, "StatelessDataLoader");
}

const CXXRecordDecl *sourceDataset(QualType Dataset) {
  for (unsigned Hop = 0; Hop < 8; ++Hop) {
    const QualType Source = firstArgument(Dataset, "MapDataset");
    if (Source.isNull())
      break;
    Dataset = Source;
  }
  const CXXRecordDecl *Class =
      Dataset.isNull() ? nullptr : Dataset->getAsCXXRecordDecl();
  return Class && !isLibTorch(Class) ? Class->getDefinition() : nullptr;
}

const Expr *namedDataset(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee || !isLibTorch(Callee))
    return nullptr;
  if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call)) {
    const CXXMethodDecl *Method = Member->getMethodDecl();
    return Method && Method->getRefQualifier() == RQ_LValue &&
                   ast::nameOf(Method) == "map" &&
                   ast::nameOf(Method->getParent()) == "BatchDataset"
               ? ast::strip(Member->getImplicitObjectArgument())
               : nullptr;
  }
  if (ast::nameOf(Callee) != "make_data_loader" || Call->getNumArgs() == 0)
    return nullptr;
  const auto *Copy = dyn_cast<CXXConstructExpr>(ast::strip(Call->getArg(0)));
  return Copy && Copy->getConstructor()->isCopyConstructor() &&
                 Copy->getNumArgs() > 0
             ? ast::strip(Copy->getArg(0))
             : nullptr;
}

bool isLoaderOptions(QualType Type) {
  const CXXRecordDecl *Class = Type.isNull() ? nullptr : recordOf(Type);
  return Class && isLibTorch(Class) &&
         ast::nameOf(Class) == "DataLoaderOptions";
}

bool setsWorkers(const FunctionDecl *Member) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Member);
  return Method && isLibTorch(Method) && ast::nameOf(Method) == "workers" &&
         Method->getNumParams() == 1 &&
         ast::nameOf(Method->getParent()) == "DataLoaderOptions";
}

bool readsSample(const CXXMethodDecl *Method) {
  return Method && llvm::any_of(Method->overridden_methods(),
                                [](const CXXMethodDecl *Overridden) {
                                  const StringRef Name =
                                      ast::nameOf(Overridden);
                                  return isLibTorch(Overridden) &&
                                         (Name == "get" || Name == "get_batch");
                                });
}

/// A pair, a box: no more than names and numbers of a sample are.
static constexpr uint64_t FewNumbers = 16;

static CopiedData copiedData(QualType Type, unsigned Depth);

/// Of the elements of a list.
static CopiedData listOf(QualType Element, unsigned Depth) {
  if (Element->isArithmeticType())
    return CopiedData::Numbers;
  return copiedData(Element, Depth + 1) == CopiedData::Little
             ? CopiedData::Little
             : CopiedData::Lists;
}

static bool isShortArray(const ClassTemplateSpecializationDecl *Array) {
  const auto Arguments = Array->getTemplateArgs().asArray();
  return Arguments.size() > 1 &&
         Arguments[1].getKind() == TemplateArgument::Integral &&
         Arguments[1].getAsIntegral().ult(FewNumbers);
}

static CopiedData ofArguments(const ClassTemplateSpecializationDecl *Class,
                              unsigned Depth, bool IsList) {
  CopiedData Most = CopiedData::Little;
  for (const TemplateArgument &Argument : Class->getTemplateArgs().asArray()) {
    if (Argument.getKind() != TemplateArgument::Type &&
        Argument.getKind() != TemplateArgument::Pack)
      continue;
    const auto Add = [&](QualType Of) {
      // The allocator of a list, the order of a map.
      const CXXRecordDecl *Record = Of->getAsCXXRecordDecl();
      if (Record && Record->hasDefinition() && Record->isEmpty())
        return;
      Most = std::max(Most,
                      IsList ? listOf(Of, Depth) : copiedData(Of, Depth + 1));
    };
    if (Argument.getKind() == TemplateArgument::Type)
      Add(Argument.getAsType());
    else
      for (const TemplateArgument &Each : Argument.pack_elements())
        if (Each.getKind() == TemplateArgument::Type)
          Add(Each.getAsType());
  }
  return Most;
}

static CopiedData copiedData(QualType Type, unsigned Depth) {
  if (Type.isNull() || Type->isDependentType() || Depth > 5)
    return CopiedData::Little;
  if (const ArrayType *Array = Type->getAsArrayTypeUnsafe()) {
    const auto *Constant = dyn_cast<ConstantArrayType>(Array);
    return Constant && Constant->getSize().ult(FewNumbers)
               ? copiedData(Array->getElementType(), Depth + 1)
               : listOf(Array->getElementType(), Depth);
  }
  const CXXRecordDecl *Class = Type->getAsCXXRecordDecl();
  Class = Class ? Class->getDefinition() : nullptr;
  if (!Class || isLibTorch(Class))
    return CopiedData::Little;
  const TypeKind Kind = kindOf(Class);
  if (isStd(Class)) {
    const auto *Of = dyn_cast<ClassTemplateSpecializationDecl>(Class);
    const bool IsString = ast::nameOf(Class).starts_with("basic_string");
    if (!Of || IsString ||
        (Kind != TypeKind::Container && Kind != TypeKind::Aggregate))
      return CopiedData::Little;
    return ofArguments(Of, Depth,
                       Kind == TypeKind::Container ||
                           (isArray(Of) && !isShortArray(Of)));
  }
  // A class of the user's, as far as it has what it has by value. One with a
  // copy constructor of its own may share it.
  if (Kind != TypeKind::Other || Class->hasUserDeclaredCopyConstructor())
    return CopiedData::Little;
  CopiedData Most = CopiedData::Little;
  for (const FieldDecl *Field : Class->fields())
    Most = std::max(Most, copiedData(Field->getType(), Depth + 1));
  return Most;
}

CopiedData copiedData(QualType Type) { return copiedData(Type, 0); }

} // namespace torchtidy::torch
