// Finds tensors that an optimizer or a module is given to train though they are
// results of operations.
#include "modules/NonLeafParameterCheck.h"
#include "ast/Expressions.h"
#include "modules/NonLeafParameter.h"
#include "report/Edit.h"
#include "report/Report.h"

namespace torchtidy::checks {

using namespace model;

static std::string message(const NonLeafParameter &Found,
                           const std::string &Name) {
  const std::string Tensor = Name.empty() ? "this tensor" : "'" + Name + "'";
  // In LibTorch's words: what is looked up is what was read.
  const std::string Exception = "\"can't optimize a non-leaf Tensor\"";
  const std::string Mend =
      "; compute first, then call '.requires_grad_()' on the result";
  switch (Found.How) {
  case NonLeafParameter::Throws:
    return Tensor +
           " is the result of an operation, so it is no trainable tensor, and "
           "the optimizer throws " +
           Exception + Mend;
  case NonLeafParameter::Ignored:
    return Tensor +
           " is the result of an operation, so it is no trainable tensor (a "
           "non-leaf Tensor): it gets no gradient, and step() never changes "
           "it" +
           Mend;
  case NonLeafParameter::Registered:
    return "parameter " + (Name.empty() ? "" : Tensor + " ") +
           "is the result of an operation, so it is no trainable tensor: it "
           "gets no gradient, and an optimizer throws " +
           Exception + Mend;
  case NonLeafParameter::Rebound:
    return Tensor +
           " is bound to the result of an operation, but the optimizer "
           "goes on with the tensor that it was given, so step() no "
           "longer changes " +
           Tensor + "; write in place under 'torch::NoGradGuard'";
  }
  return "";
}

static FindingKind kind(const NonLeafParameter &Found) {
  switch (Found.How) {
  case NonLeafParameter::Throws:
    return FindingKind::NonLeafThrows;
  case NonLeafParameter::Ignored:
    return FindingKind::NonLeafIgnored;
  case NonLeafParameter::Registered:
    return FindingKind::NonLeafRegistered;
  case NonLeafParameter::Rebound:
    break;
  }
  return FindingKind::NonLeafRebound;
}

/// The expression that makes the tensor.
static const clang::Expr *definition(const clang::Expr *Tensor) {
  const clang::Expr *E = ast::stripCopies(Tensor);
  const auto *Ref = llvm::dyn_cast_or_null<clang::DeclRefExpr>(E);
  const auto *Variable =
      Ref ? llvm::dyn_cast<clang::VarDecl>(Ref->getDecl()) : nullptr;
  if (Ref)
    return Variable && Variable->hasLocalStorage() &&
                   !llvm::isa<clang::ParmVarDecl>(Variable)
               ? Variable->getInit()
               : nullptr;
  return Tensor;
}

static Finding describe(const Program &Program, const NonLeafParameter &Found) {
  const clang::ASTContext &Context = Program.context();
  const Event &Given = *Found.Given;
  Finding Result;
  const clang::Expr *At =
      Found.How == NonLeafParameter::Rebound ? Given.Site : Found.Tensor;
  Result.Location = At->getBeginLoc();
  Result.Range = At->getSourceRange();
  Result.Kind = kind(Found);
  Result.Message =
      message(Found, plainName(Context, ast::stripCopies(Found.Tensor)));
  if (Found.Made && Found.How != NonLeafParameter::Rebound)
    Result.Notes.push_back({Found.Made->Site->getBeginLoc(),
                            "the operation that makes it is here",
                            NoteRole::Made});
  if (Found.GivenBefore)
    Result.Notes.push_back({Found.GivenBefore->Site->getBeginLoc(),
                            "the optimizer is made here", NoteRole::Optimizer});
  addCallers(Result, Given.In);
  if (Found.How != NonLeafParameter::Rebound)
    Result.Fixes = requireGradLast(Context, definition(Found.Tensor));
  Result.IterationSite = Result.Location;
  return Result;
}

std::vector<Finding> NonLeafParameterCheck::analyze(Program &Program) {
  return findingsOf(Program, nonLeafParameters, describe);
}

} // namespace torchtidy::checks
