// Finds assignments to copies of tensor handles, which leave the tensor that
// was meant as it is, and references into the vector that parameters() returns.
#include "results/ParameterCopyCheck.h"
#include "ast/Expressions.h"
#include "ast/Locations.h"
#include "ast/Walk.h"
#include "model/syntax/Variables.h"
#include "report/Report.h"
#include "results/ParameterCopy.h"
#include "torch/Api.h"
#include "torch/Modules.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Lex/Lexer.h"

namespace torchtidy::checks {

using namespace model;

static std::string quoted(const Program &Program, const clang::Expr *E) {
  const std::string Text = Program.text(E->IgnoreImplicit());
  return Text.empty() || Text.size() > 60 ? "" : "'" + Text + "'";
}

/// What is assigned has the sizes of the tensor that is meant, as far as the
/// code shows: it is computed from that, or is a module's. Where sizes differ
/// copy_() throws, and the assignment does not.
static bool fits(const clang::CXXOperatorCallExpr *Assign) {
  const std::optional<Named> To = namedVariable(Assign->getArg(0));
  return ast::anyStmt(
      Assign->getArg(1),
      [&](const clang::Stmt *S) {
        if (const auto *Ref = llvm::dyn_cast<clang::DeclRefExpr>(S))
          return To && To->Variable && Ref->getDecl() == To->Variable;
        const auto *Call = llvm::dyn_cast<clang::CallExpr>(S);
        return Call && torch::returnsRegistered(Call->getDirectCallee());
      },
      ast::Lambdas::Skip);
}

/// x = y becomes x.detach().copy_(y).
static std::vector<clang::FixItHint> copyInto(const Program &Program,
                                              const clang::CallExpr *Assign) {
  const auto *Operator = llvm::cast<clang::CXXOperatorCallExpr>(Assign);
  const clang::SourceManager &SM = Program.sourceManager();
  const clang::LangOptions &Language = Program.context().getLangOpts();
  const clang::Expr *From = Operator->getArg(1);
  const clang::SourceLocation End =
      clang::Lexer::getLocForEndOfToken(Operator->getEndLoc(), 0, SM, Language);
  const clang::SourceLocation To = clang::Lexer::getLocForEndOfToken(
      Operator->getArg(0)->getEndLoc(), 0, SM, Language);
  if (!To.isFileID() || !From->getBeginLoc().isFileID() || !End.isFileID() ||
      !fits(Operator))
    return {};
  return {clang::FixItHint::CreateReplacement(
              clang::CharSourceRange::getCharRange(To, From->getBeginLoc()),
              ".detach().copy_("),
          clang::FixItHint::CreateInsertion(End, ")")};
}

/// x = x.to(device): a module's tensor is not moved by writing into it.
static bool isMoved(const clang::CallExpr *Assign) {
  const auto *Operator = llvm::cast<clang::CXXOperatorCallExpr>(Assign);
  const auto *From =
      llvm::dyn_cast<clang::CallExpr>(ast::stripCopies(Operator->getArg(1)));
  const torch::Operation *Op = From ? torch::classify(From).Op : nullptr;
  return Op && (Op->has(torch::operation::ChangesDevice) ||
                Op->has(torch::operation::ChangesDtype));
}

/// How a module's tensor gets what was assigned to a handle.
static std::string mend(const clang::CallExpr *Assign) {
  return isMoved(Assign)
             ? "the module keeps its tensor: call 'to()' of the module"
             : "the module keeps its tensor: write into it with '.copy_(...)' "
               "under 'torch::NoGradGuard', or with '.detach().copy_(...)'";
}

/// for (auto t : ...) becomes for (auto &t : ...).
static std::vector<clang::FixItHint> byReference(const LostWrite &Found) {
  const clang::VarDecl *V = Found.Loop->getLoopVariable();
  const clang::QualType Element =
      Found.Loop->getLoopVariable()->getInit()
          ? Found.Loop->getLoopVariable()->getInit()->getType()
          : clang::QualType();
  const auto Range = Found.Loop->getRangeInit();
  if (llvm::isa<clang::DecompositionDecl>(V) || !V->getLocation().isFileID() ||
      Element.isNull() || Element.isConstQualified() ||
      V->getType().isConstQualified() || !Range->isLValue() ||
      Range->getType().isConstQualified())
    return {};
  return {clang::FixItHint::CreateInsertion(V->getLocation(), "&")};
}

static Finding describe(const Program &Program, const LostWrite &Found) {
  Finding Result;
  const auto *Assign = llvm::cast<clang::CXXOperatorCallExpr>(Found.Assignment);
  Result.Location = Assign->getBeginLoc();
  Result.Range = Assign->getSourceRange();
  Result.Cause = "lost-write";
  const std::string Name =
      Found.Variable ? "'" + Found.Variable->getNameAsString() + "'" : "";
  const std::string Call = Found.Call ? quoted(Program, Found.Call) : "";
  const std::string Returned =
      "the temporary that " + (Call.empty() ? "the call" : Call) + " returns";
  switch (Found.Of) {
  case LostWrite::Temporary:
    Result.Kind = FindingKind::WriteIntoTemporary;
    Result.Message =
        (Found.IsContainer ? "this replaces "
                           : "this replaces an element of ") +
        Returned + ", which is lost with it; " +
        (Found.IsContainer
             ? "the module keeps its tensors: go through both lists and write "
               "into each with '.copy_(...)' under 'torch::NoGradGuard'"
         : Found.IsOfModule ? mend(Assign)
                            : "write into the element with '.copy_(...)', or "
                              "keep what the call "
                              "returns in a variable");
    if (Found.IsOfModule && !Found.IsContainer && !isMoved(Assign))
      Result.Fixes = copyInto(Program, Assign);
    break;
  case LostWrite::TemporaryRange: {
    const bool IsCopy =
        !Found.Loop->getLoopVariable()->getType()->isReferenceType();
    Result.Kind = IsCopy ? FindingKind::WriteIntoLoopCopy
                         : FindingKind::WriteIntoTemporaryRange;
    Result.Message =
        Name +
        (IsCopy ? " is a copy of a handle in what " +
                      (Call.empty() ? "the call" : Call) + " returns"
                : " is an element of " + Returned) +
        ": assigning to it is lost with the loop; " +
        (Found.IsOfModule ? mend(Assign)
                          : "write into the element with '.copy_(...)'");
    if (Found.IsOfModule && !isMoved(Assign))
      Result.Fixes = copyInto(Program, Assign);
    break;
  }
  case LostWrite::Element: {
    Result.Kind = FindingKind::WriteIntoLoopCopy;
    const std::string Range = quoted(Program, Found.Loop->getRangeInit());
    Result.Message = Name +
                     " is a copy of the element: assigning to it leaves " +
                     (Range.empty() ? "the container" : Range) +
                     " as it is; take it by reference";
    Result.Fixes = byReference(Found);
    break;
  }
  case LostWrite::Parameter:
    Result.Kind = FindingKind::WriteIntoParameter;
    if (Found.Overwrites) {
      Result.Message = "what is assigned to " + Name +
                       " here is overwritten before anything reads it, so "
                       "that it is lost; was another variable meant?";
      Result.Notes.push_back({ast::beginLoc(Found.Overwrites),
                              "it gets another value here", NoteRole::Write});
      break;
    }
    Result.Message =
        "the parameter " + Name +
        " is a copy of what the caller has: assigning to it changes nothing "
        "there, and it is not read again; take it by reference, or return it";
    Result.Notes.push_back({Found.Variable->getLocation(),
                            "passed by value here", NoteRole::Declared});
    break;
  case LostWrite::Copy: {
    Result.Kind = FindingKind::WriteIntoCopy;
    const std::string Source = quoted(Program, Found.Source);
    const std::string Instead =
        llvm::isa<clang::BindingDecl>(Found.Variable) ? "bind it by reference"
        : Found.IsContainer ? "write into the elements with '.copy_(...)'"
        : Source.empty()    ? "assign to that itself"
                            : "assign to " + Source + " itself";
    Result.Message =
        (Found.IsContainer ? "assigning to the elements of "
                           : "assigning to ") +
        Name +
        (Found.IsContainer ? " gives these handles other tensors and leaves "
                           : " gives this handle another tensor and leaves ") +
        (Source.empty() ? "what it was copied from" : Source) +
        " as it is, and " + Name + " is not read again; " + Instead;
    Result.Notes.push_back({Found.Variable->getLocation(),
                            "the copy is made here", NoteRole::Declared});
    break;
  }
  }
  return Result;
}

/// auto &w = net->parameters()[0] becomes a copy, which shares its data.
static std::vector<clang::FixItHint> byValue(const KeptElement &Found) {
  if (!Found.Variable || !Found.Variable->getTypeSourceInfo())
    return {};
  const clang::TypeLoc Type = Found.Variable->getTypeSourceInfo()->getTypeLoc();
  const auto Reference = Type.getAs<clang::ReferenceTypeLoc>();
  if (!Reference || !Reference.getSigilLoc().isFileID())
    return {};
  return {clang::FixItHint::CreateRemoval(Reference.getSigilLoc())};
}

static Finding describe(const Program &Program, const KeptElement &Found) {
  Finding Result;
  const std::string Call = quoted(Program, Found.Call);
  const std::string Returned =
      "the vector that " + (Call.empty() ? "this call" : Call) + " returns";
  Result.Cause = "lost-write";
  Result.Kind = FindingKind::ReferenceIntoTemporary;
  if (Found.Variable) {
    Result.Location = Found.Variable->getLocation();
    Result.Range = Found.Variable->getSourceRange();
    Result.Message = "'" + Found.Variable->getNameAsString() + "' leads into " +
                     Returned +
                     ", which ends with this statement, so it dangles; " +
                     (Found.Variable->getType()->isReferenceType()
                          ? "copy the tensor, the copy shares its data"
                          : "keep the vector in a variable");
    Result.Fixes = byValue(Found);
  } else {
    Result.Location = Found.Taken->getBeginLoc();
    Result.Range = Found.Taken->getSourceRange();
    Result.Message =
        "this pointer leads into " + Returned +
        ", which ends with the loop, so it dangles; keep the tensor "
        "itself, or the vector in a variable";
  }
  return Result;
}

std::vector<Finding> ParameterCopyCheck::analyze(Program &Program) {
  std::vector<Finding> Findings = findingsOf(Program, lostWrites, describe);
  llvm::append_range(Findings, findingsOf(Program, keptElements, describe));
  return Findings;
}

} // namespace torchtidy::checks
