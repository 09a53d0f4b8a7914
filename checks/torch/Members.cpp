#include "torch/Members.h"
#include "ast/Names.h"
#include "torch/Types.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace torchtidy::torch {

bool isDataPointer(const FunctionDecl *Member) {
  return llvm::StringSwitch<bool>(ast::nameOf(Member))
      .Cases("data_ptr", "const_data_ptr", "mutable_data_ptr", true)
      .Default(false);
}

bool isSizeList(const FunctionDecl *Member) {
  return llvm::StringSwitch<bool>(ast::nameOf(Member))
      .Cases("sizes", "strides", "sym_sizes", "sym_strides", true)
      .Default(false);
}

bool saysSizes(const FunctionDecl *Member) {
  return llvm::StringSwitch<bool>(ast::nameOf(Member))
      .Cases("sizes", "sym_sizes", true)
      .Default(false);
}

bool givesWriteAccess(const FunctionDecl *Member) {
  const StringRef Name = ast::nameOf(Member);
  return Name == "data_ptr" || Name == "mutable_data_ptr" ||
         Name.starts_with("accessor") || Name.starts_with("packed_accessor") ||
         Name.starts_with("generic_packed_accessor") || Name == "storage" ||
         Name == "unsafeGetTensorImpl";
}

bool givesReadAccess(const FunctionDecl *Member) {
  const StringRef Name = ast::nameOf(Member);
  return Name.contains("data_ptr") || Name.contains("accessor");
}

bool saysOptions(const FunctionDecl *Member) {
  return ast::nameOf(Member) == "options";
}

bool saysDevice(const FunctionDecl *Member) {
  return ast::nameOf(Member) == "device" || saysOptions(Member);
}

bool saysOldOptions(const FunctionDecl *Member) {
  return ast::nameOf(Member) == "type";
}

bool keepsOldOptions(const FunctionDecl *Member) {
  if (const auto *To = dyn_cast_or_null<CXXConversionDecl>(Member))
    return isTensorOptions(To->getConversionType());
  return ast::nameOf(Member) == "options" ||
         ast::nameOf(Member) == "toScalarType";
}

bool resetsTensor(const FunctionDecl *Member) {
  return ast::nameOf(Member) == "reset";
}

bool clearsTensor(const FunctionDecl *Member) {
  return ast::nameOf(Member) == "zero_" || resetsTensor(Member) ||
         (Member && Member->getOverloadedOperator() == OO_Equal);
}

bool asksTensor(const FunctionDecl *Member) {
  return llvm::StringSwitch<bool>(ast::nameOf(Member))
      .Cases("requires_grad_", "set_requires_grad", "defined", true)
      .Cases("sizes", "size", "dim", "numel", true)
      .Cases("options", "dtype", "device", true)
      .Default(false);
}

bool registersHook(const FunctionDecl *Member) {
  return llvm::StringSwitch<bool>(ast::nameOf(Member))
      .Cases("register_hook", "_register_hook", true)
      .Default(false);
}

bool removesHook(const FunctionDecl *F) {
  return llvm::StringSwitch<bool>(ast::nameOf(F))
      .Cases("remove_hook", "clear_hooks", true)
      .Default(false);
}

bool saysKind(const FunctionDecl *Member) {
  return llvm::StringSwitch<bool>(ast::nameOf(Member))
      .Cases("device", "options", "dtype", "scalar_type", "type", true)
      .Default(false);
}

bool saysShape(const FunctionDecl *Member) {
  return llvm::StringSwitch<bool>(ast::nameOf(Member))
      .Cases("size", "sizes", "dim", "ndimension", "numel", true)
      .Cases("sym_size", "sym_sizes", "sym_numel", "defined", true)
      .Default(false);
}

bool saysElementType(const FunctionDecl *Member) {
  return llvm::StringSwitch<bool>(ast::nameOf(Member))
      .Cases("dtype", "scalar_type", "element_size", "itemsize", true)
      .Cases("nbytes", "is_floating_point", "is_complex", true)
      .Default(false);
}

bool saysProperty(const FunctionDecl *Member) {
  return isSizeList(Member) || saysKind(Member) ||
         llvm::StringSwitch<bool>(ast::nameOf(Member))
             .Cases("size", "dim", "ndimension", "numel", "stride", true)
             .Cases("is_cuda", "is_cpu", "get_device", "layout", true)
             .Cases("element_size", "nbytes", "defined", true)
             .Default(false);
}

bool asksWhetherThere(const FunctionDecl *Member) {
  return ast::nameOf(Member) == "defined" || ast::nameOf(Member) == "has_value";
}

bool addsUnchecked(const FunctionDecl *Member) {
  return ast::nameOf(Member) == "add_parameters";
}

static bool isPointerOperator(const FunctionDecl *Member) {
  const OverloadedOperatorKind Operator =
      Member ? Member->getOverloadedOperator() : OO_None;
  return Operator == OO_Arrow || Operator == OO_Star;
}

bool leadsToPointee(const FunctionDecl *Member) {
  return isPointerOperator(Member) || ast::nameOf(Member) == "ptr" ||
         ast::nameOf(Member) == "get";
}

bool leadsToContent(const FunctionDecl *Member) {
  return leadsToPointee(Member) || ast::nameOf(Member) == "value";
}

bool isToTensor(const FunctionDecl *Member) {
  return ast::nameOf(Member) == "toTensor";
}

bool isToNumberOrText(const FunctionDecl *Member) {
  return llvm::StringSwitch<bool>(ast::nameOf(Member))
      .Cases("toInt", "toSymInt", "toDouble", "toSymFloat", true)
      .Cases("toComplexDouble", "toBool", "toScalar", true)
      .Cases("toString", "toStringRef", "toStringView", true)
      .Cases("toOptionalStringRef", "toDevice", "toNone", true)
      .Cases("toIntVector", "toIntList", "toDimVector", true)
      .Cases("toDoubleVector", "toDoubleList", "toBoolList", true)
      .Default(false);
}

bool leadsIntoIValue(const FunctionDecl *Member) {
  return isPointerOperator(Member) || ast::nameOf(Member).starts_with("to");
}

bool changesDefaultType(const FunctionDecl *F) {
  return ast::nameOf(F) == "set_default_dtype";
}

bool saysGradMode(const FunctionDecl *F) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(F);
  const StringRef Class = Method ? ast::nameOf(Method->getParent()) : "";
  return (Class == "GradMode" && ast::nameOf(F) == "is_enabled") ||
         (Class == "AutogradState" && ast::nameOf(F) == "get_grad_mode");
}

bool isLaunch(const FunctionDecl *F) { return ast::nameOf(F) == "launch"; }

bool leadsToMemory(const FunctionDecl *Member) {
  return ast::nameOf(Member) == "data" || ast::nameOf(Member) == "ptr";
}

bool isClone(const FunctionDecl *Member) {
  return ast::nameOf(Member) == "clone";
}

} // namespace torchtidy::torch
