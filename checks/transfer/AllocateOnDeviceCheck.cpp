// Finds tensors that a factory makes on the CPU and that are moved to a device
// at once: the factory can make them there.
#include "transfer/AllocateOnDeviceCheck.h"
#include "ast/Expressions.h"
#include "ast/Locations.h"
#include "ast/Walk.h"
#include "report/Report.h"
#include "torch/Options.h"
#include "torch/Types.h"
#include "transfer/AllocateOnDevice.h"
#include "clang/Lex/Lexer.h"

namespace torchtidy::checks {

using namespace clang;
using namespace model;

/// What says where to, as the options of a factory; empty where it says more,
/// or cannot be written so.
static std::string target(const Program &Program,
                          const CXXMemberCallExpr *Moves) {
  const auto Arguments = ast::argumentsOf(Moves);
  if (Arguments.empty() || isa<CXXDefaultArgExpr>(Arguments[0]))
    return Arguments.empty() ? "torch::kCUDA" : "";
  // to(device, dtype), to(options) and to(tensor) may convert as well.
  for (const Expr *Further : llvm::drop_begin(Arguments))
    if (!isa<CXXDefaultArgExpr>(Further) &&
        !Further->getType()->isBooleanType())
      return "";
  const Expr *Where = Arguments[0]->IgnoreUnlessSpelledInSource();
  return torch::isDevice(Where->getType()) ||
                 torch::isDeviceType(Where->getType())
             ? Program.text(Where)
             : "";
}

/// The parameter of a factory that takes its options; nothing where it has
/// none.
static std::optional<unsigned> optionsParameter(const CallExpr *Factory) {
  const FunctionDecl *Callee = Factory->getDirectCallee();
  for (unsigned I = 0; Callee && I < Callee->getNumParams(); ++I)
    if (torch::isTensorOptions(Callee->getParamDecl(I)->getType()))
      return I;
  return std::nullopt;
}

/// Pinned memory is the host's.
static bool mentionsMore(const Expr *Options) {
  return ast::anyStmt(
      Options,
      [](const Stmt *S) {
        const auto *Call = dyn_cast<CallExpr>(S);
        const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
        return Callee && !torch::saysScalarType(Callee) &&
               !torch::saysRequiresGrad(Callee);
      },
      ast::Lambdas::Enter);
}

/// The options with the device; empty where that cannot be written.
static std::string withDevice(const Program &Program, const Expr *Options,
                              const std::string &Device) {
  const Expr *Written = Options->IgnoreUnlessSpelledInSource();
  const std::string Text = Program.text(Written);
  if (Text.empty() || mentionsMore(Options))
    return "";
  if (torch::isScalarType(Written->getType()))
    return "torch::dtype(" + Text + ").device(" + Device + ")";
  if (torch::isDeviceType(Written->getType()) ||
      torch::isDevice(Written->getType()))
    return Device;
  const bool IsPostfix =
      isa<DeclRefExpr, MemberExpr, CallExpr, CXXTemporaryObjectExpr,
          CXXFunctionalCastExpr>(Written) &&
      !isa<CXXOperatorCallExpr>(Written);
  return torch::isTensorOptions(Written->getType()) && IsPostfix
             ? Text + ".device(" + Device + ")"
             : "";
}

/// The element type that the factory has by default and loses with other
/// options: randint() of TensorOptions options = at::kLong. Empty for none.
static std::string typeByDefault(const HostAllocation &Found) {
  const std::optional<unsigned> Options = optionsParameter(Found.Factory);
  const auto *Given =
      Options && *Options < Found.Factory->getNumArgs()
          ? dyn_cast<CXXDefaultArgExpr>(Found.Factory->getArg(*Options))
          : nullptr;
  std::string Result;
  if (Given)
    ast::forEachStmt(
        Given->getExpr(),
        [&](const Stmt *S) {
          const auto *Ref = dyn_cast<DeclRefExpr>(S);
          if (Ref && torch::isScalarType(Ref->getType()))
            Result = "torch::" + Ref->getDecl()->getNameAsString();
        },
        ast::Lambdas::Skip);
  return Result;
}

/// torch::zeros(s).to(device) becomes torch::zeros(s, device).
static std::vector<FixItHint> fixes(const Program &Program,
                                    const HostAllocation &Found) {
  const std::string Device = target(Program, Found.Moves);
  const std::optional<unsigned> Options = optionsParameter(Found.Factory);
  const auto *Member =
      dyn_cast<MemberExpr>(Found.Moves->getCallee()->IgnoreParenImpCasts());
  const SourceLocation Begin =
      Member ? Member->getOperatorLoc() : SourceLocation();
  const SourceLocation End = ast::endLoc(Found.Moves);
  if (Found.IsRandom || Found.Variable || Device.empty() || !Options ||
      isa<CXXMemberCallExpr>(Found.Factory) || Begin.isInvalid() ||
      !Begin.isFileID() || !End.isFileID() ||
      !Found.Factory->getRParenLoc().isFileID() ||
      *Options >= Found.Factory->getNumArgs() ||
      // tril_indices(n, n): an offset stands between.
      (*Options > 0 &&
       isa<CXXDefaultArgExpr>(Found.Factory->getArg(*Options - 1))))
    return {};
  std::vector<FixItHint> Result;
  const Expr *Given = Found.Factory->getArg(*Options);
  if (isa<CXXDefaultArgExpr>(Given)) {
    const std::string Type = typeByDefault(Found);
    Result.push_back(FixItHint::CreateInsertion(
        Found.Factory->getRParenLoc(),
        Type.empty() ? ", " + Device
                     : ", torch::dtype(" + Type + ").device(" + Device + ")"));
  } else {
    const std::string Instead = withDevice(Program, Given, Device);
    const SourceRange Range =
        Given->IgnoreUnlessSpelledInSource()->getSourceRange();
    if (Instead.empty() || !Range.getBegin().isFileID() ||
        !Range.getEnd().isFileID())
      return {};
    Result.push_back(FixItHint::CreateReplacement(Range, Instead));
  }
  Result.push_back(
      FixItHint::CreateRemoval(CharSourceRange::getTokenRange(Begin, End)));
  return Result;
}

static Finding describe(const Program &Program, const HostAllocation &Found) {
  Finding Result;
  Result.Location = ast::beginLoc(Found.Moves);
  Result.Range = Found.Moves->getSourceRange();
  const auto *Member =
      dyn_cast<MemberExpr>(Found.Moves->getCallee()->IgnoreParenImpCasts());
  const std::string Factory = "'" + calleeText(Program, Found.Factory) + "'";
  const std::string Move =
      "'" + (Member ? Member->getMemberNameInfo().getAsString() : "to") + "'";
  Result.Message = Factory + " makes this tensor on the CPU, and " + Move +
                   " copies it to the device at once; make it there, with "
                   "the device in its options";
  if (const std::string Type = typeByDefault(Found); !Type.empty())
    Result.Message += " and '" + Type + "', which it has by default only";
  if (Found.IsRandom)
    Result.Message += " (its numbers will be others: each device has a "
                      "generator of its own)";
  if (Found.Variable)
    addNote(Result,
            {ast::beginLoc(Found.Factory), "made here", NoteRole::Made});
  addLoop(Result, *Found.Entry, Found.Transfer->In, Found.Around);
  Result.Fixes = fixes(Program, Found);
  Result.IterationSite = ast::beginLoc(Found.Moves);
  return Result;
}

std::vector<Finding> AllocateOnDeviceCheck::analyze(Program &Program) {
  return findingsOf(
      Program, hostAllocations, describe,
      [this](const HostAllocation &Found) { return tells(Found); });
}

} // namespace torchtidy::checks
