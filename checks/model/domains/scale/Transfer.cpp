#include "model/domains/scale/Transfer.h"
#include "ast/Expressions.h"
#include "model/icfg/HeldModules.h"
#include "model/machine/Machine.h"
#include "torch/Api.h"
#include "torch/Modules.h"
#include "torch/Types.h"

using torchtidy::torch::Scale;

namespace torchtidy::model {

static Scaling onUnknownScale() {
  return {Known<Scale>::unknown(), Known<const clang::CallExpr *>::unknown()};
}

static void putOn(Value &Result, std::optional<Scale> On,
                  const clang::CallExpr *By) {
  static_cast<Scaling &>(Result) =
      On ? Scaling{Known(*On), Known(By)} : onUnknownScale();
}

void scale::initial(Machine & /*M*/, PlaceId /*P*/, Value &Result) {
  scale::lost(Result);
}

/// What is known of several tensors says nothing of one of them.
void scale::part(Machine & /*M*/, PlaceId /*P*/, Value &Part) {
  scale::lost(Part);
}

/// What a logarithm, or its reverse, makes of Before.
static std::optional<Scale> scaleAfter(const torch::Operation &Op,
                                       std::optional<Scale> Before) {
  if (torch::isLogarithm(Op) &&
      (Before == Scale::Probabilities || Before == Scale::Sigmoids))
    return Scale::LogProbabilities;
  if (torch::isExponential(Op) && Before == Scale::LogProbabilities)
    return Scale::Probabilities;
  return std::nullopt;
}

void scale::operation(Machine & /*M*/, const OperationCall &Call,
                      Value &Result) {
  const torch::Operation &Op = *Call.Op;
  if (torch::keepsNumbers(Op)) {
    static_cast<Scaling &>(Result) = Call.self();
    return;
  }
  std::optional<Scale> On = torch::scaleOf(Op);
  if (!On)
    On = scaleAfter(Op, Call.self().OnScale.get());
  putOn(Result, On, Call.Call);
}

/// What the last layer of a Sequential makes, where the file shows which it is.
static std::optional<Scale> scaleOfChain(Machine &M,
                                         const clang::CallExpr *Call) {
  Known<Scale> Result;
  for (const ModuleChain &Chain :
       M.code().heldModules().runBy(M.frame(), Call)) {
    std::optional<Scale> Last;
    for (const clang::Expr *Each : llvm::reverse(Chain)) {
      const clang::CXXRecordDecl *Layer = torch::moduleClass(Each->getType());
      if (torch::keepsNumbers(Layer))
        continue;
      Last = torch::scaleOf(Layer);
      break;
    }
    Result.join(Last ? Known(*Last) : Known<Scale>::unknown());
  }
  return Result.get();
}

static std::optional<Scale> scaleOfForward(Machine &M,
                                           const clang::CallExpr *Call) {
  const clang::Expr *Object = ast::objectOf(Call);
  const clang::CXXRecordDecl *Class =
      Object ? torch::moduleClass(Object->getType()) : nullptr;
  return torch::isModuleContainer(Class) ? scaleOfChain(M, Call)
                                         : torch::scaleOf(Class);
}

void scale::call(Machine &M, const LibraryCall &Call, Value &Result) {
  if (Call.IsForward)
    return putOn(Result, scaleOfForward(M, Call.Call), Call.Call);
  const torch::Operation *Op =
      torch::functionalOperation(Call.Call->getDirectCallee());
  putOn(Result, Op ? torch::scaleOf(*Op) : std::nullopt, Call.Call);
}

void scale::write(Machine & /*M*/, const Value &Written, bool IsWhole,
                  Value &Target) {
  if (IsWhole)
    static_cast<Scaling &>(Target) = Written;
  else
    Target.Scaling::join(Written);
}

void scale::lost(Value &Tensor) {
  static_cast<Scaling &>(Tensor) = onUnknownScale();
}

} // namespace torchtidy::model
