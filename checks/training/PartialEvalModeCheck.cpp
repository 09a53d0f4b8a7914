// Finds modules that never get eval() where another one gets it twice: a line
// that was copied, and its name was not changed; and those that an evaluation
// leaves in train mode which sets another one to eval().
#include "training/PartialEvalModeCheck.h"
#include "ast/Expressions.h"
#include "report/Report.h"
#include "torch/Types.h"
#include "training/PartialEvalMode.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"

namespace torchtidy::checks {

using namespace model;

/// Puts the name of the one that is left out in the place of the other's.
/// Nothing where it is not known to be one of the same kind, in reach.
static std::vector<clang::FixItHint> rename(const PartialEvalMode &Found) {
  const clang::Expr *Named = calledOn(Found.Needless->Site);
  clang::SourceLocation Location;
  const clang::ValueDecl *Other = nullptr;
  if (const auto *Member = llvm::dyn_cast_or_null<clang::MemberExpr>(Named)) {
    if (!llvm::isa<clang::CXXThisExpr>(ast::strip(Member->getBase())))
      return {};
    Other = Member->getMemberDecl();
    Location = Member->getMemberLoc();
  } else if (const auto *Ref =
                 llvm::dyn_cast_or_null<clang::DeclRefExpr>(Named)) {
    Other = Ref->getDecl();
    Location = Ref->getLocation();
  }
  if (!Other || Location.isMacroID() || !Found.IsInReach ||
      Other->getDeclContext() != Found.LeftOut->getDeclContext() ||
      torch::kindOf(Other->getType()) !=
          torch::kindOf(Found.LeftOut->getType()))
    return {};
  return {clang::FixItHint::CreateReplacement(
      clang::CharSourceRange::getTokenRange(Location, Location),
      Found.LeftOut->getNameAsString())};
}

/// One of two networks that are evaluated together.
static Finding describeBeside(const Program &Program,
                              const PartialEvalMode &Found) {
  const clang::Expr *Eval = Found.Needless->Site;
  const std::string Name = objectName(Program.context(), Eval);
  const std::string LeftOut = objectName(Program.context(), Found.Pass->Site);
  const std::string Other = LeftOut.empty() ? "a module" : "'" + LeftOut + "'";
  Finding Result;
  Result.Location = Eval->getBeginLoc();
  Result.Range = Eval->getSourceRange();
  Result.Message = "only " + (Name.empty() ? "this module" : "'" + Name + "'") +
                   " is set to eval mode: " + Other +
                   ", which is evaluated with it, runs with its " + Found.Part +
                   " as in training; set it to eval(), and back, as well";
  addNote(Result, {Found.Pass->Site->getBeginLoc(), "it is evaluated here",
                   NoteRole::Sign});
  addNote(Result,
          {Found.Backward->Site->getBeginLoc(),
           Found.AreTogether ? "both are trained here" : "it is trained here",
           NoteRole::Backward});
  Result.IterationSite = Found.Pass->Site->getBeginLoc();
  return Result;
}

static Finding describe(const Program &Program, const PartialEvalMode &Found) {
  if (Found.Backward)
    return describeBeside(Program, Found);
  const clang::Expr *Needless = Found.Needless->Site;
  const std::string Name = objectName(Program.context(), Needless);
  const std::string LeftOut = "'" + Found.LeftOut->getNameAsString() + "'";
  Finding Result;
  Result.Location = Needless->getBeginLoc();
  Result.Range = Needless->getSourceRange();
  Result.Message =
      (Name.empty() ? "a module" : "'" + Name + "'") +
      " is set to eval mode twice, and " + LeftOut +
      (Found.Made ? " never: it runs " : ", which is run next, not: it runs ") +
      (Found.Part.empty() ? "in the mode that it was saved in"
                          : "with its " + Found.Part + " as in training") +
      "; this eval() is probably meant for " + LeftOut;
  addNote(Result, {Found.Other->Site->getBeginLoc(), "the other one is here",
                   NoteRole::Sign});
  if (Found.Made)
    addNote(Result,
            {Found.Made->Site ? Found.Made->Site->getBeginLoc()
                              : Found.LeftOut->getLocation(),
             LeftOut + (Found.Made->Is == Event::Load ? " is loaded here"
                                                      : " is made here"),
             NoteRole::Declared});
  addNote(Result, {Found.Pass->Site->getBeginLoc(), "it is evaluated here",
                   NoteRole::Sign});
  Result.Fixes = rename(Found);
  Result.IterationSite = Found.Pass->Site->getBeginLoc();
  return Result;
}

std::vector<Finding> PartialEvalModeCheck::analyze(Program &Program) {
  return findingsOf(Program, partialEvalModes, describe);
}

} // namespace torchtidy::checks
