#include "model/LoanTypes.h"
#include "torch/Names.h"
#include "torch/Types.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

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

bool isMatrix(QualType Type) {
  const CXXRecordDecl *Record = classOf(Type);
  const auto *In =
      Record ? dyn_cast<NamespaceDecl>(Record->getDeclContext()) : nullptr;
  return torch::nameOf(In) == "Eigen" && (torch::nameOf(Record) == "Matrix" ||
                                          torch::nameOf(Record) == "Array");
}

bool isWindow(QualType Type) {
  return llvm::StringSwitch<bool>(torch::nameOf(classOf(Type)))
      .Cases("basic_string_view", "span", "initializer_list", true)
      .Cases("ArrayRef", "MutableArrayRef", "reference_wrapper", true)
      .Default(false);
}

bool isUnique(QualType Type) {
  return torch::nameOf(classOf(Type)) == "unique_ptr";
}

bool isContiguous(QualType Type) {
  return llvm::StringSwitch<bool>(torch::nameOf(classOf(Type)))
      .Cases("vector", "basic_string", "SmallVector", "SmallVectorImpl", true)
      .Default(false);
}

} // namespace torchtidy::model
