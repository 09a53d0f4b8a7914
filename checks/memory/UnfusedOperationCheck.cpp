// Finds tensors that a loop makes only to add them, where one operation
// computes the sum without (addcmul, addcdiv, add with a factor), and
// logarithms of what softmax or sigmoid has made.
#include "memory/UnfusedOperationCheck.h"
#include "ast/Expressions.h"
#include "ast/Locations.h"
#include "ast/Walk.h"
#include "memory/UnfusedOperation.h"
#include "report/Report.h"
#include "results/ParameterCopy.h"

namespace torchtidy::checks {

using namespace model;

/// Expressions that are longer are not repeated.
static constexpr size_t MostText = 30;

/// The call that does both; "..." where what is written is long.
static std::string insteadOf(const Program &Program,
                             const UnfusedOperation &Found) {
  const auto Text = [&](const clang::Expr *E) {
    const std::string Written = Program.text(ast::stripCopies(E));
    return Written.empty() || Written.size() > MostText ? "..." : Written;
  };
  const std::string Sign = Found.IsSubtracted ? "-" : "";
  const std::string Name = Found.As == Fused::Product    ? "addcmul"
                           : Found.As == Fused::Quotient ? "addcdiv"
                                                         : "add";
  std::string Given = Text(Found.First) + ", ";
  if (Found.As == Fused::Scaled) {
    const std::string Factor = Text(Found.Second);
    const bool IsSimple =
        llvm::isa<clang::DeclRefExpr, clang::IntegerLiteral,
                  clang::FloatingLiteral>(ast::stripCopies(Found.Second));
    Given += Sign.empty() || IsSimple ? Sign + Factor : "-(" + Factor + ")";
  } else {
    Given += Text(Found.Second) + (Sign.empty() ? "" : ", -1");
  }
  if (Found.IsInPlace)
    return Text(Found.To) + "." + Name + "_(" + Given + ")";
  return "torch::" + Name + "(" + Text(Found.To) + ", " + Given + ")";
}

static Finding describe(const Program &Program, const UnfusedOperation &Found) {
  Finding Result;
  Result.Location = ast::beginLoc(Found.Product);
  Result.Range = Found.Product->getSourceRange();
  Result.Kind = Found.As == Fused::Scaled ? FindingKind::UnfusedScaling
                                          : FindingKind::UnfusedProduct;
  Result.Message =
      std::string("this makes a tensor only to ") +
      (Found.IsSubtracted ? "subtract it from" : "add it to") +
      " another, in every iteration, which costs its memory and the time to "
      "write and read it; '" +
      insteadOf(Program, Found) + "' computes the same without";
  addLoop(Result, *Found.Entry, Found.In, Found.Around);
  addCallers(Result, Found.In);
  Result.IterationSite = ast::beginLoc(Found.Sum);
  return Result;
}

static Finding describeLogarithm(const Program &Program,
                                 const UnfusedLogarithm &Found) {
  const ScaleUseEvent &Use = *Found.Use;
  const bool IsSoftmax = Found.Of == torch::Scale::Probabilities;
  const std::string Made = IsSoftmax ? "softmax()" : "sigmoid()";
  Finding Result;
  Result.Location = ast::beginLoc(Use.Site);
  Result.Range = Use.Site->getSourceRange();
  Result.Kind = FindingKind::UnfusedLogarithm;
  if (Use.Loss)
    Result.Message = torch::nameOf(*Use.Loss).str() + "() takes the logarithm";
  else
    Result.Message = "this takes the logarithm";
  Result.Message += " of what " + Made + " has made, in two passes; where " +
                    Made +
                    " rounds to zero, the logarithm is infinite, or cut off, "
                    "and so is its gradient; '" +
                    (Use.Loss    ? "binary_cross_entropy_with_logits"
                     : IsSoftmax ? "log_softmax"
                                 : "torch::log_sigmoid") +
                    "' computes both from the scores, and exactly";
  if (Found.Maker &&
      Program.sourceManager().getExpansionLineNumber(
          ast::beginLoc(Found.Maker)) !=
          Program.sourceManager().getExpansionLineNumber(Result.Location))
    addNote(Result, {ast::beginLoc(Found.Maker), Made + " is applied here",
                     NoteRole::Made});
  addCallers(Result, Use.In);
  Result.IterationSite = Result.Location;
  return Result;
}

/// It is a part of what is assigned to a copy that nobody reads: nobody needs
/// the sum.
static bool isLost(llvm::ArrayRef<LostWrite> Lost, const clang::CallExpr *Sum) {
  return llvm::any_of(Lost, [Sum](const LostWrite &Write) {
    return ast::anyStmt(
        Write.Assignment, [Sum](const clang::Stmt *S) { return S == Sum; },
        ast::Lambdas::Skip);
  });
}

static std::vector<UnfusedOperation> neededOperations(Program &Program) {
  std::vector<UnfusedOperation> Result = unfusedOperations(Program);
  const std::vector<LostWrite> Lost = lostWrites(Program);
  llvm::erase_if(Result, [&](const UnfusedOperation &Found) {
    return isLost(Lost, Found.Sum);
  });
  return Result;
}

std::vector<Finding> UnfusedOperationCheck::analyze(Program &Program) {
  std::vector<Finding> Result = findingsOf(Program, neededOperations, describe);
  llvm::append_range(Result,
                     findingsOf(Program, unfusedLogarithms, describeLogarithm));
  return Result;
}

} // namespace torchtidy::checks
