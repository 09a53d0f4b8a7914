// Finds expressions in loops that go on in new memory with what they have just
// made, where no graph needs it.
#include "memory/InplaceOpportunityCheck.h"
#include "ast/Expressions.h"
#include "ast/Names.h"
#include "memory/InplaceOpportunity.h"
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

/// Those that are written as members get another name.
static std::vector<clang::FixItHint> fixesOf(const Program &Program,
                                             const InplaceOpportunity &Found) {
  std::vector<clang::FixItHint> Result;
  if (isBoundToReference(Found))
    return Result;
  const clang::ASTContext &Context = Program.context();
  for (const ChainEvent *Link : Found.Links) {
    const auto *Call = llvm::dyn_cast<clang::CXXMemberCallExpr>(Link->Site);
    const auto *Member = Call ? llvm::dyn_cast<clang::MemberExpr>(
                                    Call->getCallee()->IgnoreParenImpCasts())
                              : nullptr;
    if (!Member || Member->getMemberLoc().isMacroID())
      continue;
    const clang::SourceLocation End = clang::Lexer::getLocForEndOfToken(
        Member->getMemberLoc(), 0, Context.getSourceManager(),
        Context.getLangOpts());
    if (End.isValid())
      Result.push_back(clang::FixItHint::CreateInsertion(End, "_"));
  }
  return Result;
}

static Finding describe(const Program &Program,
                        const InplaceOpportunity &Found) {
  Finding Result;
  Result.Location = Found.Last->Site->getExprLoc();
  Result.Range = Found.Last->Site->getSourceRange();
  const size_t Count = Found.Links.size();
  Result.Message =
      "in every iteration this goes on in new memory with what was just made, "
      "and no graph needs that: " +
      std::to_string(Count) + (Count == 1 ? " tensor" : " tensors") +
      " too many, which large ones cost the time to get their memory, too; go "
      "on in place: " +
      namesOf(Found);
  addLoop(Result, *Found.Entry, Found.Last->In, Found.Around);
  addCallers(Result, Found.Last->In);
  Result.Fixes = fixesOf(Program, Found);
  Result.IterationSite = Found.Last->Site->getBeginLoc();
  return Result;
}

std::vector<Finding> InplaceOpportunityCheck::analyze(Program &Program) {
  return findingsOf(Program, inplaceOpportunities, describe);
}

} // namespace torchtidy::checks
