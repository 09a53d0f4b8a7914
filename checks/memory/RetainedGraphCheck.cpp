#include "memory/RetainedGraphCheck.h"
#include "model/Edit.h"
#include "model/Program.h"
#include "model/Report.h"
#include "model/Retention.h"
#include "clang/AST/ExprCXX.h"

namespace torchtidy::checks {

using namespace model;

/// A variable or a member by its name; anything longer has none worth quoting.
static std::string shortName(const Program &Program, const clang::Expr *E) {
  if (!E)
    return "";
  const clang::Expr *Stripped = stripCopies(E);
  // std::move(loss)
  if (const auto *Call = llvm::dyn_cast<clang::CallExpr>(Stripped))
    if (Call->isCallToStdMove())
      Stripped = strip(Call->getArg(0));
  if (!llvm::isa<clang::DeclRefExpr, clang::MemberExpr>(Stripped))
    return "";
  return Program.text(Stripped);
}

static std::string message(const Retention &Kept, const std::string &Tensor,
                           const std::string &Place) {
  const std::string In = Place.empty() ? "" : " in '" + Place + "'";
  const std::string Subject =
      Tensor.empty() ? "tensor" : "tensor '" + Tensor + "'";
  const std::string Alternatives =
      Tensor.empty()
          ? "'.item<float>()' or '.detach()' of it"
          : "'" + Tensor + ".item<float>()' or '" + Tensor + ".detach()'";
  switch (Kept.How) {
  case Retention::Grows:
    if (Kept.Reader)
      return Subject + " kept" + In +
             " keeps its autograd graph alive, though all code that reads it "
             "leaves the graph behind; store " +
             Alternatives;
    return Subject + " kept" + In +
           " keeps its autograd graph alive for every iteration; store " +
           Alternatives;
  case Retention::Chains:
    return "adding " + (Tensor.empty() ? "a tensor" : "'" + Tensor + "'") +
           " to '" + Place + "' chains the autograd graphs of all " +
           (Kept.Reader ? "calls" : "iterations") + "; add " + Alternatives;
  case Retention::Overwrites:
    return Subject + " kept" + In +
           " keeps one extra autograd graph alive until it is overwritten; "
           "store " +
           (Tensor.empty() ? "'.detach()' of it" : "'" + Tensor + ".detach()'");
  }
  return "";
}

/// The summand of total = total + loss that is not total.
static const clang::Expr *added(const Execution &Way, const Retention &Kept) {
  const clang::Expr *Operand = Kept.Store->Operand;
  if (!Operand || Kept.How != Retention::Chains)
    return Operand;
  const auto *Sum = llvm::dyn_cast<clang::CXXOperatorCallExpr>(strip(Operand));
  if (!Sum || Sum->getNumArgs() != 2)
    return Operand;
  const std::string Name = Way.places().name(Kept.Place);
  for (unsigned I = 0; I < 2; ++I) {
    const auto *Ref = llvm::dyn_cast<clang::DeclRefExpr>(strip(Sum->getArg(I)));
    const auto *Member =
        llvm::dyn_cast<clang::MemberExpr>(strip(Sum->getArg(I)));
    const clang::ValueDecl *D = Ref      ? Ref->getDecl()
                                : Member ? Member->getMemberDecl()
                                         : nullptr;
    if (D && llvm::StringRef(Name).ends_with(D->getNameAsString()))
      return Sum->getArg(1 - I);
  }
  return Operand;
}

static Finding describe(const Program &Program, const Execution &Way,
                        const Retention &Kept) {
  const Event &Store = *Kept.Store;
  const clang::Expr *Operand = added(Way, Kept);
  Finding Result;
  Result.Location = Store.Site->getBeginLoc();
  Result.Range = Store.Site->getSourceRange();
  std::string Place = targetName(Program.context(), Store.Site);
  if (Place.empty())
    Place = Way.places().name(Kept.Place);
  Result.Message = message(Kept, shortName(Program, Operand), Place);
  if (Kept.Built)
    Result.Notes.push_back(
        {Kept.Built->Site->getBeginLoc(), "the graph is built here"});
  if (Kept.Reader)
    Result.Notes.push_back(
        {Kept.Reader->getBeginLoc(), "it is read here, without its graph"});
  addLoop(Result, Way, Store.In, Kept.Around);
  if (Operand && Kept.How != Retention::Overwrites)
    Result.Fixes = appendCall(Program.context(), Operand, ".detach()");
  if (Kept.Built)
    Result.IterationSite = Kept.Built->Site->getBeginLoc();
  return Result;
}

std::vector<Finding> RetainedGraphCheck::analyze(Program &Program) {
  std::vector<Finding> Findings;
  const Readership Readers(Program);
  for (const auto &Way : Program.executions())
    for (const Retention &Kept : retentions(*Way, Readers))
      addUnlessKnown(Findings, describe(Program, *Way, Kept));
  return Findings;
}

} // namespace torchtidy::checks
