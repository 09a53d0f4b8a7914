#include "model/LoanTypes.h"
#include "flow/Names.h"
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
  return flow::nameOf(In) == "Eigen" &&
         (flow::nameOf(Record) == "Matrix" || flow::nameOf(Record) == "Array");
}

bool isWindow(QualType Type) {
  return llvm::StringSwitch<bool>(flow::nameOf(classOf(Type)))
      .Cases("basic_string_view", "span", "initializer_list", true)
      .Cases("ArrayRef", "MutableArrayRef", "reference_wrapper", true)
      .Default(false);
}

bool isUnique(QualType Type) {
  return flow::nameOf(classOf(Type)) == "unique_ptr";
}

bool isContiguous(QualType Type) {
  return llvm::StringSwitch<bool>(flow::nameOf(classOf(Type)))
      .Cases("vector", "basic_string", "SmallVector", "SmallVectorImpl", true)
      .Default(false);
}

} // namespace torchtidy::model
