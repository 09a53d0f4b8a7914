#include "report/Report.h"
#include "ast/Expressions.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Lex/Lexer.h"

using namespace clang;

namespace torchtidy::model {

/// As it is written; as Clang would write it where a macro wrote it.
static std::string sourceText(const ASTContext &Context, const Expr *E) {
  E = E->IgnoreImplicit();
  CharSourceRange File = Lexer::makeFileCharRange(
      CharSourceRange::getTokenRange(E->getSourceRange()),
      Context.getSourceManager(), Context.getLangOpts());
  std::string Result;
  if (File.isValid())
    return Lexer::getSourceText(File, Context.getSourceManager(),
                                Context.getLangOpts())
        .str();
  llvm::raw_string_ostream Out(Result);
  E->printPretty(Out, nullptr, PrintingPolicy(Context.getLangOpts()));
  return Result;
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
  std::string Text = sourceText(Context, Base);
  return Text.empty() ? "" : Text + (IsArrow ? "->" : ".");
}

std::string objectName(const ASTContext &Context, const Expr *Call) {
  std::string Prefix = memberPrefix(Context, Call);
  llvm::StringRef Name = Prefix;
  if (!Name.consume_back("->"))
    Name.consume_back(".");
  if (Name.consume_front("(*"))
    Name.consume_back(")");
  if (!Name.empty())
    return Name.str();
  if (const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call))
    if (Operator->getNumArgs() > 0)
      return sourceText(Context, Operator->getArg(0));
  return "";
}

/// A member as its class knows it.
static std::string withoutThis(StringRef Name) {
  Name.consume_front("this->");
  return Name.str();
}

std::string targetName(const ASTContext &Context, const Expr *Store) {
  const Expr *Target = nullptr;
  if (const auto *Binary = dyn_cast<BinaryOperator>(Store))
    Target = Binary->getLHS();
  else if (const auto *Call = dyn_cast<CallExpr>(Store))
    Target = ast::objectOf(Call);
  // The container of an element.
  while (Target) {
    Target = ast::strip(Target);
    if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(Target)) {
      Target = Subscript->getBase();
      continue;
    }
    const auto *Call = dyn_cast<CallExpr>(Target);
    if (!Call || !ast::objectOf(Call))
      break;
    Target = ast::objectOf(Call);
  }
  if (!Target || isa<CXXConstructExpr, CallExpr>(Target))
    return "";
  return withoutThis(sourceText(Context, Target));
}

std::string plainName(const ASTContext &Context, const Expr *E) {
  E = ast::strip(E);
  if (!isa<DeclRefExpr, MemberExpr>(E))
    return "";
  return withoutThis(sourceText(Context, E));
}

std::string calleeText(const Program &Program, const Expr *Call) {
  const Expr *Callee = cast<CallExpr>(Call)->getCallee()->IgnoreParenImpCasts();
  if (const auto *Member = dyn_cast<MemberExpr>(Callee))
    return Member->getMemberNameInfo().getAsString();
  if (const auto *Member = dyn_cast<CXXDependentScopeMemberExpr>(Callee))
    return Member->getMember().getAsString();
  // A macro's call has no text of its own.
  return sourceText(Program.context(), Callee);
}

const Expr *storedInto(const StoreEvent &Store) {
  if (Store.Target)
    return Store.Target;
  if (const auto *Binary = dyn_cast<BinaryOperator>(Store.Site))
    return Binary->getLHS();
  // h.copy_(next)
  if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Store.Site))
    return Member->getImplicitObjectArgument();
  const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Store.Site);
  return Operator && Operator->getNumArgs() == 2 ? Operator->getArg(0)
                                                 : nullptr;
}

std::string storedName(const ASTContext &Context, const StoreEvent &Store) {
  if (!Store.Target)
    return targetName(Context, Store.Site);
  return withoutThis(sourceText(Context, Store.Target));
}

bool isNamedTensor(const Expr *E) {
  return isa<DeclRefExpr, MemberExpr>(ast::strip(E)) &&
         torch::isTensor(E->getType());
}

std::string detachStatement(const ASTContext &Context,
                            const StoreEvent &Store) {
  const Expr *Into = storedInto(Store);
  if (!Into || !isa<DeclRefExpr, MemberExpr>(ast::strip(Into)) ||
      Into->getBeginLoc().isMacroID())
    return "";
  const std::string Name = sourceText(Context, Into);
  if (torch::isTensor(Into->getType()))
    return Name + " = " + Name + ".detach();";
  const llvm::SmallVector<QualType, 4> Types =
      torch::tupleTypes(Into->getType());
  if (Types.empty() || !llvm::all_of(Types, torch::isTensor))
    return "";
  const CXXRecordDecl *Record = torch::recordOf(Into->getType());
  const std::string Class = Record->getNameAsString();
  std::string Parts;
  for (unsigned I = 0; I < Types.size(); ++I)
    Parts += (I ? ", " : "") + ("std::get<" + std::to_string(I) + ">(" + Name) +
             ").detach()";
  if (Class == "array")
    return Name + " = {" + Parts + "};";
  return Name + " = std::make_" + Class + "(" + Parts + ");";
}

void addLoop(Finding &Result, const Execution &Entry, const Frame *In,
             const flow::Loop *L) {
  const Stmt *Statement = L ? Entry.loopStatement(*L) : nullptr;
  if (!Statement)
    return;
  Result.Loop = Statement->getSourceRange();
  const char *Message = "called in every iteration of this loop";
  NoteRole Role = NoteRole::Loop;
  if (isa<Expr>(Statement)) {
    Message = "called again and again from here";
    Role = NoteRole::Caller;
  } else if (In->Flow &&
             In->Flow->isInside(Statement, In->Function->getBody())) {
    Message = "in every iteration of this loop";
  }
  Result.Notes.push_back({Statement->getBeginLoc(), Message, Role});
}

void addEndOfMemory(Finding &Result, const Stmt *Site, const VarDecl *Owner) {
  if (Site)
    Result.Notes.push_back(
        {Site->getBeginLoc(), "the memory ends here", NoteRole::MemoryEnds});
  else if (Owner)
    Result.Notes.push_back(
        {Owner->getLocation(), "it is declared here", NoteRole::Declared});
}

void addCallers(Finding &Result, const Frame *In) {
  for (const Frame *F = In; F && F->Site && F->Caller; F = F->Caller)
    Result.Notes.push_back(
        {F->Site->getBeginLoc(), "called from here", NoteRole::Caller});
}

void addNote(Finding &Result, Note New) {
  const bool IsKnown = Result.Location == New.Location ||
                       llvm::any_of(Result.Notes, [&](const Note &Known) {
                         return Known.Location == New.Location;
                       });
  if (!IsKnown)
    Result.Notes.push_back(std::move(New));
}

void addUnlessKnown(std::vector<Finding> &Findings, Finding New) {
  const bool IsKnown = llvm::any_of(Findings, [&](const Finding &Known) {
    return Known.Check == New.Check && Known.Location == New.Location;
  });
  if (!IsKnown)
    Findings.push_back(std::move(New));
}

} // namespace torchtidy::model
