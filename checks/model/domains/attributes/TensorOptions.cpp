// Which scalar type TensorOptions ask for.
#include "ast/Expressions.h"
#include "model/domains/attributes/Transfer.h"
#include "model/machine/Machine.h"
#include "torch/Options.h"
#include "torch/Scalars.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model {

static const Known<StringRef> Default{StringRef(DefaultScalar)};

static Known<StringRef> orUnknown(Known<StringRef> Scalar) {
  return Scalar.isEmpty() ? Known<StringRef>::unknown() : Scalar;
}

/// dtype<float>(), dtype(kFloat).
static Known<StringRef> saidByDType(Machine &M, const FunctionDecl *Callee,
                                    llvm::ArrayRef<const Expr *> Arguments) {
  if (!Arguments.empty())
    return orUnknown(M.deepValue(Arguments[0]).Scalar);
  const TemplateArgumentList *Types = Callee->getTemplateSpecializationArgs();
  if (!Types || Types->size() != 1 ||
      (*Types)[0].getKind() != TemplateArgument::Type)
    return Known<StringRef>::unknown();
  const std::optional<torch::Element> Said =
      torch::elementOf((*Types)[0].getAsType(), M.code().context());
  return Said && !Said->Name.empty() ? Known<StringRef>(Said->Name)
                                     : Known<StringRef>::unknown();
}

Known<StringRef> scalarOfOptions(Machine &M, const Expr *E,
                                 const Value &Joined) {
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E)) {
    if (Construct->getConstructor()->isCopyOrMoveConstructor())
      return Joined.Scalar;
    if (Construct->getNumArgs() == 0)
      return Default;
    const QualType Type = ast::stripCopies(Construct->getArg(0))->getType();
    return torch::saysNoScalar(Type) ? Default : orUnknown(Joined.Scalar);
  }
  const auto *Call = dyn_cast<CallExpr>(E);
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  if (!Callee || !Callee->getIdentifier() || !torch::isLibTorch(Callee))
    return Joined.Scalar;
  if (torch::saysScalarType(Callee))
    return saidByDType(M, Callee, ast::argumentsOf(Call));
  if (!torch::saysOtherOption(Callee))
    return Joined.Scalar;
  const Expr *Object = ast::objectOf(Call);
  return Object ? M.deepValue(Object).Scalar : Default;
}

bool describeBlob(Machine &M, const CallExpr *Call, Value &Result) {
  const Expr *Options = torch::blobOptions(Call);
  const Known<StringRef> Said =
      Options ? orUnknown(M.deepValue(Options).Scalar) : Default;
  const bool IsSaid = Said.get() != StringRef(DefaultScalar);
  Result.Scalar = IsSaid ? Said : Known<StringRef>("Float");
  const FunctionDecl *Callee = Call->getDirectCallee();
  for (unsigned I = 0; I < Call->getNumArgs() && I < Callee->getNumParams();
       ++I)
    if (!isa<CXXDefaultArgExpr>(Call->getArg(I)) &&
        torch::isStrides(Callee->getParamDecl(I)))
      Result.InLayout = Known<Layout>::unknown();
  return IsSaid;
}

} // namespace torchtidy::model
