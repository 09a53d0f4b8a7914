// Finds tensors that are kept beyond their iteration together with the autograd
// graph that made them, so that every iteration leaves its graph behind.
#include "memory/RetainedGraphCheck.h"
#include "ast/Expressions.h"
#include "memory/RetainedGraph.h"
#include "report/Edit.h"
#include "report/Report.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include <map>

namespace torchtidy::checks {

using namespace model;

/// A variable or a member by its name; anything longer has none worth quoting.
static std::string shortName(const Program &Program, const clang::Expr *E) {
  if (!E)
    return "";
  const clang::Expr *Stripped = ast::stripCopies(E);
  // std::move(loss)
  if (const auto *Call = llvm::dyn_cast<clang::CallExpr>(Stripped))
    if (Call->isCallToStdMove())
      Stripped = ast::strip(Call->getArg(0));
  if (!llvm::isa<clang::DeclRefExpr, clang::MemberExpr>(Stripped))
    return "";
  return Program.text(Stripped);
}

/// What is kept is the tensor, and no object that has it.
static bool isTensor(const clang::Expr *Operand) {
  return !Operand ||
         torch::isTensor(
             ast::stripCopies(Operand)->getType().getNonReferenceType());
}

static std::string message(const Retention &Kept, const std::string &Tensor,
                           const std::string &Place) {
  const std::string In = Place.empty() ? "" : " in '" + Place + "'";
  const bool IsObject = !isTensor(Kept.Store->Operand) && !Tensor.empty();
  const std::string Subject = Tensor.empty() ? "tensor"
                              : IsObject     ? "'" + Tensor + "'"
                                             : "tensor '" + Tensor + "'";
  const std::string Alternatives =
      IsObject ? "it with '.detach()' of its tensors"
      : Tensor.empty()
          ? "'.item<float>()' or '.detach()' of it"
          : "'" + Tensor + ".item<float>()' or '" + Tensor + ".detach()'";
  switch (Kept.How) {
  case Retention::Grows:
    if (Kept.Reader)
      return Subject + " kept" + In +
             " keeps what its backward() would need (its autograd graph), "
             "though "
             "no code that reads it makes use of that; memory grows with each "
             "call; store " +
             Alternatives;
    return Subject + " kept" + In +
           " keeps what its backward() would need (its autograd graph) for "
           "every iteration, so memory grows with each; store " +
           Alternatives;
  case Retention::Chains:
    if (Kept.IsComputed)
      return "'" + Place +
             "' is computed from what it was before, which keeps what "
             "backward() "
             "would need of all iterations (their autograd graphs), so memory "
             "grows with each; store " +
             (Tensor.empty() ? "'.detach()' of it"
                             : "'" + Tensor + ".detach()'");
    return "adding " + (Tensor.empty() ? "a tensor" : "'" + Tensor + "'") +
           " to '" + Place + "' keeps what backward() would need of all " +
           (Kept.Reader ? "calls" : "iterations") +
           " (their autograd graphs), so memory grows with each; add " +
           Alternatives;
  case Retention::Overwrites:
    return Subject + " kept" + In +
           " keeps what one more backward() would need (its autograd graph) "
           "until it is overwritten; store " +
           (Tensor.empty() ? "'.detach()' of it" : "'" + Tensor + ".detach()'");
  }
  return "";
}

static FindingKind kind(const Retention &Kept) {
  switch (Kept.How) {
  case Retention::Grows:
    return FindingKind::GraphGrows;
  case Retention::Chains:
    return FindingKind::GraphChains;
  case Retention::Overwrites:
    break;
  }
  return FindingKind::GraphOverwritten;
}

/// The summand of total = total + loss that is not total.
static const clang::Expr *added(const Retention &Kept) {
  const clang::Expr *Operand = Kept.Store->Operand;
  if (!Operand || Kept.How != Retention::Chains)
    return Operand;
  const auto *Sum =
      llvm::dyn_cast<clang::CXXOperatorCallExpr>(ast::strip(Operand));
  if (!Sum || Sum->getNumArgs() != 2)
    return Operand;
  const std::string Name = Kept.Entry->places().name(Kept.Place);
  for (unsigned I = 0; I < 2; ++I) {
    const auto *Ref =
        llvm::dyn_cast<clang::DeclRefExpr>(ast::strip(Sum->getArg(I)));
    const auto *Member =
        llvm::dyn_cast<clang::MemberExpr>(ast::strip(Sum->getArg(I)));
    const clang::ValueDecl *D = Ref      ? Ref->getDecl()
                                : Member ? Member->getMemberDecl()
                                         : nullptr;
    if (D && llvm::StringRef(Name).ends_with(D->getNameAsString()))
      return Sum->getArg(1 - I);
  }
  return Operand;
}

static Finding describe(const Program &Program, const Retention &Kept) {
  const StoreEvent &Store = *Kept.Store;
  const clang::Expr *Operand = added(Kept);
  Finding Result;
  Result.Location = Store.Site->getBeginLoc();
  Result.Range = Store.Site->getSourceRange();
  std::string Place = targetName(Program.context(), Store.Site);
  if (Place.empty())
    Place = Kept.Entry->places().name(Kept.Place);
  Result.Kind = kind(Kept);
  Result.Cause = "kept graph";
  Result.Message = message(Kept, shortName(Program, Operand), Place);
  if (Kept.Built)
    Result.Notes.push_back({Kept.Built->Site->getBeginLoc(),
                            "the graph is built here", NoteRole::GraphBuilt});
  if (Kept.Reader)
    Result.Notes.push_back({Kept.Reader->getBeginLoc(),
                            "it is read here, without its graph",
                            NoteRole::Read});
  addLoop(Result, *Kept.Entry, Store.In, Kept.Around);
  if (Operand && Kept.How != Retention::Overwrites && isTensor(Operand))
    Result.Fixes = appendCall(Program.context(), Operand, ".detach()");
  if (Kept.Built)
    Result.IterationSite = Kept.Built->Site->getBeginLoc();
  return Result;
}

/// Another store of the same cause. A template is met once for each of its
/// instantiations, at one place.
static void addAsWell(Finding &First, const Finding &New) {
  const bool IsKnown =
      First.Location == New.Location ||
      llvm::any_of(First.Notes, [&](const Note &Each) {
        return Each.Role == NoteRole::AsWell && Each.Location == New.Location;
      });
  if (IsKnown)
    return;
  llvm::append_range(First.Fixes, New.Fixes);
  addNote(First,
          {New.Location, "a graph is kept here as well", NoteRole::AsWell});
}

std::vector<Finding> RetainedGraphCheck::analyze(Program &Program) {
  std::vector<Finding> Findings;
  // Where nothing in the loop goes backward, one missing guard is the cause of
  // all that is kept.
  std::map<std::pair<const Execution *, const flow::Loop *>, size_t> ByLoop;
  for (const Retention &Kept : retentions(Program)) {
    if (Kept.IsFreed && !Strict)
      continue;
    Finding New = describe(Program, Kept);
    if (Kept.Around && !Kept.IsBackwarded) {
      const auto [Known, IsNew] =
          ByLoop.try_emplace({Kept.Entry, Kept.Around}, Findings.size());
      if (!IsNew) {
        addAsWell(Findings[Known->second], New);
        continue;
      }
    }
    Findings.push_back(std::move(New));
  }
  return Findings;
}

} // namespace torchtidy::checks
