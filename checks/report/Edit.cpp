#include "report/Edit.h"
#include "ast/Walk.h"
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

/// Location, or the end of the comments that stand behind it on its line, where
/// nothing else does: they say something about what ends there, and a NOLINT
/// that left its line would let a finding out.
static SourceLocation afterTrailingComments(const ASTContext &Context,
                                            SourceLocation Location) {
  const SourceManager &SM = Context.getSourceManager();
  auto [File, Offset] = SM.getDecomposedLoc(Location);
  const StringRef Buffer = SM.getBufferData(File);
  const SourceLocation First = SM.getLocForStartOfFile(File);
  Lexer Raw(First, Context.getLangOpts(), Buffer.begin(),
            Buffer.begin() + Offset, Buffer.end());
  Raw.SetCommentRetentionState(true);
  unsigned Reached = Offset;
  Token Next;
  do {
    const bool IsLast = Raw.LexFromRawLexer(Next);
    // Of a lexer in mid-line the first token counts as one that begins a line.
    const unsigned At = SM.getFileOffset(Next.getLocation());
    if (IsLast || Next.is(tok::eof) || Buffer.slice(Reached, At).contains('\n'))
      return First.getLocWithOffset(Reached);
    Reached = At + Next.getLength();
  } while (Next.is(tok::comment));
  return Location;
}

/// Where a line of its own begins above a statement: before a NOLINTNEXTLINE
/// that is meant for it.
static SourceLocation aboveMarker(const SourceManager &SM,
                                  SourceLocation Location) {
  auto [File, Offset] = SM.getDecomposedLoc(Location);
  const StringRef Above =
      SM.getBufferData(File).take_front(Offset).rtrim(" \t");
  if (!Above.ends_with("\n"))
    return Location;
  const StringRef Lines = Above.drop_back();
  // From the beginning of the file where there is no newline: npos + 1 is 0.
  const StringRef Text = Lines.substr(Lines.rfind('\n') + 1).ltrim();
  if (!Text.starts_with("//") || !Text.contains("NOLINTNEXTLINE"))
    return Location;
  return SM.getLocForStartOfFile(File).getLocWithOffset(Above.size() - 1 -
                                                        Text.size());
}

/// Takes out a statement that is written from Begin to End. The line goes with
/// it, unless something else is on it.
static FixItHint removal(const SourceManager &SM, SourceLocation Begin,
                         SourceLocation End) {
  const StringRef Buffer = SM.getBufferData(SM.getFileID(Begin));
  const unsigned Start =
      SM.getFileOffset(Begin) - indentation(SM, Begin).size();
  const size_t Rest = Buffer.find_first_not_of(" \t", SM.getFileOffset(End));
  const bool IsAlone = Rest != StringRef::npos && Buffer[Rest] == '\n' &&
                       Start != 0 && Buffer[Start - 1] == '\n';
  if (!IsAlone)
    return FixItHint::CreateRemoval(CharSourceRange::getCharRange(Begin, End));
  // With the newline before it: behind a removal Clang takes one more blank,
  // which would be of the next line's indentation.
  const SourceLocation First = SM.getLocForStartOfFile(SM.getFileID(Begin));
  return FixItHint::CreateRemoval(CharSourceRange::getCharRange(
      First.getLocWithOffset(Start - 1), First.getLocWithOffset(Rest)));
}

std::vector<FixItHint> insertAfter(const ASTContext &Context,
                                   const flow::ControlFlow &Flow, const Stmt *S,
                                   StringRef Code) {
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
    return {FixItHint::CreateInsertion(afterTrailingComments(Context, End),
                                       "\n" + Indent + Lines)};
  return {
      FixItHint::CreateInsertion(Statement->getBeginLoc(), "{ "),
      FixItHint::CreateInsertion(End, " " + Lines + " }"),
  };
}

std::vector<FixItHint> insertBefore(const ASTContext &Context,
                                    const flow::ControlFlow &Flow,
                                    const Stmt *S, StringRef Code) {
  const Stmt *Statement = Flow.statement(S);
  if (!Statement || !isWritten(Statement->getBeginLoc()) ||
      !isa_and_nonnull<CompoundStmt>(Flow.parent(Statement)))
    return {};
  const std::string Indent =
      indentation(Context.getSourceManager(), Statement->getBeginLoc());
  return {FixItHint::CreateInsertion(
      aboveMarker(Context.getSourceManager(), Statement->getBeginLoc()),
      (Code + "\n" + Indent).str())};
}

bool isAlwaysEvaluated(const flow::ControlFlow &Flow, const Expr *E) {
  const Stmt *Whole = Flow.statement(E);
  const Stmt *Part = E;
  for (const Stmt *Around = Flow.parent(E); Around && Part != Whole;
       Part = Around, Around = Flow.parent(Around)) {
    const auto *Choice = dyn_cast<AbstractConditionalOperator>(Around);
    const auto *Binary = dyn_cast<BinaryOperator>(Around);
    if ((Choice && Part != Choice->getCond()) ||
        (Binary && Binary->isLogicalOp() && Part == Binary->getRHS()) ||
        isa<LambdaExpr>(Around))
      return false;
  }
  return true;
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
  return {FixItHint::CreateInsertion(afterTrailingComments(Context, After),
                                     ("\n" + Indent + Code).str())};
}

std::vector<FixItHint> putIntoBlock(const ASTContext &Context,
                                    const flow::ControlFlow &Flow,
                                    const Stmt *S, StringRef Code) {
  const SourceManager &SM = Context.getSourceManager();
  const Stmt *Statement = Flow.statement(S);
  // Of a condition, or of what a loop counts, no statement is made.
  if (!isa_and_nonnull<Expr>(Statement) ||
      !isWritten(Statement->getBeginLoc()) ||
      !isWritten(Statement->getEndLoc()))
    return {};
  const SourceLocation End = Lexer::findLocationAfterToken(
      Statement->getEndLoc(), tok::semi, SM, Context.getLangOpts(), false);
  if (!isWritten(End))
    return {};
  const bool IsInBlock = isa_and_nonnull<CompoundStmt, SwitchCase, LabelStmt>(
      Flow.parent(Statement));
  const SourceLocation Begin = Statement->getBeginLoc();
  const std::string Indent = indentation(SM, Begin);
  if (!IsInBlock)
    return {FixItHint::CreateInsertion(Begin, "{ " + Code.str() + " "),
            FixItHint::CreateInsertion(End, " }")};
  // A marker comes into the block as well.
  const SourceLocation Above = aboveMarker(SM, Begin);
  std::vector<FixItHint> Result = {FixItHint::CreateInsertion(
      Above, "{\n" + Indent + "  " + Code.str() + "\n" + Indent + "  ")};
  if (Above != Begin)
    Result.push_back(FixItHint::CreateInsertion(Begin, "  "));
  Result.push_back(FixItHint::CreateInsertion(
      afterTrailingComments(Context, End), "\n" + Indent + "}"));
  return Result;
}

/// The function declares another variable with the name of V.
static bool isNameTaken(const Stmt *S, const VarDecl *V) {
  auto Declares = [&](const Stmt *Part) {
    const auto *Declaration = dyn_cast<DeclStmt>(Part);
    return Declaration &&
           llvm::any_of(Declaration->decls(), [&](const Decl *D) {
             const auto *Other = dyn_cast<VarDecl>(D);
             return Other && Other != V &&
                    Other->getDeclName() == V->getDeclName();
           });
  };
  return ast::anyStmt(S, Declares, ast::Lambdas::Enter);
}

std::vector<FixItHint> moveBeforeLoop(const ASTContext &Context,
                                      const flow::ControlFlow &Flow,
                                      const VarDecl *V, const Stmt *Loop,
                                      StringRef Instead) {
  const SourceManager &SM = Context.getSourceManager();
  const Stmt *Declaration = nullptr;
  for (const Stmt *S = V->getInit(); S && !Declaration; S = Flow.parent(S))
    Declaration = dyn_cast<DeclStmt>(S);
  if (!Declaration || !isa_and_nonnull<CompoundStmt>(Flow.parent(Loop)) ||
      !isa_and_nonnull<CompoundStmt>(Flow.parent(Declaration)) ||
      !isWritten(Loop->getBeginLoc()) ||
      !isWritten(Declaration->getBeginLoc()) ||
      !isWritten(Declaration->getEndLoc()) ||
      isNameTaken(Flow.function()->getBody(), V))
    return {};
  for (const ParmVarDecl *Parameter : Flow.function()->parameters())
    if (Parameter->getDeclName() == V->getDeclName())
      return {};
  // Comments behind it go with it, and so does a marker above it.
  const SourceLocation Begin = Declaration->getBeginLoc();
  const SourceLocation Above = aboveMarker(SM, Begin);
  const SourceLocation After = afterTrailingComments(
      Context, Lexer::getLocForEndOfToken(Declaration->getEndLoc(), 0, SM,
                                          Context.getLangOpts()));
  auto Source = [&](SourceLocation From, SourceLocation To) {
    return Lexer::getSourceText(CharSourceRange::getCharRange(From, To), SM,
                                Context.getLangOpts());
  };
  const std::string Indent = indentation(SM, Loop->getBeginLoc());
  std::string Text = Source(Begin, After).str();
  if (Text.empty())
    return {};
  if (Above != Begin)
    Text = Source(Above, Begin).rtrim().str() + "\n" + Indent + Text;
  std::vector<FixItHint> Result = {FixItHint::CreateInsertion(
      aboveMarker(SM, Loop->getBeginLoc()), Text + "\n" + Indent)};
  const CharSourceRange Written = CharSourceRange::getCharRange(Above, After);
  if (!Instead.empty()) {
    Result.push_back(FixItHint::CreateReplacement(Written, Instead));
    return Result;
  }
  Result.push_back(removal(SM, Above, After));
  return Result;
}

std::vector<FixItHint> removeStatement(const ASTContext &Context,
                                       const flow::ControlFlow &Flow,
                                       const Expr *E) {
  const SourceManager &SM = Context.getSourceManager();
  // Around it may be what ends its temporaries.
  const auto *Whole = dyn_cast_or_null<Expr>(Flow.statement(E));
  if (!Whole || Whole->IgnoreImplicit() != E || !isWritten(E->getBeginLoc()) ||
      !isWritten(E->getEndLoc()) ||
      !isa_and_nonnull<CompoundStmt>(Flow.parent(Whole)))
    return {};
  const SourceLocation End = Lexer::findLocationAfterToken(
      E->getEndLoc(), tok::semi, SM, Context.getLangOpts(), false);
  if (!isWritten(End))
    return {};
  return {removal(SM, aboveMarker(SM, E->getBeginLoc()),
                  afterTrailingComments(Context, End))};
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
  const bool IsPostfix = isa<DeclRefExpr, MemberExpr, CXXMemberCallExpr,
                             ParenExpr, ArraySubscriptExpr>(E) ||
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
