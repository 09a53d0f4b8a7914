// Tensors over foreign memory, and the scalar type that options say.
#include "flow/Names.h"
#include "model/Blobs.h"
#include "model/Interpreter.h"
#include "torch/Scalars.h"
#include "torch/Types.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

static Known<StringRef> orUnknown(Known<StringRef> Scalar) {
  return Scalar.isEmpty() ? Known<StringRef>::unknown() : Scalar;
}

/// Of options that a call or a construction makes. Empty: nothing is known of
/// them.
Known<StringRef> Interpreter::scalarOfOptions(const Expr *E,
                                              const Value &Joined) {
  const Known<StringRef> Default{StringRef(DefaultScalar)};
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E)) {
    if (Construct->getConstructor()->isCopyOrMoveConstructor())
      return Joined.Scalar;
    if (Construct->getNumArgs() == 0)
      return Default;
    const QualType Type = stripCopies(Construct->getArg(0))->getType();
    const auto *Enum = Type->getAs<EnumType>();
    const CXXRecordDecl *Record = torch::recordOf(Type);
    const StringRef Name =
        Enum ? Enum->getDecl()->getName() : flow::nameOf(Record);
    if (Name == "Device" || Name == "DeviceType" || Name == "Layout" ||
        Name == "MemoryFormat")
      return Default;
    return orUnknown(Joined.Scalar);
  }
  const auto *Call = dyn_cast<CallExpr>(E);
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  if (!Callee || !Callee->getIdentifier() || !torch::isLibTorch(Callee))
    return Joined.Scalar;
  const Expr *Object = objectOf(Call);
  const auto Arguments = argumentsOf(Call);
  if (Callee->getName() == "dtype") {
    const TemplateArgumentList *Types = Callee->getTemplateSpecializationArgs();
    if (Arguments.empty() && Types && Types->size() == 1 &&
        (*Types)[0].getKind() == TemplateArgument::Type) {
      const std::optional<torch::Element> Said =
          torch::elementOf((*Types)[0].getAsType(), Program.context());
      return Said && !Said->Name.empty() ? Known<StringRef>(Said->Name)
                                         : Known<StringRef>::unknown();
    }
    return Arguments.empty() ? Known<StringRef>::unknown()
                             : orUnknown(deepValue(Arguments[0]).Scalar);
  }
  const bool SaysSomethingElse =
      llvm::StringSwitch<bool>(Callee->getName())
          .Cases("device", "device_index", "layout", "requires_grad", true)
          .Cases("pinned_memory", "memory_format", true)
          .Default(false);
  if (!SaysSomethingElse)
    return Joined.Scalar;
  return Object ? deepValue(Object).Scalar : Default;
}

void Interpreter::tellOfBlob(const CallExpr *Call, Value &Result) {
  if (Call->getNumArgs() == 0)
    return;
  const Expr *Options = blobOptions(Call);
  const Known<StringRef> Said =
      Options ? orUnknown(deepValue(Options).Scalar)
              : Known<StringRef>(StringRef(DefaultScalar));
  const bool IsSaid = Said.get() != StringRef(DefaultScalar);
  Result.Scalar = IsSaid ? Said : Known<StringRef>("Float");
  bool HasStrides = false, HasOwner = false;
  for (unsigned I = 0; I < Call->getNumArgs(); ++I) {
    const Expr *Argument = Call->getArg(I);
    if (isa<CXXDefaultArgExpr>(Argument))
      continue;
    // A deleter: the tensor owns its memory.
    HasOwner |= torch::kindOf(Argument->getType()) == TypeKind::Callable;
    const FunctionDecl *Callee = Call->getDirectCallee();
    HasStrides |= I < Callee->getNumParams() &&
                  Callee->getParamDecl(I)->getIdentifier() &&
                  Callee->getParamDecl(I)->getName() == "strides";
  }
  if (HasStrides)
    Result.InLayout = Known<Layout>::unknown();
  Event E;
  E.Kind = EventKind::Borrow;
  E.Site = Call;
  E.Operand = Call->getArg(0);
  E.ConvertsType = IsSaid;
  if (!HasOwner)
    lend(Result, Call, lenders(Call->getArg(0)));
  E.Result = Result;
  emit(std::move(E));
}

} // namespace torchtidy::model
