#include "model/semantics/GradMode.h"
#include "ast/Walk.h"
#include "model/semantics/Conditions.h"

using namespace clang;
using torchtidy::torch::TypeKind;

namespace torchtidy::model::gradmode {

bool isGuard(TypeKind Kind) {
  return Kind == TypeKind::NoGradGuard || Kind == TypeKind::GradModeGuard;
}

bool declaresGuard(const FunctionDecl *F) {
  auto Declares = [](const Stmt *Part) {
    const auto *Declared = dyn_cast<DeclStmt>(Part);
    return Declared && llvm::any_of(Declared->decls(), [](const Decl *D) {
             const auto *V = dyn_cast<VarDecl>(D);
             return V && isGuard(torch::kindOf(V->getType()));
           });
  };
  return ast::anyStmt(F->getBody(), Declares, ast::Lambdas::Enter);
}

/// The mode that is in force after somebody has asked for Wanted. Only
/// InferenceMode(false) ends InferenceMode.
static uint8_t within(uint8_t Before, uint8_t Wanted) {
  return Before & mode::Inference ? uint8_t(mode::Off | mode::Inference)
                                  : Wanted;
}

static uint8_t modeFor(std::optional<bool> IsOn) {
  return !IsOn ? mode::On | mode::Off : *IsOn ? mode::On : mode::Off;
}

void construct(Machine &M, const CXXRecordDecl *Class, PlaceId Guard,
               llvm::ArrayRef<const Expr *> Arguments) {
  const Expr *First = Arguments.empty() ? nullptr : Arguments.front();
  const bool IsInference = torch::isInferenceMode(Class);
  uint8_t Mode;
  if (torch::kindOf(Class) == TypeKind::NoGradGuard) {
    // NoGradGuard(), InferenceMode(bool enabled = true).
    const std::optional<bool> IsEnabled = boolAt(First, true);
    Mode = modeFor(IsEnabled ? std::optional(!*IsEnabled) : std::nullopt);
    if (IsInference && Mode == mode::Off)
      Mode |= mode::Inference;
  } else {
    // AutoGradMode(bool enabled).
    std::optional<bool> IsOn = First ? boolAt(First, true) : std::nullopt;
    if (First && !IsOn)
      IsOn = conditions::known(M, First);
    Mode = modeFor(IsOn);
  }
  const uint8_t Before = M.state().GradMode;
  Value Saved;
  Saved.Mode = Before;
  M.store(Guard, Saved);
  M.state().GradMode = IsInference ? Mode : within(Before, Mode);
}

static void restore(Machine &M, PlaceId P) {
  // Modules keep their own mode in the same slot.
  const PlaceTable &Places = M.places();
  const QualType Type = Places.typeOf(P);
  if (!Type.isNull() && torch::isModule(Type))
    return;
  if (const Value *V = M.state().find(P))
    if (V->Mode && V->History == 0)
      M.state().GradMode = V->Mode;
  for (PlaceId Child : Places.children(P))
    restore(M, Child);
}

void destroy(Machine &M, PlaceId P, bool Owned) {
  restore(M, P);
  if (!Owned)
    return;
  if (const Value *Held = M.state().find(P))
    for (PlaceId Target : PlaceSet(Held->Refs))
      if (M.places().rootKind(Target) == Root::Object)
        restore(M, Target);
}

void enterThread(Machine &M, PlaceId Saved) {
  Value V;
  V.Mode = M.state().GradMode;
  M.store(Saved, V);
  // Grad mode is thread-local and starts at its default.
  M.state().GradMode = mode::On;
}

void leaveThread(Machine &M, PlaceId Saved) {
  if (const Value *V = M.state().find(Saved))
    M.state().GradMode = V->Mode;
}

Denotation set(Machine &M, const CallSite &Site) {
  const std::optional<bool> IsOn = boolAt(Site.first(), true);
  uint8_t &Mode = M.state().GradMode;
  // Where the argument is not known, what was may still be.
  Mode = within(Mode, IsOn ? modeFor(IsOn) : Mode | modeFor(IsOn));
  return {};
}

} // namespace torchtidy::model::gradmode
