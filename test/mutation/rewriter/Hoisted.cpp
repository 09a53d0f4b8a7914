#include "Calls.h"
#include "Operators.h"

using namespace clang;

namespace torchtidy::mutation {

namespace {

/// "allocation", "transfer" of something that has a name, or "" of another
/// initializer.
llvm::StringRef kindOf(const Expr *Init) {
  bool Moved = false;
  const Expr *E = plain(Init);
  while (E) {
    if (factory(E))
      return "allocation";
    const auto *Call = dyn_cast<CXXMemberCallExpr>(E);
    llvm::StringRef Name = methodName(Call);
    if (!Call || !isTensor(Call->getObjectType()))
      break;
    if (Name != "to" && Name != "cuda" && Name != "cpu" && Name != "toType")
      break;
    Moved = true;
    E = plain(Call->getImplicitObjectArgument());
  }
  return Moved && placeOf(E) ? "transfer" : "";
}

bool isRebound(const Use &Each) {
  const Stmt *Child = Each.Node;
  const Stmt *Up = Each.In->parent(Child);
  while (isa_and_nonnull<CastExpr, ParenExpr>(Up))
    Up = Each.In->parent(Child = Up);
  if (const auto *Call = dyn_cast_or_null<CXXOperatorCallExpr>(Up)) {
    switch (Call->getOperator()) {
    case OO_Equal:
    case OO_PlusEqual:
    case OO_MinusEqual:
    case OO_StarEqual:
    case OO_SlashEqual:
      return Call->getArg(0) == Child;
    default:
      return false;
    }
  }
  const auto *Call = dyn_cast_or_null<CallExpr>(Up);
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  return Callee && Callee->getIdentifier() && Callee->getName() == "tie";
}

const Stmt *bodyOf(const Stmt *Loop) {
  if (const auto *For = dyn_cast<ForStmt>(Loop))
    return For->getBody();
  if (const auto *While = dyn_cast<WhileStmt>(Loop))
    return While->getBody();
  if (const auto *Do = dyn_cast<DoStmt>(Loop))
    return Do->getBody();
  return cast<CXXForRangeStmt>(Loop)->getBody();
}

/// The body of the innermost loop that all uses lie in and the declaration does
/// not.
const CompoundStmt *loopOfUses(const Program &Whole, const Function &In,
                               const DeclStmt *Declaration,
                               const VarDecl *Variable) {
  const auto &Uses = Whole.uses(Variable);
  if (Uses.empty())
    return nullptr;
  for (const Stmt *Loop : In.loops(Uses.front().Node)) {
    const auto *Body = dyn_cast<CompoundStmt>(bodyOf(Loop));
    if (!Body || In.contains(Loop, Declaration))
      return nullptr;
    if (llvm::all_of(Uses, [&](const Use &Each) {
          return Each.In == &In && In.contains(Body, Each.Node);
        }))
      return Body;
  }
  return nullptr;
}

} // namespace

void moveIntoLoops(const Program &Whole, std::vector<Mutation> &Out) {
  for (const Function &In : Whole.functions())
    forEach(In.body(), [&](const Stmt *S) {
      const auto *Declaration = dyn_cast<DeclStmt>(S);
      if (!Declaration || !Declaration->isSingleDecl() ||
          !isa_and_nonnull<CompoundStmt>(In.parent(S)))
        return;
      const auto *Variable = dyn_cast<VarDecl>(Declaration->getSingleDecl());
      if (!Variable || !isTensor(Variable->getType()) || !Variable->getInit())
        return;
      llvm::StringRef Kind = kindOf(Variable->getInit());
      if (Kind.empty() || llvm::any_of(Whole.uses(Variable), isRebound))
        return;
      const CompoundStmt *Body = loopOfUses(Whole, In, Declaration, Variable);
      if (!Body)
        return;
      auto Removed = Whole.removal(In, Declaration);
      auto Text = Whole.statement(Declaration);
      auto Brace = Whole.piece(SourceRange(Body->getLBracLoc()));
      if (!Removed || !Text || !Brace)
        return;
      std::string Indent = Whole.indentation(*Brace) + "  ";
      bool Allocates = Kind == "allocation";
      Out.push_back(
          {Kind.str(),
           {Allocates ? "torch-allocation-in-loop" : "torch-repeated-transfer"},
           *Text,
           Allocates ? "made in every iteration" : "copied in every iteration",
           {*Removed,
            {{Brace->File, Brace->end(), 0},
             "\n" + Indent + Whole.text(*Text),
             true}},
           {}});
    });
}

} // namespace torchtidy::mutation
