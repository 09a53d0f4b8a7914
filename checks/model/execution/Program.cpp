#include "model/execution/Program.h"
#include "clang/Lex/Lexer.h"
#include <cstdlib>

using namespace clang;

namespace torchtidy::model {

/// How deep calls are followed where all of them are too much. A root method
/// brings all that its constructors do: the same with fewer calls is far
/// smaller.
static constexpr unsigned LesserDepths[] = {Supergraph::MaxDepth / 2, 1};

/// A graph that is differentiated has more forward passes behind it, or needs
/// more of what they have saved, than is told apart.
static bool hasManyPasses(const Execution &Entry) {
  return llvm::any_of(
      Entry.events<BackwardEvent>(), [](const BackwardEvent &Backward) {
        return Backward.Root.isFull() || Backward.Root.mayNeedMore();
      });
}

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
  unsigned long Left = MaxWork;
  auto Solve = [&](const FunctionDecl *Root, unsigned Depth) {
    auto Entry = std::make_unique<Execution>(*User, Root, false, Depth);
    Left -= std::min(Left, Entry->work());
    // For people who debug the model.
    if (std::getenv("TORCH_TIDY_PRINT_EVENTS"))
      Entry->print(llvm::errs());
    return Entry;
  };
  auto Run = [&](const FunctionDecl *Root) {
    if (!User->mentionsTorch(Root))
      return;
    Covered.insert(Root);
    if (!User->controlFlow(Root) || !Left) {
      Shortfalls.push_back({Root, Shortfall::All});
      return;
    }
    auto Entry = Solve(Root, Supergraph::MaxDepth);
    if (!Entry->isComplete()) {
      for (unsigned Depth : LesserDepths) {
        const bool HasCalls = Entry->graph().frames().size() > 1;
        if (Entry->isComplete() || !HasCalls)
          break;
        Entry = Solve(Root, Depth);
      }
      const bool IsDone = Entry->isComplete();
      Shortfalls.push_back({Root, IsDone ? Shortfall::Calls : Shortfall::All});
      if (!IsDone)
        return;
    } else if (hasManyPasses(*Entry)) {
      Shortfalls.push_back({Root, Shortfall::Passes});
    }
    Covered.insert(Entry->graph().covered().begin(),
                   Entry->graph().covered().end());
    Executions.push_back(std::move(Entry));
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

std::vector<const Execution *> Program::executionsThatCost() {
  std::vector<const Execution *> Result;
  for (const auto &Entry : executions())
    if (const FunctionDecl *Root = Entry->root().Function;
        !code().tests().contains(Root) && !code().unreached().contains(Root))
      Result.push_back(Entry.get());
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
