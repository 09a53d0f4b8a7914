// Finds loops that read or write the elements of a tensor one at a time.
#include "transfer/ElementAccessInLoopCheck.h"
#include "ast/Expressions.h"
#include "ast/Locations.h"
#include "report/Report.h"
#include "transfer/ElementAccessInLoop.h"

namespace torchtidy::checks {

using namespace model;

/// "'scores'", of scores.to(torch::kCPU) as well.
static std::string subject(const clang::ASTContext &Context,
                           const clang::Expr *Tensor) {
  for (unsigned Hop = 0; Tensor && Hop < 8; ++Hop) {
    const std::string Name = plainName(Context, Tensor);
    if (!Name.empty())
      return "'" + Name + "'";
    const auto *Call = llvm::dyn_cast<clang::CallExpr>(ast::strip(Tensor));
    Tensor = Call ? ast::objectOf(Call) : nullptr;
  }
  return "a tensor";
}

static Finding describe(const Program &Program,
                        const ElementAccessInLoop &Found) {
  const clang::ASTContext &Context = Program.context();
  Finding Result;
  Result.Location = ast::beginLoc(Found.Site);
  Result.Range = Found.Site->getSourceRange();
  const std::string Of = subject(Context, Found.Tensor.E);
  switch (Found.How) {
  case ElementAccessInLoop::Reads:
    Result.Kind = FindingKind::ElementsRead;
    Result.Message =
        "elements of " + Of +
        " are read one at a time: each costs whole tensor operations" +
        (Found.IsOnHost
             ? "; read them through 'accessor<T, N>()', or compute with the "
               "whole tensor"
             : " and, on a GPU, a wait for the device; read them through "
               "'accessor<T, N>()' of one '.to(torch::kCPU)' made before the "
               "loop, or compute with the whole tensor");
    break;
  case ElementAccessInLoop::ReadsResult:
    Result.Kind = FindingKind::ElementsReduced;
    Result.Message =
        "rows of " + Of +
        " are computed with one at a time to read a number "
        "of each: every row costs whole tensor operations" +
        (Found.IsOnHost ? "" : " and, on a GPU, a wait for the device") +
        "; give the operation the dimension and run it once before the loop";
    break;
  case ElementAccessInLoop::Writes:
    Result.Kind = FindingKind::ElementsWritten;
    Result.Message =
        "elements of " + Of +
        " are written one at a time: each costs whole "
        "tensor operations; write them through 'accessor<T, N>()' of a tensor "
        "on the CPU and move that once, or use one tensor operation";
    break;
  }
  addLoop(Result, *Found.Entry, Found.In, Found.Around);
  for (const clang::CallExpr *Other : Found.AsWell)
    addNote(Result, {ast::beginLoc(Other), "and here", NoteRole::AsWell});
  Result.IterationSite = ast::beginLoc(Found.Site);
  return Result;
}

std::vector<Finding> ElementAccessInLoopCheck::analyze(Program &Program) {
  return findingsOf(
      Program, findElementAccessInLoop, describe,
      [this](const ElementAccessInLoop &Found) { return tells(Found); });
}

} // namespace torchtidy::checks
