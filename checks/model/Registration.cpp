#include "model/Registration.h"
#include "flow/Names.h"
#include "torch/Types.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;
using torchtidy::torch::Api;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

/// The name that a registration is given, where it is a literal.
static std::optional<StringRef> literalName(const Event &E) {
  const auto *Call = dyn_cast<CallExpr>(E.Site);
  if (!Call || Call->getNumArgs() == 0)
    return std::nullopt;
  const auto *Literal = dyn_cast<StringLiteral>(stripCopies(Call->getArg(0)));
  if (!Literal || Literal->getCharByteWidth() != 1)
    return std::nullopt;
  return Literal->getString();
}

static bool isRegistration(const Event &E) {
  const StringRef Name = flow::calleeName(E.Site);
  return E.Kind == EventKind::Register &&
         (Name == "register_module" || Name == "register_parameter" ||
          Name == "register_buffer");
}

static bool leads(const Execution &Way, const Event &From, const Event &To) {
  return flow::mayReach(
             Way.points(), From.Point,
             [&](flow::Digraph::Node N) { return N == To.Point; },
             [](flow::Digraph::Node) { return false; })
      .has_value();
}

/// In the block of a try statement of its function: the exception is expected
/// there.
static bool isTried(const Event &E) {
  const Stmt *Inner = E.Site;
  while (const Stmt *Around = E.In->Flow->parent(Inner)) {
    const auto *Try = dyn_cast<CXXTryStmt>(Around);
    if (Try && Inner == Try->getTryBlock())
      return true;
    Inner = Around;
  }
  return false;
}

std::vector<RepeatedName> repeatedNames(Program &Program) {
  std::vector<RepeatedName> Result;
  for (const auto &Way : Program.executions()) {
    std::vector<const Event *> Known;
    bool IsUnregistered = false;
    for (const Event &E : Way->events()) {
      IsUnregistered |= E.Kind == EventKind::Register &&
                        flow::calleeName(E.Site) == "unregister_module";
      if (isRegistration(E) && literalName(E) && E.Input.Refs.size() == 1)
        Known.push_back(&E);
    }
    if (IsUnregistered)
      continue;
    for (const Event *Again : Known)
      for (const Event *First : Known) {
        if (flow::calleeName(First->Site) != flow::calleeName(Again->Site) ||
            *literalName(*First) != *literalName(*Again) ||
            First->Input.Refs != Again->Input.Refs)
          continue;
        bool IsRepeated =
            First != Again && Way->comesBefore(First->Point, Again->Point);
        if (First == Again)
          for (const flow::Loop *Around : Way->loopsAround(Again->Point)) {
            const std::optional<bool> Outlives =
                Way->outlives(Again->Input.Refs.front(), *Around);
            IsRepeated |= Outlives && *Outlives;
          }
        if (IsRepeated && !isTried(*Again)) {
          Result.push_back({Way.get(), First, Again, *literalName(*Again)});
          break;
        }
      }
  }
  return Result;
}

std::vector<ReassignedMember> reassignedMembers(Program &Program) {
  std::vector<ReassignedMember> Result;
  for (const auto &Way : Program.executions())
    for (const Event &E : Way->events()) {
      if (E.Kind != EventKind::Replace)
        continue;
      const bool IsMended = llvm::any_of(Way->events(), [&](const Event &Next) {
        return Next.Kind == EventKind::Register && leads(*Way, E, Next);
      });
      if (IsMended)
        continue;
      const bool IsTensor = torch::isTensor(E.Operand->getType());
      Result.push_back({Way.get(), &E,
                        !IsTensor             ? ReassignedMember::Module
                        : E.Input.needsGrad() ? ReassignedMember::Tensor
                                              : ReassignedMember::Buffer});
    }
  return Result;
}

} // namespace torchtidy::model
