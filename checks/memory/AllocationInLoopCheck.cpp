// Finds tensors of one shape that a loop allocates in every iteration.
#include "memory/AllocationInLoopCheck.h"
#include "ast/Expressions.h"
#include "ast/Locations.h"
#include "memory/AllocationInLoop.h"
#include "report/Edit.h"
#include "report/Report.h"
#include "torch/Factories.h"

namespace torchtidy::checks {

using namespace model;

/// What puts the content of the factory into a tensor that exists; empty where
/// there is nothing to put.
static std::string refill(const Program &Program,
                          const RepeatedAllocation &Found) {
  if (!torch::fillsWithArgument(Found.Factory))
    return torch::refillOf(Found.Factory).str();
  const auto *Call = llvm::cast<clang::CallExpr>(Found.Allocate->Site);
  const auto Arguments = ast::argumentsOf(Call);
  return Arguments.size() < 2 ? ""
                              : "fill_(" + Program.text(Arguments[1]) + ")";
}

static Finding describe(const Program &Program,
                        const RepeatedAllocation &Found) {
  const clang::ASTContext &Context = Program.context();
  const auto *Call = llvm::cast<clang::CallExpr>(Found.Allocate->Site);
  Finding Result;
  Result.Location = ast::beginLoc(Call);
  Result.Range = Call->getSourceRange();
  const std::string Refill = Found.IsConstant ? "" : refill(Program, Found);
  const std::string Name = Found.Variable ? Found.Variable->getNameAsString()
                           : Found.AssignedTo
                               ? plainName(Context, Found.AssignedTo)
                               : "";
  const std::string Factory = "'" + calleeText(Program, Call) + "'";
  Result.Kind = Found.IsConstant ? FindingKind::AllocatesSameTensor
                                 : FindingKind::AllocatesSameShape;
  Result.Message =
      (Found.IsConstant
           ? Factory + " makes the same tensor in every iteration" +
                 (Found.IsUpload ? ", and the host waits until its numbers "
                                   "are on the device"
                                 : "") +
                 "; create "
           : Factory + " allocates a tensor of the same shape in every "
                       "iteration; create ") +
      (Name.empty() ? "it" : "'" + Name + "'") + " once before the loop" +
      (Refill.empty() ? "" : " and refill it with '" + Refill + "'");
  addLoop(Result, *Found.Entry, Found.Allocate->In, Found.Around);
  const bool CanRefill = Found.IsConstant || !Refill.empty() ||
                         torch::isUninitialized(Found.Factory);
  if (Found.CanMove && CanRefill)
    Result.Fixes =
        moveBeforeLoop(Context, *Found.Allocate->In->Flow, Found.Variable,
                       Found.Entry->loopStatement(*Found.Around),
                       Refill.empty() ? "" : Name + "." + Refill + ";");
  Result.IterationSite = ast::beginLoc(Call);
  return Result;
}

std::vector<Finding> AllocationInLoopCheck::analyze(Program &Program) {
  return findingsOf(
      Program, repeatedAllocations, describe,
      [this](const RepeatedAllocation &Found) { return tells(Found); });
}

} // namespace torchtidy::checks
