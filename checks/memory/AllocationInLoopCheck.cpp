// Finds tensors of one shape that a loop allocates in every iteration.
#include "memory/AllocationInLoopCheck.h"
#include "model/Edit.h"
#include "model/LoopWork.h"
#include "model/Program.h"
#include "model/Report.h"
#include "llvm/ADT/StringSwitch.h"

namespace torchtidy::checks {

using namespace model;

/// What puts the content of the factory into a tensor that exists; empty where
/// there is nothing to put.
static std::string refill(const Program &Program,
                          const RepeatedAllocation &Found) {
  llvm::StringRef Name = Found.Factory;
  Name.consume_front("new_");
  Name.consume_back("_like");
  if (Name == "full") {
    const auto *Call = llvm::cast<clang::CallExpr>(Found.Allocate->Site);
    const auto Arguments = argumentsOf(Call);
    return Arguments.size() < 2 ? ""
                                : "fill_(" + Program.text(Arguments[1]) + ")";
  }
  return llvm::StringSwitch<std::string>(Name)
      .Case("zeros", "zero_()")
      .Case("ones", "fill_(1)")
      .Case("rand", "uniform_()")
      .Case("randn", "normal_()")
      .Default("");
}

static Finding describe(const Program &Program,
                        const RepeatedAllocation &Found) {
  const clang::ASTContext &Context = Program.context();
  const auto *Call = llvm::cast<clang::CallExpr>(Found.Allocate->Site);
  Finding Result;
  Result.Location = Call->getBeginLoc();
  Result.Range = Call->getSourceRange();
  const std::string Refill = Found.IsConstant ? "" : refill(Program, Found);
  const std::string Name = Found.Variable ? Found.Variable->getNameAsString()
                           : Found.AssignedTo
                               ? plainName(Context, Found.AssignedTo)
                               : "";
  const std::string Factory = "'" + calleeText(Program, Call) + "'";
  Result.Message =
      (Found.IsConstant
           ? Factory + " makes the same tensor in every iteration; create "
           : Factory + " allocates a tensor of the same shape in every "
                       "iteration; create ") +
      (Name.empty() ? "it" : "'" + Name + "'") + " once before the loop" +
      (Refill.empty() ? "" : " and refill it with '" + Refill + "'");
  addLoop(Result, *Found.Way, Found.Allocate->In, Found.Around);
  const bool CanRefill =
      Found.IsConstant || !Refill.empty() || Found.Factory.contains("empty");
  if (Found.CanMove && CanRefill)
    Result.Fixes =
        moveBeforeLoop(Context, *Found.Allocate->In->Flow, Found.Variable,
                       Found.Way->loopStatement(*Found.Around),
                       Refill.empty() ? "" : Name + "." + Refill + ";");
  Result.IterationSite = Call->getBeginLoc();
  return Result;
}

std::vector<Finding> AllocationInLoopCheck::analyze(Program &Program) {
  std::vector<Finding> Findings;
  for (const RepeatedAllocation &Found : repeatedAllocations(Program))
    addUnlessKnown(Findings, describe(Program, Found));
  return Findings;
}

} // namespace torchtidy::checks
