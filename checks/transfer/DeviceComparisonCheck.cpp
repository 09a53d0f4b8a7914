// Finds comparisons of a tensor's device with a device that has no index: on an
// accelerator no tensor's is equal to it.
#include "transfer/DeviceComparisonCheck.h"
#include "ast/Expressions.h"
#include "report/Report.h"
#include "torch/Members.h"
#include "torch/Options.h"
#include "torch/Types.h"
#include "transfer/DeviceComparison.h"
#include "clang/Lex/Lexer.h"

namespace torchtidy::checks {

using namespace clang;
using namespace model;

namespace {

/// Where expressions stand in the file, also as the argument of a macro.
class Places {
public:
  explicit Places(const Program &User)
      : SM(User.sourceManager()), Language(User.context().getLangOpts()) {}

  CharSourceRange range(const Expr *E) const {
    return Lexer::makeFileCharRange(
        CharSourceRange::getTokenRange(E->getSourceRange()), SM, Language);
  }
  SourceLocation file(SourceLocation L) const {
    return Lexer::makeFileCharRange(CharSourceRange::getTokenRange(L, L), SM,
                                    Language)
        .getBegin();
  }

private:
  const SourceManager &SM;
  const LangOptions &Language;
};

} // namespace

/// x.device(), of a tensor.
static const CXXMemberCallExpr *asDeviceOfTensor(const Expr *E) {
  const auto *Call = dyn_cast<CXXMemberCallExpr>(ast::stripCopies(E));
  return Call && torch::saysDevice(Call->getMethodDecl()) &&
                 torch::isTensor(Call->getImplicitObjectArgument()->getType())
             ? Call
             : nullptr;
}

/// "is_cuda()" where the tensor can be asked so.
static std::string question(const DeviceComparison &Found) {
  const auto *Constant = dyn_cast<DeclRefExpr>(ast::stripCopies(Found.Other));
  if (!Constant || !asDeviceOfTensor(Found.OfTensor) ||
      !torch::isLibTorch(Constant->getDecl()))
    return "";
  const StringRef Name = torch::questionFor(Constant->getDecl());
  return Name.empty() ? "" : (Name + "()").str();
}

/// x.device() == torch::kCUDA becomes x.is_cuda().
static std::vector<FixItHint> askTensor(const Program &Program,
                                        const DeviceComparison &Found,
                                        const std::string &Question) {
  const Places At(Program);
  const auto *Call = asDeviceOfTensor(Found.OfTensor);
  const auto *Member =
      dyn_cast<MemberExpr>(Call->getCallee()->IgnoreParenImpCasts());
  const CharSourceRange Whole = At.range(Found.Call), Asked = At.range(Call);
  const SourceLocation Name =
      Member ? At.file(Member->getMemberLoc()) : SourceLocation();
  if (Whole.isInvalid() || Asked.isInvalid() || Name.isInvalid())
    return {};
  const std::string Not =
      Found.Call->getOperator() == OO_ExclaimEqual ? "!" : "";
  std::vector<FixItHint> Result;
  if (!Found.TensorIsLeft)
    Result.push_back(FixItHint::CreateReplacement(
        CharSourceRange::getCharRange(Whole.getBegin(), Asked.getBegin()),
        Not));
  else if (!Not.empty())
    Result.push_back(FixItHint::CreateInsertion(Whole.getBegin(), Not));
  Result.push_back(FixItHint::CreateReplacement(
      CharSourceRange::getCharRange(Name, Whole.getEnd()), Question));
  return Result;
}

/// torch::Device("cuda")
static bool isWrittenConstruction(const Expr *E) {
  const auto *Construct = dyn_cast<CXXConstructExpr>(E);
  return Construct && Construct->getParenOrBraceRange().isValid();
}

/// ".type()" behind a device; nothing behind what is a type already. False
/// where that cannot be written.
static bool addType(const Places &At, const Expr *E,
                    std::vector<FixItHint> &Fixes) {
  E = E->IgnoreUnlessSpelledInSource();
  if (torch::isDeviceType(E->getType()))
    return true;
  const CharSourceRange Range = At.range(E);
  if (!torch::isDevice(E->getType()) || Range.isInvalid())
    return false;
  const bool IsPostfix =
      isa<DeclRefExpr, MemberExpr, CXXMemberCallExpr, CXXTemporaryObjectExpr,
          CXXFunctionalCastExpr, ArraySubscriptExpr>(E) ||
      (isa<CallExpr>(E) && !isa<CXXOperatorCallExpr>(E)) ||
      isWrittenConstruction(E);
  if (!IsPostfix)
    Fixes.push_back(FixItHint::CreateInsertion(Range.getBegin(), "("));
  Fixes.push_back(FixItHint::CreateInsertion(
      Range.getEnd(), IsPostfix ? ".type()" : ").type()"));
  return true;
}

static std::vector<FixItHint> compareTypes(const Program &Program,
                                           const DeviceComparison &Found) {
  const Places At(Program);
  std::vector<FixItHint> Result;
  if (!addType(At, Found.OfTensor, Result) || !addType(At, Found.Other, Result))
    return {};
  return Result;
}

/// As it is written; in a macro's own text it is not.
static std::string quotedOr(const Program &Program, const Expr *E,
                            const char *Unnamed) {
  const std::string Text = Program.text(E);
  return Text.empty() ? Unnamed : "'" + Text + "'";
}

static Finding describe(const Program &Program, const DeviceComparison &Found) {
  Finding Result;
  Result.Location =
      Program.sourceManager().getFileLoc(Found.Call->getBeginLoc());
  Result.Range = Found.Call->getSourceRange();
  const bool IsNot = Found.Call->getOperator() == OO_ExclaimEqual;
  const std::string Text = quotedOr(Program, Found.Call, "this comparison");
  const std::string Other =
      quotedOr(Program, ast::stripCopies(Found.Other), "the other device");
  Result.Message =
      Text + " is " + (IsNot ? "true" : "false") +
      (Found.MayBeCpu ? " for each tensor that is not on the CPU: "
                      : " for every tensor: ") +
      Other +
      " has no index, and the device of a tensor on an accelerator has one; ";
  const std::string Question = question(Found);
  Result.Message += Question.empty() ? "compare the types, '.type()'"
                                     : "use '" + Question + "' of the tensor";
  Result.Fixes = Question.empty() ? compareTypes(Program, Found)
                                  : askTensor(Program, Found, Question);
  Result.IterationSite = Found.Call->getBeginLoc();
  return Result;
}

std::vector<Finding> DeviceComparisonCheck::analyze(Program &Program) {
  return findingsOf(Program, deviceComparisons, describe);
}

} // namespace torchtidy::checks
