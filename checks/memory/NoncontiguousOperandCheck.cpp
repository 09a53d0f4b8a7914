// Finds tensors that are copied into another layout for nothing, or again and
// again, and layouts that meet in every iteration of a loop.
#include "memory/NoncontiguousOperandCheck.h"
#include "memory/NoncontiguousOperand.h"
#include "report/Edit.h"
#include "report/Report.h"

namespace torchtidy::checks {

using namespace model;

static std::string message(const Program &Program,
                           const NoncontiguousOperand &Found) {
  const std::string Text = "'" + Program.text(Found.Operand) + "'";
  switch (Found.How) {
  case NoncontiguousOperand::Needless:
    return "'contiguous' copies " + Text +
           " only for elementwise work, which is as fast on the transposed "
           "tensor; leave it out";
  case NoncontiguousOperand::Again:
    return Text + " does not change in this loop, but 'contiguous' copies it "
                  "in every iteration; copy it once before the loop";
  case NoncontiguousOperand::Mixed:
    return Text +
           " is transposed and meets, in every iteration, a tensor that is "
           "not, which is slow; it does not change in this loop: "
           "make it contiguous once before";
  }
  return "";
}

static Finding describe(const Program &Program,
                        const NoncontiguousOperand &Found) {
  Finding Result;
  Result.Location = Found.How == NoncontiguousOperand::Mixed
                        ? Found.Operand->getBeginLoc()
                        : Found.At->Site->getExprLoc();
  Result.Range = Found.At->Site->getSourceRange();
  Result.Kind = Found.How == NoncontiguousOperand::Needless
                    ? FindingKind::ContiguousNeedless
                : Found.How == NoncontiguousOperand::Again
                    ? FindingKind::ContiguousAgain
                    : FindingKind::LayoutsMixed;
  Result.Message = message(Program, Found);
  if (Found.Around)
    addLoop(Result, *Found.Entry, Found.At->In, Found.Around);
  if (Found.CanMove)
    Result.Fixes =
        moveBeforeLoop(Program.context(), *Found.At->In->Flow, Found.Variable,
                       Found.Entry->loopStatement(*Found.Around), "");
  Result.IterationSite = Found.At->Site->getBeginLoc();
  return Result;
}

std::vector<Finding> NoncontiguousOperandCheck::analyze(Program &Program) {
  return findingsOf(Program, noncontiguousOperands, describe);
}

} // namespace torchtidy::checks
