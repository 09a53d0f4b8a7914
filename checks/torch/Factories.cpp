#include "torch/Factories.h"
#include "ast/Expressions.h"
#include "ast/Names.h"
#include "torch/Api.h"
#include "torch/Types.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace torchtidy::torch {

/// What a tensor is that one number fills (infer_full_options of
/// torch/csrc/autograd/generated/variable_factories.h).
static std::optional<StringRef> scalarOfNumber(QualType Number) {
  if (Number->isBooleanType())
    return "Bool";
  if (Number->isIntegralOrEnumerationType())
    return "Long";
  if (Number->isFloatingType())
    return "Float";
  return std::nullopt;
}

std::optional<StringRef> defaultScalar(const Operation &Factory,
                                       llvm::ArrayRef<const Expr *> Operands) {
  const StringRef Name = Factory.Name;
  if (Name == "randint" || Name == "randperm" || Name.ends_with("_indices"))
    return "Long";
  if (Name == "arange") {
    // Numbers come as torch::Scalar.
    const bool HasFloating = llvm::any_of(Operands, [](const Expr *Operand) {
      return ast::stripCopies(Operand)->getType()->isFloatingType();
    });
    return HasFloating ? "Float" : "Long";
  }
  if (Name == "full" && Operands.size() > 1)
    return scalarOfNumber(ast::stripCopies(Operands[1])->getType());
  if (Name == "full" || Name == "tensor" || Name == "from_file" ||
      Name == "scalar_tensor" || Name == "range")
    return std::nullopt;
  return "Float";
}

bool isMadeFromData(const Operation &Factory) {
  return llvm::StringSwitch<bool>(Factory.Name)
      .Cases("tensor", "from_blob", "from_file", "scalar_tensor", true)
      .Default(false);
}

bool listsContent(const Operation &Factory) { return Factory.Name == "tensor"; }

bool isUninitialized(StringRef Factory) {
  return Factory.starts_with("empty") || Factory.starts_with("new_empty");
}

bool isMadeUp(const Operation &Factory) {
  return !isMadeFromData(Factory) && !isUninitialized(Factory.Name);
}

/// Also where a Scalar is made of it.
static bool isArithmetic(const Expr *Argument) {
  return !isa<CXXDefaultArgExpr>(Argument) &&
         Argument->IgnoreUnlessSpelledInSource()->getType()->isArithmeticType();
}

std::optional<unsigned> shapeArgument(const Operation &Factory,
                                      llvm::ArrayRef<const Expr *> Arguments) {
  const StringRef Name = Factory.Name;
  if (Name == "range" || Name == "tensor" || Name == "scalar_tensor" ||
      Name == "from_file" ||
      (Name == "arange" && Arguments.size() > 1 && isArithmetic(Arguments[1])))
    return std::nullopt;
  // The limits come before the shape.
  if (Name == "randint") {
    const auto *Shape = llvm::find_if_not(Arguments, isArithmetic);
    if (Shape == Arguments.end())
      return std::nullopt;
    return Shape - Arguments.begin();
  }
  // The number of steps is the third argument; the memory comes before.
  const unsigned Result = Name == "linspace" || Name == "logspace" ? 2
                          : Name == "from_blob"                    ? 1
                                                                   : 0;
  if (Result >= Arguments.size())
    return std::nullopt;
  return Result;
}

bool saysStrides(const CallExpr *Factory) {
  const Operation *Op = classify(Factory).Op;
  const FunctionDecl *Callee = Factory->getDirectCallee();
  const auto Shape = Op && Callee
                         ? shapeArgument(*Op, ast::argumentsOf(Factory))
                         : std::nullopt;
  if (!Shape || *Shape + 1 >= Callee->getNumParams())
    return false;
  const auto TypeOf = [&](unsigned I) {
    return Callee->getParamDecl(I)
        ->getType()
        .getNonReferenceType()
        .getCanonicalType()
        .getUnqualifiedType();
  };
  return TypeOf(*Shape)->isRecordType() && TypeOf(*Shape) == TypeOf(*Shape + 1);
}

bool saysGenerator(const CallExpr *Factory) {
  return llvm::any_of(ast::argumentsOf(Factory), [](const Expr *Argument) {
    if (isa<CXXDefaultArgExpr>(Argument))
      return false;
    // An optional that is made of one for the call, or was before it.
    const QualType Type = ast::stripCopies(Argument)->getType();
    const CXXRecordDecl *Class = pointee(Type)->getAsCXXRecordDecl();
    return Class && isLibTorch(Class) && ast::nameOf(Class) == "Generator";
  });
}

bool makesList(const Operation &Factory) {
  return llvm::StringSwitch<bool>(Factory.Name)
      .Cases("arange", "range", "linspace", "logspace", "randperm", true)
      .Cases("hann_window", "hamming_window", "blackman_window",
             "bartlett_window", "kaiser_window", true)
      .Default(false);
}

bool isSquare(const Operation &Factory) { return Factory.Name == "eye"; }

/// Of zeros_like and new_zeros it is "zeros".
static StringRef contentOf(StringRef Factory) {
  Factory.consume_front("new_");
  Factory.consume_back("_like");
  return Factory;
}

StringRef refillOf(StringRef Factory) {
  return llvm::StringSwitch<StringRef>(contentOf(Factory))
      .Case("zeros", "zero_()")
      .Case("ones", "fill_(1)")
      .Case("rand", "uniform_()")
      .Case("randn", "normal_()")
      .Default("");
}

bool fillsWithArgument(StringRef Factory) {
  return contentOf(Factory) == "full";
}

} // namespace torchtidy::torch
