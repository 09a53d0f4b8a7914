#include "queries/paths/Uses.h"
#include "ast/Expressions.h"
#include "ast/Names.h"
#include "ast/Walk.h"
#include "flow/Words.h"
#include "torch/Gradients.h"
#include "torch/Members.h"
#include "torch/Types.h"
#include "clang/AST/ASTContext.h"
#include "clang/Lex/Lexer.h"

using namespace clang;

namespace torchtidy::model {

const Stmt *taker(const flow::ControlFlow &Flow, const Expr *E) {
  const Stmt *S = Flow.parent(E);
  while (isa_and_nonnull<ParenExpr, MaterializeTemporaryExpr, ImplicitCastExpr,
                         CXXBindTemporaryExpr>(S))
    S = Flow.parent(S);
  return S;
}

const CXXMemberCallExpr *calledOn(const flow::ControlFlow &Flow,
                                  const Expr *E) {
  const auto *Member = dyn_cast_or_null<MemberExpr>(taker(Flow, E));
  const auto *Call =
      Member ? dyn_cast_or_null<CXXMemberCallExpr>(taker(Flow, Member))
             : nullptr;
  return Call && Call->getCallee()->IgnoreParenImpCasts() == Member ? Call
                                                                    : nullptr;
}

const VarDecl *declaredWith(const flow::ControlFlow &Flow, const Expr *Call) {
  for (const Stmt *S = Flow.parent(Call); S; S = Flow.parent(S)) {
    if (const auto *Declaration = dyn_cast<DeclStmt>(S)) {
      const auto *V = Declaration->isSingleDecl()
                          ? dyn_cast<VarDecl>(Declaration->getSingleDecl())
                          : nullptr;
      return V && V->hasLocalStorage() && V->getInit() &&
                     ast::stripCopies(V->getInit()) == Call
                 ? V
                 : nullptr;
    }
    if (!isa<Expr>(S) || ast::stripCopies(cast<Expr>(S)) != Call)
      return nullptr;
  }
  return nullptr;
}

llvm::SmallVector<const DeclRefExpr *, 4>
mentionsOf(const flow::ControlFlow &Flow, const VarDecl *V) {
  llvm::SmallVector<const DeclRefExpr *, 4> Result;
  ast::forEachStmt(
      Flow.function()->getBody(),
      [&](const Stmt *S) {
        const auto *Ref = dyn_cast<DeclRefExpr>(S);
        if (Ref && Ref->getDecl() == V)
          Result.push_back(Ref);
      },
      ast::Lambdas::Enter);
  return Result;
}

/// How many times the text of the function has such a word; none where it has
/// no errors.
static size_t wordsInDoubt(const flow::ControlFlow &Flow,
                           llvm::function_ref<bool(StringRef)> Is) {
  const Decl *Function = Flow.function();
  const ASTContext &Context = Function->getASTContext();
  if (!Context.getDiagnostics().hasErrorOccurred())
    return 0;
  const StringRef Text = Lexer::getSourceText(
      Lexer::getAsCharRange(Function->getBody()->getSourceRange(),
                            Context.getSourceManager(), Context.getLangOpts()),
      Context.getSourceManager(), Context.getLangOpts());
  // The lexer reads on to a zero.
  const std::string Body = Text.str();
  size_t Result = 0;
  flow::forEachWord(Body, Context.getLangOpts(),
                    [&](StringRef Word, unsigned) { Result += Is(Word); });
  return Result;
}

bool isNamedInLostCode(const flow::ControlFlow &Flow, const VarDecl *V) {
  // It is declared there, too.
  return V->getIdentifier() &&
         wordsInDoubt(Flow, [&](StringRef Word) {
           return Word == V->getName();
         }) > mentionsOf(Flow, V).size() + !isa<ParmVarDecl>(V);
}

bool isNamedInErrors(const flow::ControlFlow &Flow, const VarDecl *V) {
  if (!V->getASTContext().getDiagnostics().hasErrorOccurred())
    return false;
  // An object is always made by something: what is written was dropped.
  const Expr *Init = V->getInit();
  const bool IsLost =
      !Init && !isa<ParmVarDecl>(V) && V->getType()->isRecordType();
  if (IsLost || (Init && Init->containsErrors()) || V->isInvalidDecl() ||
      isNamedInLostCode(Flow, V))
    return true;
  return llvm::any_of(mentionsOf(Flow, V), [&](const DeclRefExpr *Mention) {
    for (const Stmt *Around = Mention; isa_and_nonnull<Expr>(Around);
         Around = Flow.parent(Around))
      if (cast<Expr>(Around)->containsErrors())
        return true;
    return false;
  });
}

bool hasLostBackward(const flow::ControlFlow &Flow) {
  const size_t Written = wordsInDoubt(Flow, torch::isBackwardName);
  if (Written == 0)
    return false;
  size_t Known = 0;
  ast::walk(
      Flow.function()->getBody(),
      [&](const Stmt *S, llvm::ArrayRef<const Stmt *>) {
        // What is left of it is no call.
        if (isa<RecoveryExpr>(S))
          return ast::Next::Past;
        if (const auto *Member = dyn_cast<MemberExpr>(S))
          Known += torch::isBackwardName(ast::nameOf(Member->getMemberDecl()));
        else if (const auto *Ref = dyn_cast<DeclRefExpr>(S))
          Known += torch::isBackwardName(ast::nameOf(Ref->getDecl()));
        else if (const auto *Open = dyn_cast<OverloadExpr>(S))
          Known += torch::isBackwardName(Open->getName().getAsString());
        else if (const auto *Late = dyn_cast<CXXDependentScopeMemberExpr>(S))
          Known += torch::isBackwardName(Late->getMember().getAsString());
        return ast::Next::Children;
      },
      ast::Lambdas::Enter);
  return Written > Known;
}

static const Stmt *blockOf(const flow::ControlFlow &Flow, const Stmt *S) {
  const Stmt *Statement = Flow.statement(S);
  return Statement ? Flow.parent(Statement) : nullptr;
}

bool isNextUse(const flow::ControlFlow &Flow, const VarDecl *V,
               const CXXMemberCallExpr *Call) {
  const auto Mentions = mentionsOf(Flow, V);
  if (Mentions.empty() || !V->getInit() || isNamedInLostCode(Flow, V) ||
      !isa_and_nonnull<CompoundStmt>(blockOf(Flow, Call)) ||
      blockOf(Flow, V->getInit()) != blockOf(Flow, Call))
    return false;
  const Expr *Object = ast::strip(Call->getImplicitObjectArgument());
  if (Mentions.size() == 1)
    return Mentions.front() == Object;
  // v = v.to(device), v = v.to(device) * gain
  const auto *Assign = dyn_cast_or_null<CXXOperatorCallExpr>(
      ast::stripCopies(dyn_cast_or_null<Expr>(Flow.statement(Call))));
  if (!Assign || Assign->getOperator() != OO_Equal)
    return false;
  const Expr *To = ast::strip(Assign->getArg(0));
  const auto First = llvm::ArrayRef(Mentions).take_front(2);
  return llvm::is_contained(First, To) && llvm::is_contained(First, Object) &&
         llvm::none_of(llvm::ArrayRef(Mentions).drop_front(2),
                       [&](const DeclRefExpr *Other) {
                         return Flow.isInside(Other, Assign);
                       });
}

std::optional<Chained> chainedTo(const flow::ControlFlow &Flow,
                                 const CXXMemberCallExpr *Call) {
  Chained Result;
  Result.Source = ast::stripCopies(Call->getImplicitObjectArgument());
  const auto *Ref = dyn_cast<DeclRefExpr>(Result.Source);
  if (!Ref)
    return Result;
  Result.Variable = dyn_cast<VarDecl>(Ref->getDecl());
  if (!Result.Variable || !isNextUse(Flow, Result.Variable, Call))
    return std::nullopt;
  Result.Source = ast::stripCopies(Result.Variable->getInit());
  return Result;
}

static std::optional<Use> useOf(const flow::ControlFlow &Flow, const Expr *E) {
  if (const CXXMemberCallExpr *Member = calledOn(Flow, E))
    return Use{Member, E, true};
  const auto *Call = dyn_cast_or_null<CallExpr>(taker(Flow, E));
  if (!Call)
    return std::nullopt;
  const Expr *Object = ast::objectOf(Call);
  if (Object && ast::strip(Object) == E)
    return Use{Call, E, true};
  for (const Expr *Argument : ast::argumentsOf(Call))
    if (ast::strip(Argument) == E)
      return Use{Call, E, false};
  return std::nullopt;
}

static bool isInLambda(const flow::ControlFlow &Flow, const Stmt *S) {
  for (; S; S = Flow.parent(S))
    if (isa<LambdaExpr>(S))
      return true;
  return false;
}

std::optional<llvm::SmallVector<Use, 4>> usesOf(const flow::ControlFlow &Flow,
                                                const Expr *Made) {
  if (const std::optional<Use> Direct = useOf(Flow, Made))
    return llvm::SmallVector<Use, 4>{*Direct};
  const VarDecl *V = declaredWith(Flow, Made);
  if (!V || isNamedInLostCode(Flow, V))
    return std::nullopt;
  llvm::SmallVector<Use, 4> Result;
  for (const DeclRefExpr *Ref : mentionsOf(Flow, V)) {
    const std::optional<Use> Each = useOf(Flow, Ref);
    if (!Each || isInLambda(Flow, Ref))
      return std::nullopt;
    Result.push_back(*Each);
  }
  return Result;
}

bool asksForShape(const Use &U) {
  const FunctionDecl *Callee = U.Call->getDirectCallee();
  return U.IsObject && Callee && torch::isLibTorch(Callee) &&
         (torch::saysShape(Callee) || torch::saysElementType(Callee));
}

} // namespace torchtidy::model
