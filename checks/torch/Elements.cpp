#include "torch/Elements.h"
#include "ast/Expressions.h"
#include "ast/Names.h"
#include "ast/Walk.h"
#include "torch/Api.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace torchtidy::torch {

bool readsNumber(const Operation &Op) {
  return Op.Name == "item" || Op.Name == "is_nonzero";
}

bool choosesPosition(const Operation &Op) {
  return Op.Name == "select" || isIndexing(Op);
}

bool choosesRange(const Operation &Op) {
  return Op.Name == "narrow" || Op.Name == "slice";
}

bool keepsElements(const Operation &Op) {
  return Op.View != Tri::No || isTransfer(Op) || makesContiguous(Op) ||
         Op.Name == "clone";
}

bool copiesElements(const Operation &Op) { return Op.Name == "clone"; }

/// A literal 0, None, or not written.
static bool isBeginning(const Expr *E) {
  if (isa<CXXDefaultArgExpr>(E))
    return true;
  E = ast::stripCopies(E);
  const auto *Number = dyn_cast<IntegerLiteral>(E);
  const auto *Made = dyn_cast<CXXConstructExpr>(E);
  const CXXRecordDecl *Record = recordOf(E->getType());
  return (Number && Number->getValue() == 0) ||
         (Made && Made->getNumArgs() == 0) ||
         (Record && ast::nameOf(Record) == "nullopt_t");
}

bool areNumbers(const Expr *Indices) {
  return !ast::anyStmt(
      Indices,
      [](const Stmt *S) {
        const auto *Construct = dyn_cast<CXXConstructExpr>(S);
        if (!Construct || !isIndex(Construct->getType()) ||
            Construct->getNumArgs() == 0)
          return false;
        const QualType Type = ast::strip(Construct->getArg(0))->getType();
        return !isIndex(Type) && !Type->isIntegerType();
      },
      ast::Lambdas::Skip);
}

/// The step of slice(), a literal 1 or not written.
static bool isStepOne(const Expr *E) {
  const auto *Number = dyn_cast<IntegerLiteral>(ast::stripCopies(E));
  return isa<CXXDefaultArgExpr>(E) || (Number && Number->getValue() == 1);
}

bool choosesLeading(const CallExpr *Call) {
  const Operation *Op = classify(Call).Op;
  const auto Arguments = ast::argumentsOf(Call);
  if (!Op || Arguments.empty())
    return false;
  const Expr *Index = ast::stripCopies(Arguments.back());
  if (isTensor(Index->getType()))
    return false;
  if (isIndexing(*Op))
    return areNumbers(Index);
  if (!choosesPosition(*Op) && !choosesRange(*Op))
    return false;
  if (isa<CXXOperatorCallExpr>(Call))
    return true;
  // The dimension; of a function the tensor comes before.
  const unsigned Dimension = ast::objectOf(Call) ? 0 : 1;
  if (Dimension >= Arguments.size() || !isBeginning(Arguments[Dimension]))
    return false;
  return Op->Name != "slice" || Arguments.size() < Dimension + 4 ||
         isStepOne(Arguments[Dimension + 3]);
}

llvm::SmallVector<const Expr *, 2> firstPositions(const CallExpr *Call) {
  const Operation *Op = classify(Call).Op;
  if (!Op)
    return {};
  llvm::SmallVector<const Expr *, 2> Result;
  if (choosesRange(*Op)) {
    // The dimension comes before; of a function the tensor as well.
    const unsigned First = ast::objectOf(Call) ? 1 : 2;
    const auto Arguments = ast::argumentsOf(Call);
    if (First + 1 < Arguments.size() && isBeginning(Arguments[First]))
      Result.push_back(ast::stripCopies(Arguments[First + 1]));
  } else if (isIndexing(*Op)) {
    ast::forEachStmt(
        Call,
        [&](const Stmt *S) {
          const auto *Slice = dyn_cast<CXXConstructExpr>(S);
          if (Slice && Slice->getNumArgs() > 1 &&
              ast::nameOf(Slice->getConstructor()->getParent()) == "Slice" &&
              isBeginning(Slice->getArg(0)))
            Result.push_back(ast::stripCopies(Slice->getArg(1)));
        },
        ast::Lambdas::Skip);
  }
  return Result;
}

const Expr *howManyPicked(const CallExpr *Call) {
  const Operation *Op = classify(Call).Op;
  const unsigned Argument = ast::objectOf(Call) ? 0 : 1;
  const auto Arguments = ast::argumentsOf(Call);
  return Op && Op->Name == "topk" && Argument < Arguments.size()
             ? Arguments[Argument]
             : nullptr;
}

static bool isNumber(QualType Type) {
  const CXXRecordDecl *Record = recordOf(Type);
  return Type->isArithmeticType() ||
         (Record && isLibTorch(Record) && ast::nameOf(Record) == "Scalar");
}

NumberWrite numberWrite(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  const Expr *Object = ast::objectOf(Call);
  if (!Callee || !Object || !isTensor(Object->getType()) ||
      Callee->getNumParams() == 0 ||
      !isNumber(Callee->getParamDecl(Callee->getNumParams() - 1)
                    ->getType()
                    .getNonReferenceType()))
    return {};
  switch (Callee->getOverloadedOperator()) {
  case OO_Equal:
  case OO_PlusEqual:
  case OO_MinusEqual:
  case OO_StarEqual:
  case OO_SlashEqual:
    return {Object, nullptr};
  default:
    break;
  }
  if (ast::nameOf(Callee) == "index_put_" && Callee->getNumParams() == 2)
    return {Object, Call->getArg(0)};
  return {};
}

bool printsText(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee)
    return false;
  if (Callee->getOverloadedOperator() == OO_LessLess) {
    const CXXRecordDecl *To = recordOf(Callee->getReturnType());
    return To && isStd(To) && ast::nameOf(To) == "basic_ostream";
  }
  return llvm::StringSwitch<bool>(ast::nameOf(Callee))
      .Cases("printf", "fprintf", "puts", "fputs", true)
      .Cases("print", "println", true)
      .Default(false);
}

bool makesText(const CallExpr *Call) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Call->getDirectCallee());
  if (!Method || !isStd(Method))
    return false;
  const auto IsText = [](QualType Type) {
    const CXXRecordDecl *Record = recordOf(Type.getNonReferenceType());
    return Record && isStd(Record) && ast::nameOf(Record) == "basic_string";
  };
  const bool Adds = Method->getOverloadedOperator() == OO_PlusEqual ||
                    llvm::StringSwitch<bool>(ast::nameOf(Method))
                        .Cases("append", "push_back", "emplace_back", true)
                        .Default(false);
  return Adds && (ast::nameOf(Method->getParent()) == "basic_string" ||
                  (Method->getNumParams() > 0 &&
                   IsText(Method->getParamDecl(0)->getType())));
}

bool isMinimum(const FunctionDecl *F) {
  return F && stdName(F) == "min" && F->getNumParams() >= 2;
}

} // namespace torchtidy::torch
