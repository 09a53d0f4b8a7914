#include "torch/Scalars.h"
#include "ast/Names.h"
#include "torch/Types.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace torchtidy::torch {

bool isBool(StringRef Scalar) { return Scalar == "Bool"; }

unsigned scalarSize(StringRef Name) {
  return llvm::StringSwitch<unsigned>(Name)
      .Cases("Byte", "Char", "Bool", 1)
      .Cases("Short", "UInt16", "Half", "BFloat16", 2)
      .Cases("Int", "UInt32", "Float", "ComplexHalf", 4)
      .Cases("Long", "UInt64", "Double", "ComplexFloat", 8)
      .Case("ComplexDouble", 16)
      .Default(0);
}

StringRef typeOfScalar(StringRef Name) {
  return llvm::StringSwitch<StringRef>(Name)
      .Case("Byte", "uint8_t")
      .Case("Char", "int8_t")
      .Case("Short", "int16_t")
      .Case("Int", "int32_t")
      .Case("Long", "int64_t")
      .Case("UInt16", "uint16_t")
      .Case("UInt32", "uint32_t")
      .Case("UInt64", "uint64_t")
      .Case("Bool", "bool")
      .Case("Half", "c10::Half")
      .Case("BFloat16", "c10::BFloat16")
      .Case("Float", "float")
      .Case("Double", "double")
      .Case("ComplexFloat", "c10::complex<float>")
      .Case("ComplexDouble", "c10::complex<double>")
      .Default("");
}

static Element integer(unsigned Size, bool IsSigned) {
  switch (Size) {
  case 1:
    return {Element::Byte, 1, IsSigned ? "Char" : "Byte"};
  case 2:
    return {Element::Integer, 2, "Short"};
  case 4:
    return {Element::Integer, 4, "Int"};
  default:
    return {Element::Integer, Size, Size == 8 ? "Long" : ""};
  }
}

/// std::complex<float>, c10::complex<double>.
static std::optional<Element> complexOf(const CXXRecordDecl *Record,
                                        const ASTContext &Context) {
  const auto *Specialization =
      dyn_cast<ClassTemplateSpecializationDecl>(Record);
  if (!Specialization || Specialization->getTemplateArgs().size() != 1 ||
      Specialization->getTemplateArgs()[0].getKind() != TemplateArgument::Type)
    return std::nullopt;
  const std::optional<Element> Part =
      elementOf(Specialization->getTemplateArgs()[0].getAsType(), Context);
  if (!Part || Part->Of != Element::Float)
    return std::nullopt;
  return Element{Element::Complex, 2 * Part->Size,
                 llvm::StringSwitch<StringRef>(Part->Name)
                     .Case("Float", "ComplexFloat")
                     .Case("Double", "ComplexDouble")
                     .Case("Half", "ComplexHalf")
                     .Default("")};
}

static std::optional<Element> inRecord(const CXXRecordDecl *Record,
                                       QualType Type,
                                       const ASTContext &Context) {
  const StringRef Name = ast::nameOf(Record);
  const bool IsLibrary = isStd(Record) || isLibTorch(Record);
  if (IsLibrary && Name == "complex")
    return complexOf(Record, Context);
  if (isLibTorch(Record) && (Name == "Half" || Name == "BFloat16"))
    return Element{Element::Float, 2, Name == "Half" ? "Half" : "BFloat16"};
  const TypeKind Kind = kindOf(Record);
  if (IsLibrary && (Kind == TypeKind::Container || Name == "basic_string"))
    return Element{Element::Container, 0, ""};
  if (IsLibrary && Kind == TypeKind::Pointer && !isOptional(Type))
    return Element{Element::Pointer, 0, ""};
  const CXXRecordDecl *Definition = Record->getDefinition();
  if (!Definition || Definition->isUnion() || Definition->isPolymorphic() ||
      Definition->isInvalidDecl())
    return std::nullopt;
  std::optional<Element> Result;
  auto Add = [&](QualType Part) {
    const std::optional<Element> Each = elementOf(Part, Context);
    // A structure with an address in it is more than its elements.
    if (!Each || Each->Of == Element::Pointer ||
        Each->Of == Element::Container || (Result && !(*Result == *Each)))
      return false;
    Result = Each;
    return true;
  };
  for (const CXXBaseSpecifier &Base : Definition->bases()) {
    const CXXRecordDecl *Class = recordOf(Base.getType());
    if (Class && Class->hasDefinition() && Class->isEmpty())
      continue;
    if (!Add(Base.getType()))
      return std::nullopt;
  }
  for (const FieldDecl *Field : Definition->fields())
    if (Field->isBitField() || !Add(Field->getType()))
      return std::nullopt;
  return Result;
}

std::optional<Element> elementOf(QualType Type, const ASTContext &Context) {
  if (Type.isNull() || Type->isDependentType())
    return std::nullopt;
  Type = Type.getCanonicalType().getUnqualifiedType();
  while (const ArrayType *Array = Type->getAsArrayTypeUnsafe())
    Type = Array->getElementType().getUnqualifiedType();
  if (Type->isReferenceType() || Type->isVoidType() ||
      Type->isIncompleteType() || Type->isFunctionType())
    return std::nullopt;
  if (const CXXRecordDecl *Record = Type->getAsCXXRecordDecl())
    return inRecord(Record, Type, Context);
  if (Type->isPointerType())
    return Element{Element::Pointer, 0, ""};
  const unsigned Size = Context.getTypeSizeInChars(Type).getQuantity();
  if (Type->isBooleanType())
    return Element{Element::Byte, Size, "Bool"};
  if (Type->isIntegralOrEnumerationType())
    return integer(Size, Type->isSignedIntegerOrEnumerationType());
  if (Type->isSpecificBuiltinType(BuiltinType::Float))
    return Element{Element::Float, Size, "Float"};
  if (Type->isSpecificBuiltinType(BuiltinType::Double))
    return Element{Element::Float, Size, "Double"};
  return std::nullopt;
}

bool fits(const Element &Memory, StringRef Scalar, bool IsSaid) {
  const unsigned Size = scalarSize(Scalar);
  if (Size == 0)
    return true;
  // The bytes of anything: from_blob(&config, {sizeof(config)}, kByte).
  if (IsSaid && (Scalar == "Byte" || Scalar == "Char") &&
      Memory.Of != Element::Container)
    return true;
  const bool IsComplex = Scalar.starts_with("Complex");
  const bool IsFloating = Scalar == "Float" || Scalar == "Double" ||
                          Scalar == "Half" || Scalar == "BFloat16";
  switch (Memory.Of) {
  case Element::Byte:
    return IsSaid || Size == 1;
  case Element::Integer:
    // Half and bfloat16 have no type in C++.
    return Memory.Name.empty() ||
           (Size == Memory.Size && (Size == 2 || !IsFloating) && !IsComplex);
  case Element::Float:
    // Pairs of them are complex numbers; the bits of a half are a short.
    return Scalar == Memory.Name || (IsComplex && Size == 2 * Memory.Size) ||
           (Size == 2 && Memory.Size == 2 && !IsFloating);
  case Element::Complex:
    return Memory.Name.empty() || Scalar == Memory.Name ||
           (IsFloating && 2 * Size == Memory.Size);
  case Element::Pointer:
    return Size == 8 && !IsFloating && !IsComplex;
  case Element::Container:
    return false;
  }
  return true;
}

const Expr *blobOptions(const CallExpr *Call) {
  for (const Expr *Argument : Call->arguments())
    if (torch::isTensorOptions(Argument->getType()) &&
        !isa<CXXDefaultArgExpr>(Argument))
      return Argument;
  return nullptr;
}

} // namespace torchtidy::torch
