#include "queries/GradModeSwitches.h"
#include "ast/Expressions.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;

namespace torchtidy::model {

/// Of a function that is told so: a flag, or something of LibTorch.
static bool saysMode(const Expr *Given) {
  const QualType Type = Given->getType().getNonReferenceType();
  return Type->isBooleanType() || torch::mayHoldTensor(Type) ||
         torch::isModule(Type);
}

/// A function of the program whose code is not here, or is and knows LibTorch.
static bool isUnseen(const Execution &Entry, const FunctionDecl *F) {
  const SourceManager &SM = Entry.code().context().getSourceManager();
  return !SM.isInSystemHeader(F->getLocation()) &&
         (!F->hasBody() || Entry.code().mentionsTorch(F));
}

static bool mayBeGuard(const Execution &Entry, const CXXConstructorDecl *Made) {
  const CXXDestructorDecl *End = Made->getParent()->getDestructor();
  return Made->isUserProvided() && isUnseen(Entry, Made) && End &&
         End->isUserProvided() && isUnseen(Entry, End);
}

bool maySwitchGradMode(const Execution &Entry, const OpaqueEvent &E) {
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E.Site))
    return mayBeGuard(Entry, Construct->getConstructor());
  const auto *Call = dyn_cast<CallExpr>(E.Site);
  if (!Call)
    return false;
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee)
    return true;
  if (!isUnseen(Entry, Callee))
    return false;
  const Expr *Object = ast::objectOf(Call);
  return (Object && saysMode(Object)) ||
         llvm::any_of(Call->arguments(), saysMode) ||
         (!Object && Call->getNumArgs() == 0 &&
          Callee->getReturnType()->isVoidType());
}

const BackwardEvent *backwardBeside(const Execution &Entry, const Event &E) {
  for (const BackwardEvent &Backward : Entry.events<BackwardEvent>()) {
    const Value &Root = Backward.Root;
    // Unknown is allowed: whatever else goes into the root, it has a graph.
    if (Backward.GradMode != E.GradMode || !Root.mayHaveGraph() ||
        (Root.History & (history::None | history::Leaf)))
      continue;
    const bool IsRecordedHere = llvm::any_of(Root.Origins, [&](OriginId Id) {
      return Entry.origin(Id).isBuilder();
    });
    if (IsRecordedHere &&
        (Entry.comesBefore(Backward.Point, E.Point) ||
         flow::mustReach(
             Entry.points(), E.Point,
             [&](flow::Digraph::Node N) { return N == Backward.Point; },
             [](flow::Digraph::Node) { return false; })))
      return &Backward;
  }
  return nullptr;
}

} // namespace torchtidy::model
