// Changes that wrap an expression into a call, move one to its end, or take an
// argument out.
#include "ast/Expressions.h"
#include "ast/Locations.h"
#include "ast/Names.h"
#include "model/icfg/Supergraph.h"
#include "report/Edit.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"

using namespace clang;

namespace torchtidy::model {

static bool isWritten(SourceRange Range) {
  return Range.isValid() && Range.getBegin().isFileID() &&
         Range.getEnd().isFileID();
}

static SourceLocation endOf(const ASTContext &Context, SourceLocation Last) {
  return Lexer::getLocForEndOfToken(Last, 0, Context.getSourceManager(),
                                    Context.getLangOpts());
}

static std::string text(const ASTContext &Context, SourceRange Range) {
  return Lexer::getSourceText(CharSourceRange::getTokenRange(Range),
                              Context.getSourceManager(), Context.getLangOpts())
      .str();
}

namespace {

/// What asks for a gradient, and the characters of it.
struct Wish {
  CharSourceRange Written;
  std::string Call;
};

} // namespace

static void collectWishes(const ASTContext &Context, const Stmt *S,
                          const Stmt *Parent, std::vector<Wish> &Wishes) {
  if (!S)
    return;
  const auto *Call = dyn_cast<CallExpr>(S);
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  const StringRef Name = ast::nameOf(Callee);
  if (const auto *Member = dyn_cast_or_null<CXXMemberCallExpr>(Call);
      Member && (Name == "requires_grad_" || Name == "set_requires_grad" ||
                 (Name == "requires_grad" && Call->getNumArgs() > 0))) {
    // x.requires_grad_(), TensorOptions().requires_grad(true)
    const Expr *Object = Member->getImplicitObjectArgument();
    const auto *Access = dyn_cast<MemberExpr>(Member->getCallee());
    if (Access)
      Wishes.push_back(
          {CharSourceRange::getCharRange(endOf(Context, Object->getEndLoc()),
                                         endOf(Context, ast::endLoc(Member))),
           ".requires_grad_(" +
               (Name != "requires_grad" && Call->getNumArgs() > 0 &&
                        !isa<CXXDefaultArgExpr>(Call->getArg(0))
                    ? text(Context, Call->getArg(0)->getSourceRange())
                    : "") +
               ")"});
  } else if (Name == "requires_grad" && !isa<CXXMemberCallExpr>(S)) {
    // zeros({2}, torch::requires_grad())
    const auto *Maker = dyn_cast_or_null<CallExpr>(Parent);
    const Expr *Before = nullptr;
    if (Maker)
      for (const Expr *Argument : Maker->arguments()) {
        if (ast::strip(ast::stripCopies(Argument)) == S)
          break;
        Before = Argument;
      }
    if (Before && Maker->getNumArgs() > 1)
      Wishes.push_back(
          {CharSourceRange::getCharRange(endOf(Context, Before->getEndLoc()),
                                         endOf(Context, ast::endLoc(Call))),
           ".requires_grad_()"});
    else
      Wishes.push_back({CharSourceRange(), ""});
  }
  const Stmt *Around = isa<CallExpr>(S) ? S : Parent;
  for (const Stmt *Child : S->children())
    collectWishes(Context, Child, Around, Wishes);
}

std::vector<FixItHint> requireGradLast(const ASTContext &Context,
                                       const Expr *E) {
  if (!E || !torch::isTensor(E->getType()))
    return {};
  std::vector<Wish> Wishes;
  collectWishes(Context, E, nullptr, Wishes);
  if (Wishes.size() != 1 || !isWritten(Wishes[0].Written.getAsRange()))
    return {};
  std::vector<FixItHint> Result = appendCall(Context, E, Wishes[0].Call);
  if (!Result.empty())
    Result.push_back(FixItHint::CreateRemoval(Wishes[0].Written));
  return Result;
}

std::vector<FixItHint> assignByCall(const ASTContext &Context,
                                    const flow::ControlFlow &Flow,
                                    const Expr *Assignment, StringRef Call) {
  const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Assignment);
  // Its value is not used.
  if (!Operator || Operator->getOperator() != OO_Equal ||
      Flow.statement(Assignment)->getSourceRange() !=
          Assignment->getSourceRange())
    return {};
  const Expr *From = ast::stripCopies(Operator->getArg(1));
  if (!torch::isTensor(From->getType()) ||
      !isWritten(Operator->getSourceRange()) || isa<InitListExpr>(From))
    return {};
  const SourceLocation End = endOf(Context, Operator->getEndLoc());
  return {FixItHint::CreateReplacement(
              CharSourceRange::getCharRange(
                  endOf(Context, Operator->getArg(0)->getEndLoc()),
                  Operator->getArg(1)->getBeginLoc()),
              ("." + Call + "(").str()),
          FixItHint::CreateInsertion(End, ")")};
}

std::vector<FixItHint> passThrough(const ASTContext &Context, const Expr *E,
                                   StringRef Call, QualType Type) {
  if (!E || !isWritten(E->getSourceRange()))
    return {};
  E = E->IgnoreImplicit();
  while (const auto *Copy = dyn_cast<CXXConstructExpr>(E)) {
    if (Copy->getNumArgs() != 1 || isa<CXXTemporaryObjectExpr>(Copy) ||
        !Copy->getConstructor()->isCopyOrMoveConstructor())
      break;
    E = Copy->getArg(0)->IgnoreImplicit();
  }
  const auto *Construct = dyn_cast<CXXConstructExpr>(E);
  if (Construct && !isa<CXXTemporaryObjectExpr>(Construct)) {
    // fc(2, 3), fc{2, 3}: the member is made of what stands in between.
    const SourceRange Range = Construct->getParenOrBraceRange();
    if (!isWritten(Range))
      return {};
    PrintingPolicy Policy(Context.getLangOpts());
    const std::string Name = Type.getAsString(Policy);
    return {FixItHint::CreateInsertion(endOf(Context, Range.getBegin()),
                                       (Call + Name + "(").str()),
            FixItHint::CreateInsertion(Range.getEnd(), "))")};
  }
  const bool IsMade =
      isa<CXXTemporaryObjectExpr, CXXFunctionalCastExpr>(E) ||
      (isa<CallExpr>(E) &&
       (torch::isTensor(E->getType()) ||
        torch::kindOf(E->getType()) == torch::TypeKind::ModuleHolder)) ||
      (isa<CallExpr>(E) &&
       torch::stdName(cast<CallExpr>(E)->getDirectCallee()) == "make_shared");
  if (!IsMade)
    return {};
  return {FixItHint::CreateInsertion(E->getBeginLoc(), Call),
          FixItHint::CreateInsertion(endOf(Context, E->getEndLoc()), ")")};
}

/// {}, written only to get to the argument behind it: backward({}, true).
static bool isFiller(const ASTContext &Context, const Expr *E) {
  bool Invalid = false;
  const SourceLocation Before = E->getBeginLoc().getLocWithOffset(-1);
  const char *Character =
      Context.getSourceManager().getCharacterData(Before, &Invalid);
  return !Invalid && *Character == '(' &&
         text(Context, E->getSourceRange()) == "{}";
}

std::vector<FixItHint> dropArgument(const ASTContext &Context,
                                    const CallExpr *Call, const Expr *Argument,
                                    StringRef Instead) {
  llvm::SmallVector<const Expr *, 4> Written;
  for (const Expr *Each : Call->arguments())
    if (!isa<CXXDefaultArgExpr>(Each))
      Written.push_back(Each);
  const auto It = llvm::find(Written, Argument);
  if (It == Written.end() || llvm::any_of(Written, [](const Expr *Each) {
        return !isWritten(Each->getSourceRange());
      }))
    return {};
  // Those behind it keep their places.
  if (Argument != Written.back())
    return {FixItHint::CreateReplacement(Argument->getSourceRange(), Instead)};
  SourceLocation Begin = Argument->getBeginLoc();
  if (It != Written.begin()) {
    const Expr *Before = *std::prev(It);
    Begin = Written.size() == 2 && isFiller(Context, Before)
                ? Before->getBeginLoc()
                : endOf(Context, Before->getEndLoc());
  }
  return {FixItHint::CreateRemoval(CharSourceRange::getCharRange(
      Begin, endOf(Context, Argument->getEndLoc())))};
}

} // namespace torchtidy::model
