#include "queries/loops/Epochs.h"
#include "ast/Expressions.h"
#include "queries/loops/LoopCounters.h"
#include "queries/loops/TripCount.h"
#include "queries/paths/Calls.h"
#include "torch/Api.h"
#include "torch/Elements.h"
#include "torch/Factories.h"
#include "torch/Shapes.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "torch/Views.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace torchtidy::model {

using flow::Loop;

/// Of a range loop whose elements have tensors in them: what it goes through.
/// An object of the user's has other elements where the code of Outer changes
/// what it consists of.
static const Expr *rangeOfBatches(const Execution &Entry, const Loop &Inner,
                                  const Loop &Outer) {
  const auto *Range =
      dyn_cast_or_null<CXXForRangeStmt>(Entry.loopStatement(Inner));
  if (!Range || !torch::mayHoldTensor(
                    Range->getLoopVariable()->getType().getNonReferenceType()))
    return nullptr;
  const CXXRecordDecl *Class =
      torch::recordOf(Range->getRangeInit()->getType().getNonReferenceType());
  Class = Class ? Class->getDefinition() : nullptr;
  LoopChanges Changes(Entry);
  if (Class && !torch::isLibTorch(Class) && !torch::isStd(Class) &&
      (Class->getNumBases() ||
       llvm::any_of(Class->fields(), [&](const FieldDecl *Field) {
         return Changes.isChanged(Field, Outer);
       })))
    return nullptr;
  return Range->getRangeInit();
}

/// Directly in Inner some calls take parts of tensors, and each of these
/// IsSame.
static bool takesTheSame(
    const Execution &Entry, const Loop &Inner,
    llvm::function_ref<bool(const torch::Operation &, const CallAt &)> Takes,
    llvm::function_ref<bool(const CallAt &)> IsSame) {
  bool Found = false;
  for (const CallAt &At : callsOf(Entry)) {
    const torch::Operation *Op = torch::classify(At.Call).Op;
    if (!Op || Entry.loopsAround(At.Point).empty() ||
        Entry.loopsAround(At.Point).back() != &Inner || !Takes(*Op, At))
      continue;
    if (!IsSame(At))
      return false;
    Found = true;
  }
  return Found;
}

/// Inner counts, and its counter says which part of tensors each iteration
/// takes (x.narrow(0, at, size)): the same parts of the same ones again,
/// whichever iteration of Outer it is.
static bool goesOverSlices(const Execution &Entry, Invariance &Same,
                           const Loop &Inner, const Loop &Outer) {
  const auto *For = dyn_cast_or_null<ForStmt>(Entry.loopStatement(Inner));
  if (!For || !For->getCond() ||
      !Same.isSameElementAgain(For->getCond(), Entry.segment(Inner.Header).In,
                               Outer))
    return false;
  LoopCounters Counters(Entry);
  return takesTheSame(
      Entry, Inner,
      [&](const torch::Operation &Op, const CallAt &At) {
        return (torch::choosesRange(Op) || torch::choosesPosition(Op)) &&
               llvm::any_of(ast::argumentsOf(At.Call),
                            [&](const Expr *Argument) {
                              return Counters.follows(Argument, At.In, Inner);
                            });
      },
      [&](const CallAt &At) {
        return Same.isSameElementAgain(At.Call, At.In, Outer);
      });
}

/// randperm(n).split(size), also by the name of a constant: numbers of rows,
/// all of them in whatever order.
static bool areRows(const Expr *Range) {
  const auto *Parts = dyn_cast<CXXMemberCallExpr>(ast::stripCopies(Range));
  const torch::Operation *Op = Parts ? torch::classify(Parts).Op : nullptr;
  if (!Op || !torch::splits(*Op))
    return false;
  const Expr *Rows = ast::stripCopies(Parts->getImplicitObjectArgument());
  if (const auto *Ref = dyn_cast<DeclRefExpr>(Rows))
    if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
        V && V->getType().isConstQualified() && V->getInit())
      Rows = ast::stripCopies(V->getInit());
  const auto *Made = dyn_cast<CallExpr>(Rows);
  const torch::Operation *Maker = Made ? torch::classify(Made).Op : nullptr;
  return Maker && torch::makesList(*Maker);
}

/// E names V, or is a parameter that gets it.
static bool isGiven(const Expr *E, const Frame *In, const VarDecl *V) {
  const auto *Ref = dyn_cast<DeclRefExpr>(ast::stripCopies(E));
  if (!Ref || Ref->getDecl() == V)
    return Ref != nullptr;
  const auto *Parameter = dyn_cast<ParmVarDecl>(Ref->getDecl());
  const Supergraph::Passed Given =
      Parameter ? Supergraph::passed(In, Parameter) : Supergraph::Passed();
  return Given.Argument && isGiven(Given.Argument, Given.To->Caller, V);
}

/// x.index_select(0, rows), x.index({rows, Slice()})
static bool takes(const torch::Operation &Op, const CallAt &At,
                  const VarDecl *Rows) {
  const auto Is = [&](const Expr *E) { return isGiven(E, At.In, Rows); };
  return torch::isIndexing(Op)
             ? llvm::any_of(torch::tensorIndices(At.Call), Is)
             : torch::rearranges(Op) &&
                   llvm::any_of(ast::argumentsOf(At.Call), Is);
}

/// Inner goes over numbers of rows, and takes these rows of the same tensors
/// (x.index_select(0, rows)).
static bool goesOverRows(const Execution &Entry, Invariance &Same,
                         const Loop &Inner, const Loop &Outer) {
  const auto *Range =
      dyn_cast_or_null<CXXForRangeStmt>(Entry.loopStatement(Inner));
  return Range && areRows(Range->getRangeInit()) &&
         takesTheSame(
             Entry, Inner,
             [&](const torch::Operation &Op, const CallAt &At) {
               return takes(Op, At, Range->getLoopVariable());
             },
             [&](const CallAt &At) {
               return Same.hasSameContent(ast::firstOperand(At.Call), At.In,
                                          Outer);
             });
}

/// What L counts says more than which iteration it is: an operation, a module
/// or unseen code gets it.
static bool countsForTraining(const Execution &Entry, const Loop &L) {
  LoopCounters Counters(Entry);
  const auto TakesCounter = [&](const CallAt &At) {
    const FunctionDecl *Callee = At.Call->getDirectCallee();
    if (!L.contains(At.Point) || torch::printsText(At.Call) ||
        (Callee && !torch::isLibTorch(Callee) &&
         (torch::isStd(Callee) || Entry.code().functions().definition(Callee))))
      return false;
    return llvm::any_of(At.Call->arguments(), [&](const Expr *Argument) {
      return Counters.follows(Argument, At.In, L);
    });
  };
  return llvm::any_of(callsOf(Entry), TakesCounter);
}

bool areEpochs(const Execution &Entry, Invariance &Same, const Loop &Outer,
               const Loop &Inner) {
  const auto Around = Entry.loopsAround(Inner.Header);
  if (Around.size() < 2 || Around.back() != &Inner ||
      Around[Around.size() - 2] != &Outer ||
      !isa_and_nonnull<ForStmt>(Entry.loopStatement(Outer)) ||
      runsForObjects(Entry, Outer) || mostTrips(Entry, Outer).value_or(2) < 2)
    return false;
  const bool GoesBackward =
      llvm::any_of(Entry.events<BackwardEvent>(), [&](const auto &E) {
        return Entry.loopsAround(E.Point).back() == &Inner;
      });
  if (!GoesBackward || countsForTraining(Entry, Outer))
    return false;
  if (goesOverRows(Entry, Same, Inner, Outer))
    return true;
  if (const Expr *Batches = rangeOfBatches(Entry, Inner, Outer))
    return Same.hasSameContent(Batches, Entry.segment(Inner.Header).In, Outer);
  return goesOverSlices(Entry, Same, Inner, Outer);
}

} // namespace torchtidy::model
