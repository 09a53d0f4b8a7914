#include "model/Report.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Lex/Lexer.h"

using namespace clang;

namespace torchtidy::model {

static std::string sourceText(const ASTContext &Context, SourceRange Range) {
  CharSourceRange File = Lexer::makeFileCharRange(
      CharSourceRange::getTokenRange(Range), Context.getSourceManager(),
      Context.getLangOpts());
  if (File.isInvalid())
    return "";
  return Lexer::getSourceText(File, Context.getSourceManager(),
                              Context.getLangOpts())
      .str();
}

std::string memberPrefix(const ASTContext &Context, const Expr *Call) {
  const auto *Member = dyn_cast<CXXMemberCallExpr>(Call);
  const auto *Callee =
      Member ? dyn_cast<MemberExpr>(Member->getCallee()->IgnoreParens())
             : nullptr;
  if (!Callee)
    return "";
  if (Callee->isImplicitAccess())
    return "";
  const Expr *Base = Callee->getBase();
  bool IsArrow = Callee->isArrow();
  // p->step() of a smart pointer or a holder is written by its operator.
  if (const auto *Operator =
          dyn_cast<CXXOperatorCallExpr>(Base->IgnoreImplicit()))
    if (Operator->getOperator() == OO_Arrow) {
      Base = Operator->getArg(0);
      IsArrow = true;
    }
  std::string Text = sourceText(Context, Base->getSourceRange());
  return Text.empty() ? "" : Text + (IsArrow ? "->" : ".");
}

std::string objectName(const ASTContext &Context, const Expr *Call) {
  std::string Prefix = memberPrefix(Context, Call);
  llvm::StringRef Name = Prefix;
  if (!Name.consume_back("->"))
    Name.consume_back(".");
  if (!Name.empty())
    return Name.str();
  if (const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call))
    if (Operator->getNumArgs() > 0)
      return sourceText(Context, Operator->getArg(0)->getSourceRange());
  return "";
}

void addLoop(Finding &Result, const Execution &Way, const flow::Loop *L) {
  const Stmt *Statement = L ? Way.loopStatement(*L) : nullptr;
  if (!Statement)
    return;
  Result.Loop = Statement->getSourceRange();
  const bool IsCall = isa<Expr>(Statement);
  Result.Notes.push_back({Statement->getBeginLoc(),
                          IsCall ? "called in every iteration from here"
                                 : "in every iteration of this loop"});
}

void addCallers(Finding &Result, const Frame *In) {
  for (const Frame *F = In; F && F->Site && F->Caller; F = F->Caller)
    Result.Notes.push_back({F->Site->getBeginLoc(), "called from here"});
}

void addUnlessKnown(std::vector<Finding> &Findings, Finding New) {
  for (const Finding &Known : Findings)
    if (Known.Location == New.Location)
      return;
  Findings.push_back(std::move(New));
}

} // namespace torchtidy::model
