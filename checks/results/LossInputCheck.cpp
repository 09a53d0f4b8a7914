// Finds losses that are given numbers on another scale than the one that they
// take: probabilities where scores are wanted, or where logarithms are.
#include "results/LossInputCheck.h"
#include "ast/Expressions.h"
#include "ast/Locations.h"
#include "report/Report.h"
#include "results/LossInput.h"
#include "torch/Api.h"
#include "clang/Lex/Lexer.h"

namespace torchtidy::checks {

using namespace clang;
using namespace model;
using torch::Scale;
using torch::ScaledLoss;

/// What the loss does with what it gets.
static std::string wants(ScaledLoss Loss) {
  switch (Loss) {
  case ScaledLoss::CrossEntropy:
    return "applies log_softmax() to what it is given";
  case ScaledLoss::BinaryWithLogits:
    return "applies sigmoid() to what it is given";
  case ScaledLoss::Binary:
    return "takes probabilities";
  case ScaledLoss::NegativeLogLikelihood:
  case ScaledLoss::KlDivergence:
    return "takes logarithms of probabilities";
  }
  return "";
}

static std::string isGiven(Scale Given) {
  switch (Given) {
  case Scale::Scores:
    return "these are scores, as a layer computes them";
  case Scale::Probabilities:
    return "this is the result of softmax()";
  case Scale::Sigmoids:
    return "this is the result of sigmoid()";
  case Scale::LogProbabilities:
    return "these are logarithms of probabilities, none above zero";
  }
  return "";
}

static std::string comesOfIt(const LossInput &Found) {
  switch (Found.Loss) {
  case ScaledLoss::CrossEntropy:
  case ScaledLoss::BinaryWithLogits:
    return "the loss cannot come near zero, and its gradients are a fraction "
           "of what they should be";
  case ScaledLoss::Binary:
    return "what is not between 0 and 1 throws";
  case ScaledLoss::NegativeLogLikelihood:
  case ScaledLoss::KlDivergence:
    break;
  }
  return Found.Given == Scale::Scores
             ? "the loss falls without end, for the scores only grow"
             : "without the logarithm, what is very wrong costs hardly more "
               "than what is nearly right";
}

static std::string toDo(const LossInput &Found) {
  const std::string Maker =
      Found.Given == Scale::Sigmoids ? "sigmoid()" : "softmax()";
  switch (Found.Loss) {
  case ScaledLoss::CrossEntropy:
    // Probabilities that do not exclude each other: perhaps it is the loss that
    // is the wrong one.
    if (Found.Given == Scale::Sigmoids)
      return "give what sigmoid() was given to it, or, where several classes "
             "may be right at once, to binary_cross_entropy_with_logits()";
    return "give it what " + Maker + " was given";
  case ScaledLoss::BinaryWithLogits:
    return Found.Given == Scale::LogProbabilities
               ? "give it the scores"
               : "give it what " + Maker + " was given";
  case ScaledLoss::Binary:
    return "binary_cross_entropy_with_logits() takes the scores";
  case ScaledLoss::NegativeLogLikelihood:
    return Found.Given == Scale::Scores ? "cross_entropy() takes scores"
                                        : "give it log_softmax() of the scores";
  case ScaledLoss::KlDivergence:
    return "give it log_softmax() of the scores";
  }
  return "";
}

/// softmax(x, 1) becomes x where the loss applies it, and log_softmax(x, 1)
/// where the loss wants a logarithm.
static std::vector<FixItHint> fixes(const Program &Program,
                                    const LossInput &Found) {
  const CallExpr *Call = Found.ScaledBy;
  if (!Found.IsWrittenThere || !Call ||
      torch::classify(Call).Kind != torch::Api::Operation ||
      ast::beginLoc(Call).isMacroID() || ast::endLoc(Call).isMacroID())
    return {};
  if (Found.Loss == ScaledLoss::CrossEntropy ||
      Found.Loss == ScaledLoss::BinaryWithLogits) {
    const auto Arguments = ast::argumentsOf(Call);
    const Expr *Object = ast::objectOf(Call);
    const Expr *Of = Object              ? Object
                     : Arguments.empty() ? nullptr
                                         : Arguments.front();
    const std::string Text = Of ? Program.text(Of) : "";
    if (Text.empty() || Found.Given == Scale::LogProbabilities ||
        (Found.Loss == ScaledLoss::CrossEntropy &&
         Found.Given == Scale::Sigmoids))
      return {};
    return {FixItHint::CreateReplacement(
        CharSourceRange::getTokenRange(Call->getSourceRange()), Text)};
  }
  // The names differ in the prefix alone, and so do the arguments not at all.
  if (Found.Loss == ScaledLoss::Binary || Found.Given != Scale::Probabilities)
    return {};
  const Expr *Callee = Call->getCallee()->IgnoreParenImpCasts();
  const auto *Member = dyn_cast<MemberExpr>(Callee);
  const auto *Name = dyn_cast<DeclRefExpr>(Callee);
  const SourceLocation At = Member ? Member->getMemberLoc()
                            : Name ? Name->getLocation()
                                   : SourceLocation();
  if (At.isInvalid() || At.isMacroID())
    return {};
  return {FixItHint::CreateInsertion(At, "log_")};
}

static Finding describe(const Program &Program, const LossInput &Found) {
  Finding Result;
  const ScaleUseEvent &Use = *Found.Use;
  Result.Location = Use.Operand->getBeginLoc();
  Result.Range = Use.Operand->getSourceRange();
  Result.Kind = Found.Given == Scale::Scores ? FindingKind::LossOfScores
                : Found.Given == Scale::LogProbabilities
                    ? FindingKind::LossOfLogarithms
                : Found.Loss == ScaledLoss::CrossEntropy ||
                        Found.Loss == ScaledLoss::BinaryWithLogits
                    ? FindingKind::LossScalesTwice
                    : FindingKind::LossWithoutLogarithm;
  Result.Message = (torch::nameOf(Found.Loss) + "() ").str() +
                   wants(Found.Loss) + ", and " + isGiven(Found.Given) + ": " +
                   comesOfIt(Found) + "; " + toDo(Found);
  if (Found.ScaledBy && !Found.IsWrittenThere)
    addNote(Result,
            {ast::beginLoc(Found.ScaledBy),
             Found.Given == Scale::Scores ? "the scores are computed here"
                                          : "it is applied here",
             NoteRole::Made});
  addCallers(Result, Use.In);
  Result.Fixes = fixes(Program, Found);
  Result.IterationSite = Use.Site->getBeginLoc();
  return Result;
}

std::vector<Finding> LossInputCheck::analyze(Program &Program) {
  return findingsOf(Program, lossInputs, describe);
}

} // namespace torchtidy::checks
