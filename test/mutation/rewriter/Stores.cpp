#include "Stores.h"

#include "llvm/ADT/StringSet.h"

using namespace clang;

namespace torchtidy::mutation {

namespace {

bool isTransparent(const Stmt *S) {
  return isa<CastExpr, ParenExpr, MaterializeTemporaryExpr,
             CXXBindTemporaryExpr, ExprWithCleanups, CXXConstructExpr,
             InitListExpr, CXXStdInitializerListExpr, ConstantExpr>(S);
}

bool isArithmetic(OverloadedOperatorKind Kind) {
  return Kind == OO_Plus || Kind == OO_Minus || Kind == OO_Star ||
         Kind == OO_Slash;
}

bool isAssignment(OverloadedOperatorKind Kind) {
  return Kind == OO_Equal || Kind == OO_PlusEqual || Kind == OO_MinusEqual;
}

/// A call that hands the value on, and the store that it ends in.
enum class Step { Through, Stop };

Step through(const Stmt *Parent, const Stmt *Child,
             std::optional<Store> &Found) {
  static const llvm::StringSet<> Appends = {
      "push_back", "emplace_back", "push_front", "emplace_front",   "push",
      "emplace",   "insert",       "append",     "insert_or_assign"};
  static const llvm::StringSet<> InPlace = {"copy_", "add_", "sub_", "lerp_"};
  static const llvm::StringSet<> Makers = {"make_tuple", "make_pair", "move",
                                           "forward"};
  if (const auto *Operator = dyn_cast<BinaryOperator>(Parent)) {
    if (Operator->isAssignmentOp()) {
      if (Operator->getRHS() == Child)
        Found = Store{Store::Assign, Operator, placeOf(Operator->getLHS()),
                      Operator->getLHS()};
      return Step::Stop;
    }
    return Operator->isAdditiveOp() || Operator->isMultiplicativeOp()
               ? Step::Through
               : Step::Stop;
  }
  if (const auto *Call = dyn_cast<CXXOperatorCallExpr>(Parent)) {
    if (isAssignment(Call->getOperator()) && Call->getNumArgs() == 2 &&
        Call->getArg(1) == Child)
      Found =
          Store{Store::Assign, Call, placeOf(Call->getArg(0)), Call->getArg(0)};
    return isArithmetic(Call->getOperator()) ? Step::Through : Step::Stop;
  }
  if (const auto *Call = dyn_cast<CXXMemberCallExpr>(Parent)) {
    llvm::StringRef Name = methodName(Call);
    // What is detached further on loses its history there.
    if (Call->getCallee() == Child)
      return isTensor(Call->getType()) && Name != "detach" ? Step::Through
                                                           : Step::Stop;
    const Expr *Object = Call->getImplicitObjectArgument();
    bool Tensor = isTensor(Call->getObjectType());
    if (Object && (Tensor ? InPlace.contains(Name) : Appends.contains(Name)))
      Found = Store{Tensor ? Store::Assign : Store::Append, Call,
                    placeOf(Object), Object};
    return Step::Stop;
  }
  if (const auto *Call = dyn_cast<CallExpr>(Parent)) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    return Callee && Callee->getIdentifier() &&
                   Makers.contains(Callee->getName())
               ? Step::Through
               : Step::Stop;
  }
  if (isa<ReturnStmt>(Parent))
    Found = Store{Store::Return, Parent};
  return isTransparent(Parent) || isa<MemberExpr>(Parent) ? Step::Through
                                                          : Step::Stop;
}

} // namespace

std::optional<Store> storeOf(const Program &Whole, const Function &In,
                             const Expr *Value, bool ThroughLocals) {
  const Stmt *Child = Value;
  while (const Stmt *Parent = In.parent(Child)) {
    std::optional<Store> Found;
    if (through(Parent, Child, Found) == Step::Stop) {
      const auto *Declaration = dyn_cast<DeclStmt>(Parent);
      if (!Declaration || !ThroughLocals || !Declaration->isSingleDecl())
        return Found;
      const auto *Local = dyn_cast<VarDecl>(Declaration->getSingleDecl());
      for (const Use &Each : Whole.uses(Local))
        if (auto Stored = storeOf(Whole, *Each.In, Each.Node, false))
          return Stored;
      return std::nullopt;
    }
    Child = Parent;
  }
  return std::nullopt;
}

bool outlivesIteration(const Function &In, const Expr *Target,
                       const ValueDecl *Place, const Stmt *At) {
  if (const auto *Member = dyn_cast_or_null<MemberExpr>(plain(Target)))
    if (const auto *Base = dyn_cast<DeclRefExpr>(plain(Member->getBase())))
      Place = Base->getDecl();
  const auto *Variable = dyn_cast_or_null<VarDecl>(Place);
  if (!Variable)
    return isa_and_nonnull<FieldDecl>(Place);
  if (!Variable->hasLocalStorage() || Variable->getType()->isReferenceType() ||
      Variable->getType()->isPointerType())
    return true;
  const Stmt *Declared = nullptr;
  forEach(In.body(), [&](const Stmt *S) {
    if (const auto *Declaration = dyn_cast<DeclStmt>(S))
      if (llvm::is_contained(Declaration->decls(), Variable))
        Declared = S;
  });
  for (const Stmt *Up = In.parent(At); Up; Up = In.parent(Up)) {
    if (Declared && In.contains(Up, Declared))
      return false;
    if (isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt, LambdaExpr>(Up))
      return true;
  }
  return false;
}

} // namespace torchtidy::mutation
