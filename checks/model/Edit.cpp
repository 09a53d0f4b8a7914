#include "model/Edit.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"

using namespace clang;

namespace torchtidy::model {

static bool isWritten(SourceLocation Location) {
  return Location.isValid() && Location.isFileID();
}

/// The white space at the start of the line of a location.
static std::string indentation(const SourceManager &SM,
                               SourceLocation Location) {
  auto [File, Offset] = SM.getDecomposedLoc(Location);
  StringRef Buffer = SM.getBufferData(File);
  size_t Start = Buffer.rfind('\n', Offset == 0 ? 0 : Offset - 1);
  Start = Start == StringRef::npos || Offset == 0 ? 0 : Start + 1;
  size_t End = Start;
  while (End < Buffer.size() && (Buffer[End] == ' ' || Buffer[End] == '\t'))
    ++End;
  return Buffer.slice(Start, End).str();
}

std::vector<FixItHint> insertAfter(const ASTContext &Context,
                                   const flow::ControlFlow &Flow,
                                   const Stmt *S, StringRef Code) {
  const SourceManager &SM = Context.getSourceManager();
  const Stmt *Statement = Flow.statement(S);
  if (!Statement || !isWritten(Statement->getBeginLoc()) ||
      !isWritten(Statement->getEndLoc()) || isa<ReturnStmt>(Statement))
    return {};
  SourceLocation End;
  if (isa<Expr>(Statement))
    End = Lexer::findLocationAfterToken(Statement->getEndLoc(), tok::semi, SM,
                                        Context.getLangOpts(), false);
  else if (isa<DeclStmt>(Statement))
    End = Lexer::getLocForEndOfToken(Statement->getEndLoc(), 0, SM,
                                     Context.getLangOpts());
  if (!isWritten(End))
    return {};
  const std::string Indent = indentation(SM, Statement->getBeginLoc());
  const Stmt *Parent = Flow.parent(Statement);
  const bool IsInBlock =
      isa_and_nonnull<CompoundStmt, SwitchCase, LabelStmt>(Parent);
  // Several statements come on lines of their own.
  std::string Lines;
  for (char C : Code)
    Lines += C != '\n' ? std::string(1, C) : IsInBlock ? "\n" + Indent : " ";
  if (IsInBlock)
    return {FixItHint::CreateInsertion(End, "\n" + Indent + Lines)};
  return {
      FixItHint::CreateInsertion(Statement->getBeginLoc(), "{ "),
      FixItHint::CreateInsertion(End, " " + Lines + " }"),
  };
}

std::vector<FixItHint> insertFirst(const ASTContext &Context,
                                   const CompoundStmt *Block, StringRef Code) {
  if (!Block || !isWritten(Block->getLBracLoc()))
    return {};
  const SourceManager &SM = Context.getSourceManager();
  SourceLocation After = Block->getLBracLoc().getLocWithOffset(1);
  std::string Indent;
  if (!Block->body_empty() && isWritten(Block->body_front()->getBeginLoc()) &&
      SM.getSpellingLineNumber(Block->body_front()->getBeginLoc()) !=
          SM.getSpellingLineNumber(Block->getLBracLoc()))
    Indent = indentation(SM, Block->body_front()->getBeginLoc());
  else
    return {FixItHint::CreateInsertion(After, (" " + Code).str())};
  return {FixItHint::CreateInsertion(After, ("\n" + Indent + Code).str())};
}

std::vector<FixItHint> appendCall(const ASTContext &Context, const Expr *E,
                                  StringRef Call) {
  if (!E || !torch::isTensor(E->getType()))
    return {};
  E = E->IgnoreImplicit();
  // What is written, not the copy that is made of it.
  while (const auto *Construct = dyn_cast<CXXConstructExpr>(E)) {
    if (Construct->getNumArgs() != 1 ||
        isa<CXXTemporaryObjectExpr>(Construct) ||
        Construct->isListInitialization())
      break;
    E = Construct->getArg(0)->IgnoreImplicit();
  }
  if (!isWritten(E->getBeginLoc()) || !isWritten(E->getEndLoc()))
    return {};
  SourceLocation End = Lexer::getLocForEndOfToken(
      E->getEndLoc(), 0, Context.getSourceManager(), Context.getLangOpts());
  if (!isWritten(End))
    return {};
  const bool IsPostfix =
      isa<DeclRefExpr, MemberExpr, CXXMemberCallExpr, ParenExpr,
          ArraySubscriptExpr>(E) ||
      (isa<CallExpr>(E) && !isa<CXXOperatorCallExpr>(E));
  const auto *Operator = dyn_cast<CXXOperatorCallExpr>(E);
  const bool IsPostfixOperator =
      Operator && (Operator->getOperator() == OO_Subscript ||
                   Operator->getOperator() == OO_Call);
  if (IsPostfix || IsPostfixOperator)
    return {FixItHint::CreateInsertion(End, Call)};
  return {FixItHint::CreateInsertion(E->getBeginLoc(), "("),
          FixItHint::CreateInsertion(End, (")" + Call).str())};
}

} // namespace torchtidy::model
