#include "training/PartialEvalMode.h"
#include "ast/Expressions.h"
#include "queries/graphs/UnusedGraphs.h"
#include "queries/modes/ModeDependence.h"
#include "queries/paths/Calls.h"
#include "queries/paths/Paths.h"
#include "torch/Types.h"
#include "training/EvalModeNotRestored.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;

namespace torchtidy::model {

const Expr *calledOn(const Expr *Call) {
  const Expr *E = Call;
  while (const auto *Each = dyn_cast_or_null<CallExpr>(E)) {
    E = ast::objectOf(Each);
    E = E ? ast::strip(E) : nullptr;
  }
  return E;
}

namespace {

using Declarations = llvm::SmallPtrSet<const ValueDecl *, 8>;

/// What the file does with modules, by the variable or member that has them.
struct ModuleUse {
  /// They are set to eval(), or nobody can tell.
  Declarations Evaluated;
  /// A pass that evaluates it, with the module in train mode.
  struct Evaluation {
    const Execution *Entry = nullptr;
    const ForwardEvent *Pass = nullptr;
  };
  llvm::DenseMap<const ValueDecl *, Evaluation> Passes;

  explicit ModuleUse(Program &Program) {
    for (const auto &Entry : Program.executions())
      add(*Entry);
  }

private:
  void add(const Execution &Entry) {
    const PlaceTable &Places = Entry.places();
    for (const ModeChangeEvent &Change : Entry.events<ModeChangeEvent>())
      if (Change.Mode & mode::Off)
        for (const PlaceSet *Set : {&Change.Modules, &Change.Parts})
          for (PlaceId P : *Set)
            Evaluated.insert(Places.declaration(P));
    for (const EscapeEvent &Escape : Entry.events<EscapeEvent>())
      for (const PlaceSet *Set : {&Escape.Places, &Escape.Given.Refs})
        for (PlaceId Given : *Set)
          for (PlaceId P : Places.all())
            if (Places.overlap(P, Given))
              Evaluated.insert(Places.declaration(P));
    for (const ForwardEvent &Forward : Entry.events<ForwardEvent>())
      if (Forward.Modules.size() == 1 && !(Forward.Mode & mode::Off) &&
          isEvaluation(Entry, Forward))
        Passes.try_emplace(Places.declaration(Forward.Modules.front()),
                           Evaluation{&Entry, &Forward});
  }

  /// For certain: nothing can train through it.
  static bool isEvaluation(const Execution &Entry, const ForwardEvent &Pass) {
    if (Entry.isInForward(Pass.In))
      return false;
    const uint8_t Off = mode::Off | mode::Inference;
    if (Pass.GradMode && !(Pass.GradMode & ~Off))
      return true;
    return !UsedChains::isUsed(Entry, Pass) && !leavesEntry(Entry, Pass);
  }
};

/// Two eval() of one module in one activation.
class PairQuery {
public:
  PairQuery(const Execution &Entry, const ModuleUse &InFile,
            const ModeChangeEvent &First, const ModeChangeEvent &Second)
      : Entry(Entry), InFile(InFile), First(First), Second(Second) {}

  std::optional<PartialEvalMode> run() const {
    if (!areOfOne() || isSeparated())
      return std::nullopt;
    PartialEvalMode Result;
    Result.Entry = &Entry;
    // What is loaded anew has forgotten the first.
    const bool IsAnew = llvm::any_of(Entry.events(), [&](const Event &E) {
      return isMaking(E) && concerns(E) && isBetween(E.Point);
    });
    Result.Needless = IsAnew ? &First : &Second;
    Result.Other = IsAnew ? &Second : &First;
    if (!findLeftOut(Result) && !findRunNext(Result))
      return std::nullopt;
    return Result;
  }

private:
  bool areOfOne() const {
    return First.In == Second.In && First.Site != Second.Site &&
           First.Mode == mode::Off && Second.Mode == mode::Off &&
           First.Modules.size() == 1 && First.Modules == Second.Modules &&
           !Entry.places().isSummary(First.Modules.front()) &&
           Entry.comesBefore(First.Point, Second.Point) &&
           Entry.loopsAround(First.Point) == Entry.loopsAround(Second.Point);
  }

  bool isBetween(flow::Digraph::Node N) const {
    return reaches(Entry, First.Point, N, {Second.Point}) &&
           reaches(Entry, N, Second.Point, {First.Point});
  }

  /// Something is run in between, or the mode set: each eval() has its use.
  bool isSeparated() const {
    return llvm::any_of(Entry.events<ForwardEvent>(),
                        [&](const auto &E) { return isBetween(E.Point); }) ||
           llvm::any_of(Entry.events<ModeChangeEvent>(), [&](const auto &E) {
             return (E.Mode & ~mode::Off) && isBetween(E.Point) &&
                    Entry.mayAlias(E.Parts, First.Parts);
           });
  }

  static const PlaceSet *madeBy(const Event &E) {
    if (const auto *Load = E.getAs<LoadEvent>())
      return &Load->Loaded;
    const auto *Create = E.getAs<CreateEvent>();
    return Create ? &Create->Objects : nullptr;
  }
  static bool isMaking(const Event &E) { return madeBy(E) != nullptr; }

  bool concerns(const Event &E) const {
    return Entry.mayAlias(*madeBy(E), First.Modules);
  }

  /// The last module that is made before it, in the same function, and that
  /// nothing in the file sets to eval().
  bool findLeftOut(PartialEvalMode &Result) const {
    Declarations All;
    for (const Event &E : Entry.events()) {
      if (!isMaking(E) || E.In != First.In ||
          !Entry.comesBefore(E.Point, Result.Needless->Point))
        continue;
      for (PlaceId P : *madeBy(E)) {
        std::string Part;
        if (!isLeftOut(P, Part))
          continue;
        All.insert(Entry.places().declaration(P));
        if (Result.Made && !Entry.comesBefore(Result.Made->Point, E.Point))
          continue;
        Result.Made = &E;
        Result.Part = std::move(Part);
        Result.LeftOut = Entry.places().declaration(P);
        Result.Pass = InFile.Passes.lookup(Result.LeftOut).Pass;
      }
    }
    Result.IsInReach =
        All.size() == 1 && isInReach(Result.LeftOut, Result.Needless->Site);
    return Result.Made != nullptr;
  }

  /// The only module that the function goes on to evaluate with this one, and
  /// that is in train mode then, whatever others have set it to before.
  bool findRunNext(PartialEvalMode &Result) const {
    // A line of TorchScript was not copied for a network.
    if (torch::kindOf(Entry.places().knownType(First.Modules.front())) ==
            torch::TypeKind::ScriptModule ||
        llvm::none_of(Entry.events<ForwardEvent>(), [&](const auto &Pass) {
          // Also by a method of its own: net->features(x).
          return Pass.In->isWithin(First.In) &&
                 Entry.comesBefore(Second.Point, Pass.Point) &&
                 Entry.mayAlias(Pass.Parts, First.Parts);
        }))
      return false;
    Declarations All;
    for (const ForwardEvent &Pass : Entry.events<ForwardEvent>()) {
      if (!isNext(Pass) || Pass.Mode != mode::On || !isWithoutGraph(Pass) ||
          Entry.mayAlias(Pass.Parts, First.Parts) || isSetToTrain(Pass))
        continue;
      std::string Part = modeDependentPart(Entry, Pass.Parts);
      const Expr *Named = calledOn(Pass.Site);
      const ValueDecl *D = Named ? named(Named) : nullptr;
      if (Part.empty() || !D)
        continue;
      if (All.insert(D).second) {
        Result.LeftOut = D;
        Result.Pass = &Pass;
        Result.Part = std::move(Part);
      }
    }
    Result.IsInReach =
        All.size() == 1 && isInReach(Result.LeftOut, Result.Needless->Site);
    return All.size() == 1;
  }

  bool isNext(const ForwardEvent &Pass) const {
    return Pass.In == First.In && Pass.Modules.size() == 1 &&
           !Entry.places().isSummary(Pass.Modules.front()) &&
           Entry.comesBefore(Second.Point, Pass.Point);
  }

  /// Here, on purpose: its dropout is wanted. What restores it behind the pass
  /// says nothing of that.
  bool isSetToTrain(const ForwardEvent &Pass) const {
    return llvm::any_of(
        Entry.events<ModeChangeEvent>(), [&](const ModeChangeEvent &Change) {
          return (Change.Mode & ~mode::Off) && Change.In->isWithin(First.In) &&
                 Entry.mayAlias(Change.Parts, Pass.Parts) &&
                 reaches(Entry, Change.Point, Pass.Point, {First.Point});
        });
  }

  bool isLeftOut(PlaceId P, std::string &Part) const {
    const PlaceTable &Places = Entry.places();
    const ValueDecl *D = Places.declaration(P);
    if (!D || InFile.Evaluated.count(D) || !InFile.Passes.count(D) ||
        Entry.mayAlias({P}, First.Parts) || isInNetwork(P))
      return false;
    const torch::TypeKind Kind = torch::kindOf(D->getType());
    const torch::TypeKind OfFirst =
        torch::kindOf(Places.knownType(First.Modules.front()));
    if (Kind == torch::TypeKind::ScriptModule) {
      Part.clear();
      return OfFirst == Kind;
    }
    const ModuleUse::Evaluation Evaluates = InFile.Passes.lookup(D);
    Part = modeDependentPart(*Evaluates.Entry, Evaluates.Pass->Parts);
    return !Part.empty() && OfFirst != torch::TypeKind::ScriptModule;
  }

  /// A member, or a variable whose block has not ended there.
  bool isInReach(const ValueDecl *D, const Expr *There) const {
    const auto *V = dyn_cast<VarDecl>(D);
    const flow::ControlFlow *Flow = First.In->Flow;
    if (!V || !Flow)
      return !V;
    if (isa<ParmVarDecl>(V))
      return V->getDeclContext() == First.In->Function;
    const Stmt *Block = nullptr;
    for (const Stmt *S = There; S; S = Flow->parent(S))
      if (const auto *Declared = dyn_cast<CompoundStmt>(S))
        for (const Stmt *Each : Declared->body())
          if (const auto *Declaration = dyn_cast<DeclStmt>(Each);
              Declaration && llvm::is_contained(Declaration->decls(), V))
            Block = S;
    return Block != nullptr;
  }

  /// Whoever has the network may set all of it to eval().
  bool isInNetwork(PlaceId P) const {
    const PlaceTable &Places = Entry.places();
    while (!Places.isRoot(P)) {
      P = Places.parent(P);
      if (torch::isModule(Places.knownType(P)))
        return true;
    }
    return false;
  }

  const Execution &Entry;
  const ModuleUse &InFile;
  const ModeChangeEvent &First, &Second;
};

} // namespace

std::vector<PartialEvalMode> partialEvalModes(Program &Program) {
  const ModuleUse InFile(Program);
  // Of a module that a loop trains, that one speaks.
  llvm::SmallPtrSet<const Event *, 4> InTraining;
  for (const EvalModeNotRestored &Found : evalModesNotRestored(Program))
    InTraining.insert(Found.Eval);
  std::vector<PartialEvalMode> Result;
  for (const auto &Entry : Program.executions())
    for (const ModeChangeEvent &First : Entry->events<ModeChangeEvent>())
      for (const ModeChangeEvent &Second : Entry->events<ModeChangeEvent>())
        if (&First != &Second)
          if (const auto Found = PairQuery(*Entry, InFile, First, Second).run();
              Found && !InTraining.count(Found->Needless))
            Result.push_back(*Found);
  for (const auto &Entry : Program.executions())
    for (PartialEvaluation &Found : partialEvaluations(*Entry)) {
      if (InTraining.count(Found.Eval) ||
          llvm::any_of(Result, [&](const PartialEvalMode &Known) {
            return Known.Needless == Found.Eval || Known.Other == Found.Eval;
          }))
        continue;
      PartialEvalMode Each;
      Each.Entry = Entry.get();
      Each.Needless = Found.Eval;
      Each.Pass = Found.LeftOut;
      Each.Backward = Found.Backward;
      Each.AreTogether = Found.AreTogether;
      Each.Part = std::move(Found.Part);
      Result.push_back(std::move(Each));
    }
  return Result;
}

} // namespace torchtidy::model
