#include "Operators.h"
#include "Order.h"

using namespace clang;

namespace torchtidy::mutation {

namespace {

/// `net->eval()`, `net->train()`.
bool isMode(const Stmt *S, llvm::StringRef Name) {
  const auto *Call = dyn_cast<CXXMemberCallExpr>(S);
  return methodName(Call) == Name && isModule(Call->getObjectType());
}

/// Whether the program has a layer to which the mode matters.
bool dependsOnMode(const Program &Whole) {
  for (const auto &[Name, Text] : Whole.files())
    for (const char *Layer : {"Dropout", "BatchNorm", "RReLU"})
      if (Text.find(Layer) != std::string::npos)
        return true;
  return false;
}

bool isGradGuard(const DeclStmt *S) {
  const auto *Variable =
      S->isSingleDecl() ? dyn_cast<VarDecl>(S->getSingleDecl()) : nullptr;
  return Variable && derivesFrom(Variable->getType(), "c10::NoGradGuard");
}

} // namespace

void removeTrain(const Program &Whole, std::vector<Mutation> &Out) {
  std::vector<Piece> Evals;
  for (const Function &In : Whole.functions())
    forEach(In.body(), [&](const Stmt *S) {
      if (isMode(S, "eval") && isInTraining(Whole, In, S))
        if (auto Where = Whole.piece(S->getSourceRange()))
          Evals.push_back(*Where);
    });
  if (Evals.empty() || !dependsOnMode(Whole))
    return;
  for (const Function &In : Whole.functions())
    forEach(In.body(), [&](const Stmt *S) {
      if (!isMode(S, "train") || !isInTraining(Whole, In, S) ||
          !cast<CXXMemberCallExpr>(S)->getNumArgs())
        return;
      // train(false) is eval(), and train(flag) depends.
      if (!isa<CXXDefaultArgExpr>(cast<CXXMemberCallExpr>(S)->getArg(0)))
        return;
      auto Removed = Whole.removal(In, fullStatement(In, S));
      auto Point = Whole.piece(S->getSourceRange());
      if (Removed && Point)
        Out.push_back({"train",
                       {"torch-eval-mode-not-restored"},
                       *Point,
                       "training goes on in eval mode",
                       {*Removed},
                       Evals});
    });
}

void outliveScopes(const Program &Whole, std::vector<Mutation> &Out) {
  for (const Function &In : Whole.functions())
    forEach(In.body(), [&](const Stmt *S) {
      const auto *Declaration = dyn_cast<DeclStmt>(S);
      if (!Declaration || !isGradGuard(Declaration) ||
          !isInTraining(Whole, In, Declaration))
        return;
      auto Where = Whole.piece(Declaration->getSourceRange());
      if (!Where)
        return;
      const std::string Name =
          cast<VarDecl>(Declaration->getSingleDecl())->getNameAsString();
      Out.push_back(
          {"guard-scope",
           {"torch-grad-mode-not-restored"},
           *Where,
           "a guard outlives its scope",
           {Edit{*Where, "auto *" + Name + " = new torch::NoGradGuard;", true}},
           {}});
      Out.push_back(
          {"guard-call",
           {"torch-grad-mode-not-restored"},
           *Where,
           "grad mode is switched off and stays off",
           {Edit{*Where, "torch::GradMode::set_enabled(false);", true}},
           {}});
    });
}

} // namespace torchtidy::mutation
