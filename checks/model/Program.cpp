#include "model/Program.h"
#include "clang/Lex/Lexer.h"
#include <cstdlib>

using namespace clang;

namespace torchtidy::model {

Program::Program(ASTContext &Context) : Context(Context) {}

Code &Program::code() {
  if (!User)
    User = std::make_unique<Code>(Context);
  return *User;
}

llvm::ArrayRef<std::unique_ptr<Execution>> Program::executions() {
  if (IsMade)
    return Executions;
  IsMade = true;
  (void)code();
  std::set<const FunctionDecl *> Covered;
  auto Run = [&](const FunctionDecl *Root) {
    if (!User->mentionsTorch(Root))
      return;
    if (!User->controlFlow(Root)) {
      LeftOut = true;
      return;
    }
    auto Way = std::make_unique<Execution>(*User, Root);
    Covered.insert(Way->graph().covered().begin(),
                   Way->graph().covered().end());
    // For people who debug the model.
    if (std::getenv("TORCH_TIDY_PRINT_EVENTS"))
      Way->print(llvm::errs());
    if (Way->isComplete())
      Executions.push_back(std::move(Way));
    else
      LeftOut = true;
  };
  for (const FunctionDecl *Root : User->calls().roots())
    Run(Root);
  // Recursions that nothing enters, callbacks that are stored, what a bound
  // left out.
  for (const FunctionDecl *F : User->functions().all())
    if (!Covered.count(F))
      Run(F);
  return Executions;
}

std::vector<const Execution *> Program::executionsBesideTests() {
  std::vector<const Execution *> Result;
  for (const auto &Way : executions())
    if (!code().tests().contains(Way->root().Function))
      Result.push_back(Way.get());
  return Result;
}

std::string Program::text(const Expr *E) const {
  if (!E)
    return "";
  const SourceManager &SM = sourceManager();
  CharSourceRange Range = Lexer::makeFileCharRange(
      CharSourceRange::getTokenRange(E->getSourceRange()), SM,
      Context.getLangOpts());
  if (Range.isInvalid())
    return "";
  std::string Result;
  for (char C : Lexer::getSourceText(Range, SM, Context.getLangOpts())) {
    const bool IsSpace = C == ' ' || C == '\n' || C == '\t' || C == '\r';
    if (!IsSpace)
      Result += C;
    else if (!Result.empty() && Result.back() != ' ')
      Result += ' ';
  }
  return Result;
}

} // namespace torchtidy::model
