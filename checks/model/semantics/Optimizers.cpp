#include "model/semantics/Optimizers.h"
#include "ast/Walk.h"
#include "model/domains/saved/Transfer.h"
#include "model/semantics/Modules.h"

using namespace clang;

namespace torchtidy::model::optimizers {

/// The tensors, and what holds some, that an optimizer is given.
static void collectTensors(const Expr *E,
                           llvm::SmallVectorImpl<const Expr *> &Result,
                           unsigned Depth = 0) {
  E = E ? ast::strip(E) : nullptr;
  if (!E || Depth > 12 || isa<LambdaExpr, CXXDefaultArgExpr>(E))
    return;
  const bool IsNamed = isa<DeclRefExpr, MemberExpr, CallExpr>(E);
  if (IsNamed && torch::mayHoldTensor(E->getType()))
    Result.push_back(E);
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    // std::vector<Tensor> weights = {a, b};
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    if (V && V->hasLocalStorage() && V->getInit() && !isa<ParmVarDecl>(V) &&
        !torch::isTensor(V->getType()) && Depth < 4)
      collectTensors(V->getInit(), Result, Depth + 1);
    return;
  }
  if (IsNamed)
    return;
  for (const Stmt *Child : E->children())
    if (const auto *Part = dyn_cast_or_null<Expr>(Child))
      collectTensors(Part, Result, Depth + 1);
}

static void emitGiven(Machine &M, const Expr *Site, const PlaceSet &Optimizers,
                      const Expr *Given) {
  if (!M.isRecording())
    return;
  llvm::SmallVector<const Expr *, 8> Tensors;
  collectTensors(Given, Tensors);
  for (const Expr *Tensor : Tensors)
    M.emit<AddParametersEvent>(Site, [&](AddParametersEvent &E) {
      E.Operand = Tensor;
      E.Optimizers = Optimizers;
      E.Given = M.deepValue(Tensor);
    });
}

void construct(Machine &M, const Expr *Site, PlaceId P,
               llvm::ArrayRef<const Expr *> Arguments) {
  if (Arguments.empty())
    return;
  emitGiven(M, Site, {P}, Arguments.front());
  Value Trained = Value::withHistory(history::Leaf);
  // An iterator leads to elements, and these to what they are handles to.
  Trained.Refs = M.pointees(M.deepValue(Arguments.front()).Refs);
  if (!Trained.Refs.empty())
    M.state().Places[M.places().parameters(P)] = std::move(Trained);
}

/// What the optimizers, or modules, were given to train.
static PlaceSet trainedBy(Machine &M, const PlaceSet &Owners) {
  PlaceSet Result;
  for (PlaceId P : Owners)
    if (const Value *Trained = M.state().find(M.places().parameters(P)))
      insert(Result, Trained->Refs);
  for (PlaceId P : PlaceSet(Result))
    if (M.places().hasStep(P, Step::Parameters))
      for (PlaceId Part : M.withParts({M.places().owner(P)}))
        insert(Result, M.parametersOf(Part));
  return Result;
}

Denotation step(Machine &M, const CallSite &Site) {
  const PlaceSet Optimizers =
      Site.Object ? M.identity(Site.Object) : PlaceSet();
  M.emit<StepEvent>(Site.Call, [&](StepEvent &E) {
    E.Optimizers = Optimizers;
    E.Trained = trainedBy(M, Optimizers);
    E.HasClosure = Site.written(0);
  });
  saved::step(M, Site.Call, trainedBy(M, Optimizers));
  return {};
}

namespace {

/// Reads of gradients that an expression is computed from.
class GradientReads {
public:
  struct Read {
    const Expr *Site;
    /// The tensors.
    PlaceSet Of;
  };
  llvm::SmallVector<Read, 2> Found;

  explicit GradientReads(Machine &M) : M(M) {}

  void look(const Expr *E) {
    if (!E || Hops > 4)
      return;
    ++Hops;
    auto Look = [&](const Stmt *S, llvm::ArrayRef<const Stmt *>) {
      if (const auto *Ref = dyn_cast<DeclRefExpr>(S))
        lookBehind(dyn_cast<VarDecl>(Ref->getDecl()));
      const auto *Call = dyn_cast<CallExpr>(S);
      const Expr *Object = Call ? ast::objectOf(Call) : nullptr;
      if (!Object || torch::classify(Call).Kind != torch::Api::GradAccess)
        return ast::Next::Children;
      Found.push_back({Call, places(Object)});
      return ast::Next::Past;
    };
    ast::walk(E, Look, ast::Lambdas::Skip);
    --Hops;
  }

  /// What E is a handle to, or looks at.
  PlaceSet places(const Expr *E) const {
    const Denotation D = M.denote(E);
    PlaceSet Result = D.Own.Refs;
    if (Result.empty())
      Result = D.Objects;
    insert(Result, D.Own.ViewOf);
    return M.pointees(Result);
  }

private:
  /// auto g = w.grad();
  void lookBehind(const VarDecl *V) {
    if (!V || !torch::isTensor(V->getType()))
      return;
    const auto *Parameter = dyn_cast<ParmVarDecl>(V);
    if (!Parameter)
      return look(V->getInit());
    const Supergraph::Passed Given = Supergraph::passed(M.frame(), Parameter);
    if (!Given.Argument)
      return;
    Machine::InFrame Caller(M, Given.To->Caller);
    look(Given.Argument);
  }

  Machine &M;
  unsigned Hops = 0;
};

} // namespace

/// What an optimizer of the user's does in its step() is that step.
static bool isInStep(const Frame *F) {
  for (; F; F = F->Caller)
    if (torch::classify(F->Function).Kind == torch::Api::OptimizerStep)
      return true;
  return false;
}

void stepByHand(Machine &M, const Expr *Site, const Expr *Target,
                llvm::ArrayRef<const Expr *> Operands) {
  if (!M.isRecording() || isInStep(M.frame()))
    return;
  GradientReads Reads(M);
  const PlaceSet Written = Reads.places(Target);
  for (const Expr *Operand : Operands)
    Reads.look(Operand);
  for (const GradientReads::Read &Read : Reads.Found) {
    PlaceSet Trained;
    for (PlaceId P : Read.Of)
      if (llvm::is_contained(Written, P))
        insert(Trained, P);
    if (Trained.empty())
      continue;
    M.emit<StepEvent>(Site, [&](StepEvent &E) {
      E.Trained = Trained;
      E.Gradient = Read.Site;
    });
    return;
  }
}

Denotation zeroGrad(Machine &M, const CallSite &Site) {
  const PlaceSet Owners = Site.self(M);
  M.emit<ZeroGradEvent>(Site.Call, [&](ZeroGradEvent &E) {
    E.Cleared = Owners;
    E.Trained = trainedBy(M, Owners);
    insert(E.Trained, M.withParts(Owners));
    if (ast::boolAt(Site.written(0), true) == false)
      E.InPlace = Site.written(0);
  });
  return {};
}

Denotation add(Machine &M, const CallSite &Site) {
  const Expr *Given = Site.first();
  if (!Site.Object || !Given)
    return {};
  const PlaceSet Optimizers = M.identity(Site.Object);
  emitGiven(M, Site.Call, Optimizers, Given);
  const Value Added = Value::handle(M.pointees(M.deepValue(Given).Refs));
  for (PlaceId P : Optimizers)
    M.state().Places[M.places().parameters(P)].join(Added);
  return {};
}

Denotation parameters(Machine &M, const CallSite &Site) {
  // A group leads to the same parameters as its optimizer.
  PlaceSet Through;
  if (Site.Object)
    for (PlaceId P : Site.self(M))
      if (M.places().hasStep(P, Step::Parameters))
        insert(Through, P);
  if (Through.empty())
    return modules::parameters(M, Site);
  Denotation Result;
  Result.Own = Value::handle(Through);
  Result.Own.History = history::Leaf;
  return Result;
}

} // namespace torchtidy::model::optimizers
