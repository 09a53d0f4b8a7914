#include "model/semantics/GradMode.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "model/semantics/Conditions.h"
#include "torch/Members.h"

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
  if (!(Before & mode::Inference))
    return Wanted;
  const uint8_t Kept = mode::Off | mode::Inference;
  return Before & ~Kept ? uint8_t(Kept | Wanted) : Kept;
}

static uint8_t modeFor(std::optional<bool> IsOn) {
  return !IsOn ? mode::On | mode::Off : *IsOn ? mode::On : mode::Off;
}

/// F, which declares V, gives it a value once: what it holds is not mixed with
/// something that says nothing of grad mode.
static bool isSetOnce(const VarDecl *V, const FunctionDecl *F) {
  unsigned Values = V->getInit() ? 1 : 0;
  ast::forEachStmt(
      F->getBody(),
      [&](const Stmt *S) {
        const auto *Assign = dyn_cast<BinaryOperator>(S);
        const auto *Target =
            Assign && Assign->isAssignmentOp()
                ? dyn_cast<DeclRefExpr>(ast::strip(Assign->getLHS()))
                : nullptr;
        Values += Target && Target->getDecl() == V;
      },
      ast::Lambdas::Enter);
  return Values <= 1;
}

std::optional<uint8_t> asked(Machine &M, const Expr *IsOn) {
  std::optional<bool> Constant = ast::boolAt(IsOn, true);
  if (!Constant)
    Constant = conditions::known(M, IsOn);
  if (Constant)
    return modeFor(Constant);
  const Expr *Said = ast::strip(IsOn);
  if (!isa<DeclRefExpr, MemberExpr, CallExpr>(Said))
    return std::nullopt;
  const auto *Ref = dyn_cast<DeclRefExpr>(Said);
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  const Frame *Owner =
      V && V->isLocalVarDecl() ? Supergraph::owner(M.frame(), V) : nullptr;
  if (Owner && !isSetOnce(V, Owner->Function))
    return std::nullopt;
  const uint8_t Saved = M.deepValue(IsOn).Mode;
  return Saved ? std::optional(Saved) : std::nullopt;
}

static void change(Machine &M, const Expr *Site, GradModeBy By, uint8_t Mode,
                   std::optional<PlaceId> Guard = std::nullopt) {
  M.emit<GradModeChangeEvent>(Site, [&](GradModeChangeEvent &E) {
    E.By = By;
    E.Mode = Mode;
    E.Guard = Guard;
  });
  M.state().GradMode = Mode;
}

Denotation inForce(Machine &M) {
  const uint8_t Mode = M.state().GradMode;
  Denotation Result;
  // InferenceMode switches grad mode off.
  Result.Own.Mode = Mode & ~mode::Inference;
  return Result;
}

void construct(Machine &M, const Expr *Site, const CXXRecordDecl *Class,
               PlaceId Guard, llvm::ArrayRef<const Expr *> Arguments) {
  const Expr *First = Arguments.empty() ? nullptr : Arguments.front();
  const bool IsInference = torch::isInferenceMode(Class);
  uint8_t Mode;
  if (torch::kindOf(Class) == TypeKind::NoGradGuard) {
    // NoGradGuard(), InferenceMode(bool enabled = true).
    const std::optional<bool> IsEnabled = ast::boolAt(First, true);
    Mode = modeFor(IsEnabled ? std::optional(!*IsEnabled) : std::nullopt);
    if (IsInference && Mode == mode::Off)
      Mode |= mode::Inference;
  } else {
    // AutoGradMode(bool enabled).
    const std::optional<uint8_t> Wanted =
        First ? asked(M, First) : std::nullopt;
    Mode = Wanted.value_or(modeFor(std::nullopt));
  }
  const uint8_t Before = M.state().GradMode;
  Value Saved;
  Saved.Mode = Before;
  M.store(Guard, Saved);
  change(M, Site, GradModeBy::GuardBegins,
         IsInference ? Mode : within(Before, Mode), Guard);
}

/// A guard, or what holds one: unique_ptr, optional, an array.
static bool mayBeGuard(QualType Type) {
  if (Type.isNull())
    return true;
  return Type->isArrayType() || torch::kindOf(Type) == TypeKind::Container ||
         isGuard(torch::kindOf(Type)) ||
         isGuard(torch::kindOf(torch::pointee(Type)));
}

static void restore(Machine &M, PlaceId P) {
  // Modules keep their own mode in the same slot, and so does a bool that says
  // which grad mode was in force.
  const PlaceTable &Places = M.places();
  const QualType Known = Places.knownType(P);
  if (!Known.isNull() && torch::isModule(Known))
    return;
  const QualType Type = Places.typeOf(P);
  if (const Value *V = M.state().find(P); V && mayBeGuard(Type))
    if (V->Mode && V->History == 0)
      change(M, nullptr, GradModeBy::GuardEnds, V->Mode, P);
  for (PlaceId Child : Places.children(P))
    restore(M, Child);
}

/// A plain pointer owns nothing: what it leads to ends with delete, or never.
static bool isPlainPointer(Machine &M, PlaceId P) {
  const QualType Type = M.places().typeOf(P);
  return !Type.isNull() && Type->isPointerType();
}

/// A guard, as its type says.
static bool isKnownGuard(Machine &M, PlaceId P) {
  const QualType Type = M.places().typeOf(P);
  return !Type.isNull() && isGuard(torch::kindOf(Type));
}

/// Parts of P lead to much that is no guard, and what a module consists of has
/// a mode too: of those only what is a guard for certain.
static void restoreOwned(Machine &M, PlaceId P, bool IsPart = false) {
  if (const Value *Held = M.state().find(P); Held && !isPlainPointer(M, P))
    for (PlaceId Target : PlaceSet(Held->Refs))
      if (M.places().rootKind(Target) == Root::Object &&
          (!IsPart || isKnownGuard(M, Target)))
        restore(M, Target);
  for (PlaceId Child : M.places().children(P))
    restoreOwned(M, Child, /*IsPart=*/true);
}

void destroy(Machine &M, PlaceId P, bool Owned) {
  restore(M, P);
  if (Owned)
    restoreOwned(M, P);
}

void enterProgram(Machine &M) {
  for (const VarDecl *V : M.code().functions().globals()) {
    const auto *Made =
        V->getTSCSpec() == TSCS_unspecified &&
                isGuard(torch::kindOf(V->getType()))
            ? dyn_cast<CXXConstructExpr>(ast::strip(V->getInit()))
            : nullptr;
    if (Made)
      construct(M, Made, Made->getConstructor()->getParent(), M.placeOf(V),
                llvm::SmallVector<const Expr *, 2>(Made->arguments()));
  }
}

void enterThread(Machine &M, PlaceId Saved, bool OrStays) {
  Value V;
  V.Mode = M.state().GradMode;
  M.store(Saved, V);
  // Grad mode is thread-local and starts at its default.
  change(M, nullptr, GradModeBy::Thread,
         OrStays ? uint8_t(V.Mode | mode::On) : uint8_t(mode::On));
}

void leaveThread(Machine &M, PlaceId Saved) {
  if (const Value *V = M.state().find(Saved))
    change(M, nullptr, GradModeBy::Thread, V->Mode);
}

Denotation set(Machine &M, const CallSite &Site) {
  const std::optional<uint8_t> Wanted = asked(M, Site.first());
  const uint8_t Before = M.state().GradMode;
  // Where the argument is not known, what was may still be.
  change(M, Site.Call, GradModeBy::Set,
         within(Before, Wanted.value_or(Before | modeFor(std::nullopt))));
  return {};
}

} // namespace torchtidy::model::gradmode
