#include "Operators.h"

using namespace clang;

namespace torchtidy::mutation {

namespace {

/// A hook or a callback, and the variable that holds it.
struct Callback {
  const LambdaExpr *Lambda = nullptr;
  const VarDecl *Holder = nullptr;
  /// Where it is given away.
  const Stmt *At = nullptr;
};

/// The lambda in E, through conversions to std::function and its like.
const LambdaExpr *lambdaIn(const Expr *E) {
  const LambdaExpr *Found = nullptr;
  forEach(E, [&](const Stmt *S) {
    if (const auto *Lambda = dyn_cast<LambdaExpr>(S); Lambda && !Found)
      Found = Lambda;
  });
  return Found;
}

/// The variable that E begins with: `trainer` of `trainer->callbacks.done`.
const VarDecl *rootOf(const Expr *E) {
  while ((E = plain(E))) {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      return dyn_cast<VarDecl>(Ref->getDecl());
    if (const auto *Member = dyn_cast<MemberExpr>(E))
      E = Member->getBase();
    else if (const auto *Call = dyn_cast<CXXOperatorCallExpr>(E);
             Call && Call->getOperator() == OO_Arrow)
      E = Call->getArg(0);
    else
      return nullptr;
  }
  return nullptr;
}

bool isShared(QualType Type) {
  const CXXRecordDecl *Class = Type.getNonReferenceType()->getAsCXXRecordDecl();
  return Class && Class->getIdentifier() && Class->getName() == "shared_ptr";
}

/// x.register_hook(lambda): the tensor holds it.
Callback hook(const Stmt *S) {
  const auto *Call = dyn_cast<CXXMemberCallExpr>(S);
  if (methodName(Call) != "register_hook" || Call->getNumArgs() != 1)
    return {};
  const auto *Tensor =
      dyn_cast<DeclRefExpr>(plain(Call->getImplicitObjectArgument()));
  return {lambdaIn(Call->getArg(0)),
          Tensor ? dyn_cast<VarDecl>(Tensor->getDecl()) : nullptr, Call};
}

/// object->callback = lambda: what the object's handle leads to holds it.
Callback stored(const Stmt *S) {
  const auto *Assign = dyn_cast<CXXOperatorCallExpr>(S);
  if (!Assign || Assign->getOperator() != OO_Equal)
    return {};
  const auto *Member = dyn_cast<MemberExpr>(plain(Assign->getArg(0)));
  const VarDecl *Holder = Member ? rootOf(Member->getBase()) : nullptr;
  return {lambdaIn(Assign->getArg(1)),
          Holder && isShared(Holder->getType()) ? Holder : nullptr, Assign};
}

} // namespace

void captureHolders(const Program &Whole, std::vector<Mutation> &Out) {
  for (const Function &In : Whole.functions())
    forEach(In.body(), [&](const Stmt *S) {
      Callback Found = hook(S);
      if (!Found.Lambda)
        Found = stored(S);
      // What main() has lives as long as the program does.
      if (!Found.Lambda || !Found.Holder || In.Decl->isMain() ||
          Found.Holder->hasGlobalStorage())
        return;
      auto List = Whole.piece(Found.Lambda->getIntroducerRange());
      auto Point = Whole.piece(Found.At->getSourceRange());
      if (!List || !Point)
        return;
      const bool IsEmpty = Found.Lambda->capture_size() == 0 &&
                           Found.Lambda->getCaptureDefault() == LCD_None;
      const std::string Name = Found.Holder->getNameAsString();
      Out.push_back(
          {"capture",
           {"torch-reference-cycle"},
           *Point,
           "a callback keeps alive what holds it",
           {Edit{{List->File, List->end() - 1, 0},
                 std::string(IsEmpty ? "" : ", ") + "held = " + Name}},
           {*Point}});
    });
}

} // namespace torchtidy::mutation
