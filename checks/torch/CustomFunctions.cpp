#include "torch/CustomFunctions.h"
#include "ast/Expressions.h"
#include "ast/Names.h"
#include "torch/Types.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace torchtidy::torch {

bool isCustomFunction(const CXXRecordDecl *Class) {
  if (!Class || !Class->hasDefinition())
    return false;
  return llvm::any_of(Class->bases(), [](const CXXBaseSpecifier &Base) {
    const CXXRecordDecl *Of = Base.getType()->getAsCXXRecordDecl();
    return Of && isLibTorch(Of) && ast::nameOf(Of) == "Function" &&
           isa<ClassTemplateSpecializationDecl>(Of);
  });
}

bool isContext(QualType Type) {
  const CXXRecordDecl *Class = Type.isNull() ? nullptr : recordOf(Type);
  return Class && isLibTorch(Class) && ast::nameOf(Class) == "AutogradContext";
}

bool isSavedData(const Expr *E) {
  const auto *Member = dyn_cast_or_null<MemberExpr>(E ? ast::strip(E) : E);
  const auto *Field =
      Member ? dyn_cast<FieldDecl>(Member->getMemberDecl()) : nullptr;
  return Field && ast::nameOf(Field) == "saved_data" &&
         isLibTorch(Field->getParent()) &&
         ast::nameOf(Field->getParent()) == "AutogradContext";
}

static StringRef contextMember(const FunctionDecl *Member) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Member);
  return Method && isLibTorch(Method) &&
                 ast::nameOf(Method->getParent()) == "AutogradContext"
             ? ast::nameOf(Method)
             : StringRef();
}

bool marksNonDifferentiable(const FunctionDecl *Member) {
  return contextMember(Member) == "mark_non_differentiable";
}

bool savesForBackward(const FunctionDecl *Member) {
  return contextMember(Member) == "save_for_backward";
}

bool addsToMap(const FunctionDecl *Member) {
  return llvm::StringSwitch<bool>(ast::nameOf(Member))
      .Cases("insert", "insert_or_assign", "emplace", "try_emplace", true)
      .Default(false);
}

bool looksIntoMap(const FunctionDecl *Member) {
  return Member &&
         (Member->getOverloadedOperator() == OO_Subscript ||
          llvm::StringSwitch<bool>(ast::nameOf(Member))
              .Cases("at", "find", "count", "contains", true)
              .Cases("size", "empty", "begin", "end", "cbegin", "cend", true)
              .Default(false));
}

} // namespace torchtidy::torch
