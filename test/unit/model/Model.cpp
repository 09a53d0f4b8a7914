#include "model/Model.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;
using namespace torchtidy::model;

namespace torchtidy::test {

static const char Before[] =
    "void observe(const char *Name, const torch::Tensor &Observed);\n";

std::vector<std::string> Entry::sitesOf(Events All) const {
  llvm::stable_sort(All, [&](const Event *A, const Event *B) {
    return Program.sourceManager().isBeforeInTranslationUnit(
        A->Site->getBeginLoc(), B->Site->getBeginLoc());
  });
  std::vector<std::string> Result;
  for (const Event *E : All)
    Result.push_back(Program.text(E->Site));
  return Result;
}

const Event *Entry::onlyAt(const Events &All, llvm::StringRef Site) const {
  const Event *Found = nullptr;
  std::string Seen;
  for (const Event *E : All) {
    const std::string Text = Program.text(E->Site);
    Seen += "\n  " + Text;
    if (Text != Site)
      continue;
    EXPECT_FALSE(Found) << "two events at " << Site.str();
    Found = E;
  }
  EXPECT_TRUE(Found) << "no event at " << Site.str() << "; there are:" << Seen;
  return Found;
}

const EscapeEvent &Entry::observation(llvm::StringRef Name) const {
  static const EscapeEvent None(nullptr);
  const EscapeEvent *Found = nullptr;
  for (const EscapeEvent *E : all<EscapeEvent>()) {
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

const Value &Entry::observed(llvm::StringRef Name) const {
  return observation(Name).Given;
}

uint8_t Entry::gradMode(llvm::StringRef Name) const {
  return observation(Name).GradMode;
}

std::string Entry::placeOf(const PlaceSet &Places) const {
  if (Places.size() != 1) {
    ADD_FAILURE() << Places.size() << " places";
    return "";
  }
  return Execution.places().name(Places.front());
}

Model::Model(llvm::StringRef Code, const ParseOptions &Options)
    : Unit(parseTorch(Before + Code.str(), Options)) {
  if (Unit)
    Program = std::make_unique<model::Program>(Unit->getASTContext());
}

bool Model::hasEntry(llvm::StringRef Root) {
  for (const auto &Execution : Program->executions())
    if (Execution->root().Function->getQualifiedNameAsString() == Root)
      return true;
  return false;
}

Entry Model::entry(llvm::StringRef Root) {
  const Execution *Found = nullptr;
  for (const auto &Execution : Program->executions())
    if (Execution->root().Function->getQualifiedNameAsString() == Root) {
      EXPECT_FALSE(Found) << "two entries have the name " << Root.str();
      Found = Execution.get();
    }
  if (!Found) {
    ADD_FAILURE() << "no entry has the name " << Root.str();
    // There is one in every source of these tests.
    Found = Program->executions().front().get();
  }
  return Entry(*Program, *Found);
}

} // namespace torchtidy::test
