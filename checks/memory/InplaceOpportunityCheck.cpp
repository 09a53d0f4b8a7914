// Finds expressions in loops that go on in new memory with what they have just
// made, where no graph needs it.
#include "memory/InplaceOpportunityCheck.h"
#include "ast/Expressions.h"
#include "ast/Names.h"
#include "memory/InplaceOpportunity.h"
#include "queries/memory/ReboundTensor.h"
#include "report/Report.h"
#include "torch/Api.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/StringExtras.h"

namespace torchtidy::checks {

using namespace model;

/// "'add_', 'tanh_'".
static std::string namesOf(const InplaceOpportunity &Found) {
  std::string Result;
  llvm::ListSeparator Comma;
  for (const ChainEvent *Link : Found.Links) {
    const auto *Call = llvm::cast<clang::CallExpr>(Link->Site);
    Result += std::string(llvm::StringRef(Comma)) + "'" +
              torch::classify(Call).Op->Name.str() + "_'";
  }
  return Result;
}

/// A reference to what an operation in place returns would lead to a temporary.
static bool isBoundToReference(const InplaceOpportunity &Found) {
  const flow::ControlFlow *Flow = Found.Last->In->Flow;
  const clang::Stmt *Parent = Flow ? Flow->parent(Found.Last->Site) : nullptr;
  while (llvm::isa_and_nonnull<clang::ParenExpr, clang::ImplicitCastExpr,
                               clang::FullExpr, clang::MaterializeTemporaryExpr,
                               clang::CXXBindTemporaryExpr>(Parent))
    Parent = Flow->parent(Parent);
  if (const auto *Declared = llvm::dyn_cast_or_null<clang::DeclStmt>(Parent))
    return llvm::any_of(Declared->decls(), [](const clang::Decl *D) {
      const auto *V = llvm::dyn_cast<clang::VarDecl>(D);
      return !V || V->getType()->isReferenceType();
    });
  return !Parent || llvm::isa<clang::ReturnStmt>(Parent);
}

/// x.clamp(0, 1) becomes x.clamp_(0, 1); nothing for what is no member, or is
/// written in a macro.
static std::optional<clang::FixItHint> renamed(const Program &Program,
                                               const clang::Expr *Operation) {
  const auto *Call = llvm::dyn_cast<clang::CXXMemberCallExpr>(Operation);
  const auto *Member = Call ? llvm::dyn_cast<clang::MemberExpr>(
                                  Call->getCallee()->IgnoreParenImpCasts())
                            : nullptr;
  if (!Member || !Member->getMemberLoc().isFileID())
    return std::nullopt;
  const clang::ASTContext &Context = Program.context();
  const clang::SourceLocation End = clang::Lexer::getLocForEndOfToken(
      Member->getMemberLoc(), 0, Context.getSourceManager(),
      Context.getLangOpts());
  if (End.isInvalid())
    return std::nullopt;
  return clang::FixItHint::CreateInsertion(End, "_");
}

/// Those that are written as members get another name.
static std::vector<clang::FixItHint> fixesOf(const Program &Program,
                                             const InplaceOpportunity &Found) {
  std::vector<clang::FixItHint> Result;
  if (isBoundToReference(Found))
    return Result;
  for (const ChainEvent *Link : Found.Links)
    if (const auto Name = renamed(Program, Link->Site))
      Result.push_back(*Name);
  return Result;
}

static Finding describe(const Program &Program,
                        const InplaceOpportunity &Found) {
  Finding Result;
  Result.Kind = FindingKind::InplaceOpportunity;
  Result.Location = Found.Last->Site->getExprLoc();
  Result.Range = Found.Last->Site->getSourceRange();
  const size_t Count = Found.Links.size();
  Result.Message =
      "in every iteration this computes from a tensor that nothing needs "
      "afterwards, and takes new memory for the result: " +
      std::to_string(Count) + (Count == 1 ? " tensor" : " tensors") +
      " too many (memory, and time where they are large); compute in place: " +
      namesOf(Found);
  addLoop(Result, *Found.Entry, Found.Last->In, Found.Around);
  addCallers(Result, Found.Last->In);
  Result.Fixes = fixesOf(Program, Found);
  Result.IterationSite = Found.Last->Site->getBeginLoc();
  return Result;
}

/// x = x.clamp(0, 1) becomes x.clamp_(0, 1), x = x / s becomes x /= s. Nothing
/// where the assignment is part of an expression.
static std::vector<clang::FixItHint> fixesOf(const Program &Program,
                                             const ReboundTensor &Found) {
  const auto *Assign = llvm::cast<clang::CXXOperatorCallExpr>(Found.Keep->Site);
  const flow::ControlFlow *Flow = Found.Keep->In->Flow;
  const clang::Stmt *Parent = Flow ? Flow->parent(Assign) : nullptr;
  while (llvm::isa_and_nonnull<clang::FullExpr>(Parent))
    Parent = Flow->parent(Parent);
  const clang::Expr *Operand = ast::firstOperand(Found.Operation);
  const clang::SourceLocation Begin = Assign->getBeginLoc();
  if (!llvm::isa_and_nonnull<clang::CompoundStmt, clang::ForStmt,
                             clang::CXXForRangeStmt, clang::WhileStmt>(
          Parent) ||
      !Begin.isFileID() || !Operand->getEndLoc().isFileID() ||
      // x = (x * 2)
      Assign->getArg(1)->getBeginLoc() != Operand->getBeginLoc())
    return {};
  if (const auto Name = renamed(Program, Found.Operation))
    return {
        clang::FixItHint::CreateRemoval(clang::CharSourceRange::getCharRange(
            Begin, Operand->getBeginLoc())),
        *Name};
  const auto *Computes =
      llvm::dyn_cast<clang::CXXOperatorCallExpr>(Found.Operation);
  if (!Computes || Computes->getNumArgs() != 2 ||
      !Computes->getOperatorLoc().isFileID())
    return {};
  const llvm::StringRef Operator =
      clang::getOperatorSpelling(Computes->getOperator());
  return {clang::FixItHint::CreateReplacement(
      clang::CharSourceRange::getTokenRange(Assign->getOperatorLoc(),
                                            Computes->getOperatorLoc()),
      (Operator + "=").str())};
}

static Finding describe(const Program &Program, const ReboundTensor &Found) {
  Finding Result;
  Result.Kind = FindingKind::InplaceRebound;
  Result.Location = Found.Operation->getExprLoc();
  Result.Range = Found.Operation->getSourceRange();
  const torch::Operation &Op = *torch::classify(Found.Operation).Op;
  Result.Message =
      "in every iteration this takes new memory for a result that replaces '" +
      plainName(Program.context(), ast::firstOperand(Found.Operation)) +
      "', which nothing else needs as it was: 1 tensor too many (memory, and "
      "time where it is large); compute in place: '" +
      Op.Name.str() + "_'";
  addLoop(Result, *Found.Entry, Found.Keep->In, Found.Around);
  addCallers(Result, Found.Keep->In);
  Result.Fixes = fixesOf(Program, Found);
  Result.IterationSite = Found.Keep->Site->getBeginLoc();
  return Result;
}

std::vector<Finding> InplaceOpportunityCheck::analyze(Program &Program) {
  std::vector<Finding> Result =
      findingsOf(Program, inplaceOpportunities, describe);
  llvm::append_range(Result, findingsOf(Program, reboundTensors, describe));
  return Result;
}

} // namespace torchtidy::checks
