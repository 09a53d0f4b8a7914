#include "memory/UntrackedCudaMemory.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "model/icfg/Bodies.h"
#include "queries/paths/Calls.h"
#include "queries/paths/Uses.h"
#include "torch/Api.h"
#include "torch/RawMemory.h"

using namespace clang;

namespace torchtidy::model {

/// The variable whose address E takes: &p.
static const VarDecl *addressed(const Expr *E) {
  const auto *Address = dyn_cast_or_null<UnaryOperator>(E);
  const auto *Ref =
      Address && Address->getOpcode() == UO_AddrOf
          ? dyn_cast<DeclRefExpr>(ast::strip(Address->getSubExpr()))
          : nullptr;
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return V && V->hasLocalStorage() && !isa<ParmVarDecl>(V) &&
                 V->getType()->isPointerType()
             ? V
             : nullptr;
}

namespace {

/// What a function does with a pointer, besides reading what it leads to.
class PointerUses {
public:
  PointerUses(const flow::ControlFlow &Flow, const VarDecl *V) : Flow(Flow) {
    for (const DeclRefExpr *Mention : mentionsOf(Flow, V))
      add(Mention);
  }

  /// Freed, or something else has the pointer as well.
  bool MayEnd = false;
  const CallExpr *Blob = nullptr;

private:
  void add(const DeclRefExpr *Mention) {
    const Stmt *Child = Mention, *S = Flow.parent(Mention);
    for (; S; Child = S, S = Flow.parent(S)) {
      if (const auto *Call = dyn_cast<CallExpr>(S))
        return addCall(Call, Mention);
      const auto *Unary = dyn_cast<UnaryOperator>(S);
      const auto *Binary = dyn_cast<BinaryOperator>(S);
      if (isa<ArraySubscriptExpr, IfStmt, WhileStmt>(S) ||
          (Unary &&
           (Unary->getOpcode() == UO_Deref || Unary->getOpcode() == UO_LNot)) ||
          (Binary && (Binary->isComparisonOp() || Binary->isLogicalOp() ||
                      isReset(Binary, Child))))
        return;
      const bool IsPart = isa<ParenExpr, CastExpr>(S) ||
                          (Unary && Unary->getOpcode() == UO_AddrOf) ||
                          (Binary && Binary->isAdditiveOp());
      if (!IsPart)
        break;
    }
    MayEnd = true;
  }

  /// p = nullptr
  bool isReset(const BinaryOperator *Assign, const Stmt *Target) const {
    return Assign->getOpcode() == BO_Assign && Assign->getLHS() == Target &&
           Assign->getRHS()->isNullPointerConstant(
               Flow.function()->getASTContext(),
               Expr::NPC_ValueDependentIsNotNull);
  }

  void addCall(const CallExpr *Call, const DeclRefExpr *Mention) {
    if (addressed(torch::rawTarget(Call)) == Mention->getDecl() ||
        torch::onlyCopiesRaw(Call->getDirectCallee()))
      return;
    const torch::Operation *Op = torch::classify(Call).Op;
    if (Op && torch::isFromBlob(*Op) && !torch::hasDeleter(Call))
      Blob = Call;
    else
      MayEnd = true;
  }

  const flow::ControlFlow &Flow;
};

} // namespace

/// cudaFree(t.data_ptr()): whose memory that is cannot be told.
static bool freesUnnamed(Program &Program) {
  bool Found = false;
  const auto Look = [&](const Stmt *S) {
    Found = Found || ast::anyStmt(
                         S,
                         [](const Stmt *Part) {
                           const auto *Call = dyn_cast<CallExpr>(Part);
                           const Expr *Freed =
                               Call ? torch::rawFreed(Call) : nullptr;
                           return Freed && !named(Freed);
                         },
                         ast::Lambdas::Enter);
  };
  forEachBody(Program.code().functions(), Look,
              [&](const CXXCtorInitializer &Init) { Look(Init.getInit()); });
  return Found;
}

static std::optional<UntrackedMemory> untrackedMemoryAt(const Execution &Entry,
                                                        const CallAt &At) {
  const Expr *Target = torch::rawTarget(At.Call);
  const VarDecl *V = addressed(Target);
  const flow::ControlFlow *Flow = At.In->Flow;
  if (!V || !Flow || V->getDeclContext() != Flow->function())
    return std::nullopt;
  const PointerUses Uses(*Flow, V);
  if (Uses.MayEnd)
    return std::nullopt;
  const auto Around = Entry.loopsAround(At.Point);
  // The end of the program frees it.
  if (!Uses.Blob && Around.empty() && At.In->Function->isMain())
    return std::nullopt;
  return UntrackedMemory{&Entry,    At.Call,
                         V,         At.In,
                         Uses.Blob, Around.empty() ? nullptr : Around.back()};
}

std::vector<UntrackedMemory> untrackedMemory(Program &Program) {
  std::vector<UntrackedMemory> Result;
  std::optional<bool> FreesUnnamed;
  for (const Execution *Entry : Program.executionsThatCost())
    for (const CallAt &At : callsOf(*Entry))
      if (auto Found = untrackedMemoryAt(*Entry, At)) {
        if (!FreesUnnamed)
          FreesUnnamed = freesUnnamed(Program);
        if (!Found->Blob || !*FreesUnnamed)
          Result.push_back(*Found);
      }
  return Result;
}

} // namespace torchtidy::model
