// A factory that is told the device makes its tensor on the CPU, and the tensor
// is moved behind it.
#include "Calls.h"
#include "Operators.h"

using namespace clang;

namespace torchtidy::mutation {

namespace {

bool isOptions(QualType Type) {
  return derivesFrom(Type, "c10::TensorOptions");
}

/// What options lose, and where the tensor goes then.
struct Dropped {
  std::vector<Edit> Edits;
  std::string Device;
};

/// `options.device(d)` and `torch::device(d)` in the chain of calls that make
/// the options; `x.options()` keeps its type.
std::optional<Dropped> dropFromOptions(const Program &Whole, const Expr *E) {
  E = plain(E)->IgnoreUnlessSpelledInSource();
  const auto *Call = dyn_cast<CallExpr>(E);
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  if (!Callee || !Callee->getIdentifier())
    return std::nullopt;
  llvm::StringRef Name = Callee->getName();
  const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
  const Expr *Device = Name == "device" && writtenArguments(Call) == 1
                           ? deviceOf(Call->getArg(0))
                           : nullptr;
  std::optional<Edit> Change;
  if (Method && isOptions(Method->getObjectType())) {
    if (!Device)
      return dropFromOptions(Whole, Method->getImplicitObjectArgument());
    Change = withoutCall(Whole, Method);
  } else if (Method && isOfTensor(Method) && Name == "options") {
    auto Where = Whole.piece(Method->getExprLoc());
    std::string Of =
        Whole.text(Method->getImplicitObjectArgument()->getSourceRange());
    if (Where && !Of.empty())
      return Dropped{{{*Where, "dtype"}}, Of + ".device()"};
    return std::nullopt;
  } else if (!Method && Device) {
    if (auto Where = Whole.piece(Call->getSourceRange()))
      Change = Edit{*Where, "torch::TensorOptions()"};
  }
  if (!Change)
    return std::nullopt;
  return Dropped{{*Change}, Whole.text(Device->getSourceRange())};
}

bool isOptionsArgument(const CallExpr *Call, unsigned Index) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  return Index < Callee->getNumParams() &&
         isOptions(Callee->getParamDecl(Index)->getType()) &&
         !isa<CXXDefaultArgExpr>(Call->getArg(Index));
}

std::optional<unsigned> optionsOf(const CallExpr *Call) {
  if (isa<CXXMemberCallExpr>(Call))
    return std::nullopt;
  for (unsigned I = 0; I < Call->getNumArgs(); ++I)
    if (isOptionsArgument(Call, I))
      return I;
  return std::nullopt;
}

void add(const Program &Whole, std::vector<const CallExpr *> Calls,
         Dropped Change, std::vector<Mutation> &Out) {
  std::vector<Piece> Expected;
  for (const CallExpr *Call : Calls) {
    auto Move = behind(Whole, Call, ".to(" + Change.Device + ")");
    auto Where = Whole.piece(Call->getSourceRange());
    if (!Move || !Where)
      return;
    Change.Edits.push_back(*Move);
    Expected.push_back(*Where);
  }
  if (Change.Device.empty())
    return;
  Out.push_back({"factory-device",
                 {"torch-allocate-on-device"},
                 Expected.front(),
                 "made on the CPU and moved to the device",
                 std::move(Change.Edits),
                 std::move(Expected)});
}

/// Options in a variable that only factories are given: it loses the device,
/// and all that they make is moved.
void dropFromVariable(const Program &Whole, const DeclStmt *Declaration,
                      const Function &In, std::vector<Mutation> &Out) {
  const auto *Variable = Declaration->isSingleDecl()
                             ? dyn_cast<VarDecl>(Declaration->getSingleDecl())
                             : nullptr;
  if (!Variable || !Variable->getInit() || !isOptions(Variable->getType()))
    return;
  auto Change = dropFromOptions(Whole, Variable->getInit());
  if (!Change)
    return;
  std::vector<const CallExpr *> Calls;
  for (const Use &Each : Whole.uses(Variable)) {
    const auto *Call = Each.In->enclosing<CallExpr>(Each.Node);
    auto Index = Call && factory(Call) ? optionsOf(Call) : std::nullopt;
    if (Each.In != &In || !Index ||
        placeOf(Call->getArg(*Index)->IgnoreUnlessSpelledInSource()) !=
            Variable)
      return;
    Calls.push_back(Call);
  }
  if (llvm::any_of(Calls, [&](const CallExpr *C) {
        return !isMadeOnce(In, C) && !isBesideTraining(In, C);
      }))
    add(Whole, Calls, *Change, Out);
}

} // namespace

void moveAfterFactories(const Program &Whole, std::vector<Mutation> &Out) {
  for (const Function &In : Whole.functions())
    forEach(In.body(), [&](const Stmt *S) {
      if (const auto *Declaration = dyn_cast<DeclStmt>(S))
        dropFromVariable(Whole, Declaration, In, Out);
      const auto *Call = dyn_cast<CallExpr>(S);
      if (!Call || !factory(Call) || isMadeOnce(In, Call) ||
          isBesideTraining(In, Call))
        return;
      auto Index = optionsOf(Call);
      if (!Index)
        return;
      const Expr *Options = Call->getArg(*Index);
      if (const Expr *Device = deviceOf(Options)) {
        if (auto Change = withoutArgument(Whole, Call, *Index))
          add(Whole, {Call}, {{*Change}, Whole.text(Device->getSourceRange())},
              Out);
      } else if (auto Change = dropFromOptions(Whole, Options)) {
        add(Whole, {Call}, *Change, Out);
      }
    });
}

} // namespace torchtidy::mutation
