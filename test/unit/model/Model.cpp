#include "model/Model.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;
using namespace torchtidy::model;

namespace torchtidy::test {

static const char Before[] =
    "void observe(const char *Name, const torch::Tensor &Observed);\n";

std::vector<const Event *> Way::all(EventKind Kind) const {
  std::vector<const Event *> Result;
  for (const Event &E : Execution.events())
    if (E.Kind == Kind)
      Result.push_back(&E);
  return Result;
}

std::vector<std::string> Way::sites(EventKind Kind) const {
  std::vector<const Event *> Events = all(Kind);
  llvm::stable_sort(Events, [&](const Event *A, const Event *B) {
    return Program.sourceManager().isBeforeInTranslationUnit(
        A->Site->getBeginLoc(), B->Site->getBeginLoc());
  });
  std::vector<std::string> Result;
  for (const Event *E : Events)
    Result.push_back(Program.text(E->Site));
  return Result;
}

const Event &Way::event(EventKind Kind, llvm::StringRef Site) const {
  static const Event None = {};
  const Event *Found = nullptr;
  std::string Seen;
  for (const Event *E : all(Kind)) {
    const std::string Text = Program.text(E->Site);
    Seen += "\n  " + Text;
    if (Text != Site)
      continue;
    EXPECT_FALSE(Found) << "two events at " << Site.str();
    Found = E;
  }
  EXPECT_TRUE(Found) << "no event at " << Site.str() << "; there are:" << Seen;
  return Found ? *Found : None;
}

const Event &Way::observation(llvm::StringRef Name) const {
  static const Event None = {};
  const Event *Found = nullptr;
  for (const Event *E : all(EventKind::Escape)) {
    const auto *Call = dyn_cast_or_null<CallExpr>(E->Site);
    const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    if (!Callee || !Callee->getIdentifier() || Callee->getName() != "observe")
      continue;
    const auto *Literal =
        dyn_cast<StringLiteral>(Call->getArg(0)->IgnoreParenImpCasts());
    if (!Literal || Literal->getString() != Name)
      continue;
    EXPECT_FALSE(Found) << Name.str() << " is reached twice";
    Found = E;
  }
  EXPECT_TRUE(Found) << Name.str() << " is not reached";
  return Found ? *Found : None;
}

const Value &Way::observed(llvm::StringRef Name) const {
  return observation(Name).Result;
}

uint8_t Way::gradMode(llvm::StringRef Name) const {
  return observation(Name).GradMode;
}

std::string Way::placeOf(const Event &E) const {
  if (E.Places.size() != 1) {
    ADD_FAILURE() << E.Places.size() << " places";
    return "";
  }
  return Execution.places().name(E.Places.front());
}

Model::Model(llvm::StringRef Code, const ParseOptions &Options)
    : Unit(parseTorch(Before + Code.str(), Options)) {
  if (Unit)
    Program = std::make_unique<model::Program>(Unit->getASTContext());
}

bool Model::hasWay(llvm::StringRef Root) {
  for (const auto &Execution : Program->executions())
    if (Execution->root().Function->getQualifiedNameAsString() == Root)
      return true;
  return false;
}

Way Model::way(llvm::StringRef Root) {
  const Execution *Found = nullptr;
  for (const auto &Execution : Program->executions())
    if (Execution->root().Function->getQualifiedNameAsString() == Root) {
      EXPECT_FALSE(Found) << "two ways begin at " << Root.str();
      Found = Execution.get();
    }
  if (!Found) {
    ADD_FAILURE() << "no way begins at " << Root.str();
    // There is one in every source of these tests.
    Found = Program->executions().front().get();
  }
  return Way(*Program, *Found);
}

} // namespace torchtidy::test
