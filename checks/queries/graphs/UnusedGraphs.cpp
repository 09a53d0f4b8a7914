#include "queries/graphs/UnusedGraphs.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "queries/graphs/InnerDerivatives.h"
#include "queries/loops/LoopCounters.h"
#include "queries/memory/Sizes.h"
#include "queries/modes/LeakedGradMode.h"
#include "queries/paths/Calls.h"
#include "queries/paths/Paths.h"
#include "queries/paths/Uses.h"
#include "torch/Api.h"
#include "torch/Factories.h"
#include "torch/Members.h"
#include "torch/Modules.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model {

/// The graph of one pass over fewer elements is gone before it costs anything.
static constexpr uint64_t Large = 10000;

static const FieldDecl *memberAt(const Expr *E) {
  const auto *Member = E ? dyn_cast<MemberExpr>(ast::strip(E)) : nullptr;
  return Member ? dyn_cast<FieldDecl>(Member->getMemberDecl()) : nullptr;
}

/// The module is a member that some method sets to train(): whoever calls that
/// trains it, wherever it was loaded from.
static bool isMemberToTrain(const Code &User, const ForwardEvent &Forward) {
  const auto *Pass = dyn_cast_or_null<CallExpr>(Forward.Site);
  const FieldDecl *Module = Pass ? memberAt(ast::objectOf(Pass)) : nullptr;
  return Module &&
         llvm::any_of(User.functions().all(), [&](const FunctionDecl *F) {
           return ast::anyStmt(
               F->getBody(),
               [&](const Stmt *S) {
                 const auto *Call = dyn_cast<CallExpr>(S);
                 return Call &&
                        torch::classify(Call).Kind == torch::Api::ModuleTrain &&
                        memberAt(ast::objectOf(Call)) == Module &&
                        (Call->getNumArgs() == 0 ||
                         ast::boolAt(Call->getArg(0), true) != false);
               },
               ast::Lambdas::Enter);
         });
}

bool leavesEntry(const Execution &Entry, const ForwardEvent &Forward) {
  return llvm::any_of(Entry.events<EscapeEvent>(),
                      [&](const auto &Escape) {
                        return Escape.Given.hasOrigin(Forward.Origin);
                      }) ||
         llvm::any_of(Entry.events<StoreEvent>(), [&](const auto &Store) {
           return Store.Stored.hasOrigin(Forward.Origin) &&
                  llvm::any_of(Store.Places, [&](PlaceId P) {
                    return Entry.isFromOutside(P);
                  });
         });
}

namespace {

class EvaluationQuery {
public:
  EvaluationQuery(const Execution &Entry, const UsedChains &Used)
      : Entry(Entry), Used(Used) {}

  std::vector<UnusedGraph> run() {
    std::vector<UnusedGraph> Result;
    for (const ForwardEvent &Forward : Entry.events<ForwardEvent>())
      if (!Entry.isInForward(Forward.In))
        if (std::optional<UnusedGraph> Found = ask(Forward))
          Result.push_back(*Found);
    // A guard before the first also covers those that work on its result.
    auto IsFed = [&](const UnusedGraph &Found) {
      return llvm::any_of(Result, [&](const UnusedGraph &Other) {
        return Other.Forward != Found.Forward && Other.GuardScope &&
               (Found.IsStrictOnly || !Other.IsStrictOnly) &&
               Other.GuardScope == Found.GuardScope &&
               Found.Forward->Input.hasOrigin(Other.Forward->Origin) &&
               !Other.Forward->Input.hasOrigin(Found.Forward->Origin);
      });
    };
    std::vector<UnusedGraph> Causes;
    for (const UnusedGraph &Found : Result) {
      // Several layers of one network that is run there.
      const auto IsThere = [&](const UnusedGraph &Known) {
        return Known.Site == Found.Site && Known.In == Found.In;
      };
      if (!IsFed(Found) && llvm::none_of(Causes, IsThere))
        Causes.push_back(Found);
    }
    return Causes;
  }

private:
  bool isUsed(const ForwardEvent &Forward) const {
    return UsedChains::isUsed(Entry, Forward);
  }

  static bool isOfNetwork(const Frame &F) {
    const auto *Method = dyn_cast<CXXMethodDecl>(F.Function);
    return Method &&
           torch::kindOf(Method->getParent()) == torch::TypeKind::Module;
  }

  static bool isOverride(const Frame &F) {
    const auto *Method = dyn_cast<CXXMethodDecl>(F.Function);
    return Method && Method->size_overridden_methods() > 0;
  }

  /// The entry is a method of a network. Like its forward(), others run it, and
  /// they decide whether there is a guard.
  bool isOfNetwork() const { return isOfNetwork(Entry.root()); }

  /// In the constructor of the network that a method is called on.
  bool isPartOfNetwork(const Event &E) const {
    return isOfNetwork() && isInOwnConstructor(E.In);
  }

  /// These are the modules of the forward, or parts of them, or hold them.
  bool areOf(const PlaceSet &Modules, const ForwardEvent &Forward) const {
    return llvm::any_of(Modules, [&](PlaceId P) {
      return llvm::any_of(Forward.Modules, [&](PlaceId Q) {
        return Entry.places().overlap(P, Q);
      });
    });
  }

  /// An optimizer has got its parameters.
  bool isGivenToTrain(const ForwardEvent &Forward) const {
    return llvm::any_of(Entry.events<AddParametersEvent>(),
                        [&](const AddParametersEvent &Add) {
                          return areOf(Add.Given.Refs, Forward);
                        });
  }

  /// The last event that put the module into eval mode, or null.
  const Event *switchedToEval(const ForwardEvent &Forward) const {
    const Event *Found = nullptr;
    for (const ModeChangeEvent &Change : Entry.events<ModeChangeEvent>())
      if (Change.Mode == mode::Off && areOf(Change.Modules, Forward))
        Found = &Change;
    return Found;
  }

  /// The last that read it from a file, or null.
  const Event *loaded(const ForwardEvent &Forward) const {
    const Event *Found = nullptr;
    for (const LoadEvent &Load : Entry.events<LoadEvent>())
      if (areOf(Load.Loaded, Forward))
        Found = &Load;
    return Found;
  }

  /// The last that made it, or null; what made only a part of it where nothing
  /// else is known. What a constructor of the network makes says nothing about
  /// who calls.
  const Event *created(const ForwardEvent &Forward) const {
    const Event *Found = nullptr;
    unsigned Best = 0;
    for (const CreateEvent &Create : Entry.events<CreateEvent>()) {
      if (isPartOfNetwork(Create) || !areOf(Create.Objects, Forward))
        continue;
      if (const unsigned Worth = worthTelling(Create, Forward); Worth >= Best) {
        Found = &Create;
        Best = Worth;
      }
    }
    return Found;
  }

  /// A reader wants to see where the model is declared, and not what its
  /// constructor makes.
  unsigned worthTelling(const CreateEvent &Create,
                        const ForwardEvent &Forward) const {
    if (!holdsOneOf(Create.Objects, Forward.Modules))
      return 0;
    return isInModuleConstructor(Create.In) ? 1 : Create.Site ? 3 : 2;
  }

  bool holdsOneOf(const PlaceSet &Objects, const PlaceSet &Modules) const {
    return llvm::any_of(Modules, [&](PlaceId Module) {
      return llvm::any_of(Objects, [&](PlaceId Object) {
        return Entry.places().isWithin(Module, Object);
      });
    });
  }

  /// A sequence is generated: the module is run again on what was chosen from
  /// its results, through which no gradient flows.
  bool isGeneration(const ForwardEvent &Forward) const {
    return llvm::is_contained(Forward.Input.DecidedBy, Forward.Origin) &&
           !isOfNetwork();
  }

  /// The program makes this pass once, or a network does that asks itself for
  /// the shape of what it returns, and nothing shows that it is large: a demo
  /// that prints what a network answers.
  bool isSinglePass(const ForwardEvent &Forward) const {
    if (isOfService(Forward))
      return false;
    if (!(Entry.root().Function->isMain() ||
          isInModuleConstructor(Forward.In)) ||
        !Entry.loopsAround(Forward.Point).empty())
      return false;
    return llvm::none_of(
        Entry.events<AllocateEvent>(), [&](const AllocateEvent &Allocate) {
          return Forward.Input.uses(Allocate.Memory) &&
                 knownElements(Entry, Allocate).value_or(0) >= Large;
        });
  }

  /// A class whose constructor sets the network to eval mode is there to
  /// evaluate it: how often its methods do is for others to decide.
  bool isOfService(const ForwardEvent &Forward) const {
    if (Forward.Mode != mode::Off)
      return false;
    for (const Frame *F = Forward.In; F; F = F->Caller) {
      const auto *Method = dyn_cast<CXXMethodDecl>(F->Function);
      if (Method && !isa<CXXConstructorDecl>(Method) && !isOfNetwork(*F) &&
          isMadeToEvaluate(Method->getParent(), Forward))
        return true;
    }
    return false;
  }

  bool isMadeToEvaluate(const CXXRecordDecl *Class,
                        const ForwardEvent &Forward) const {
    return llvm::any_of(Entry.events<ModeChangeEvent>(),
                        [&](const ModeChangeEvent &Change) {
                          const auto *Constructor =
                              dyn_cast<CXXConstructorDecl>(Change.In->Function);
                          return Constructor && Change.Mode == mode::Off &&
                                 Constructor->getParent()->getCanonicalDecl() ==
                                     Class->getCanonicalDecl() &&
                                 areOf(Change.Modules, Forward);
                        });
  }

  /// What goes in is nothing but what factories have made up here, or what
  /// another pass has made of that.
  bool isMadeUp(const Value &Input) const {
    if (Input.Memory.empty())
      return !Input.Origins.empty() &&
             llvm::all_of(Input.Origins, [&](auto Of) {
               return llvm::any_of(Entry.events<ForwardEvent>(),
                                   [&](const ForwardEvent &Other) {
                                     return Other.Origin == Of;
                                   });
             });
    return llvm::all_of(Input.Memory, [&](AllocationId Id) {
      const auto *Call = dyn_cast_or_null<CallExpr>(Entry.allocation(Id).Site);
      const torch::Operation *Op = Call ? torch::classify(Call).Op : nullptr;
      return (Op && Op->has(torch::operation::Factory) &&
              torch::isMadeUp(*Op)) ||
             isMovedMadeUp(Id);
    });
  }

  /// The copy that a transfer has made of it.
  bool isMovedMadeUp(AllocationId Id) const {
    return llvm::any_of(
        Entry.events<TransferEvent>(), [&](const TransferEvent &Transfer) {
          return Transfer.Memory == Id && !Transfer.Input.uses(Id) &&
                 isMadeUp(Transfer.Input);
        });
  }

  /// Once, or as one of the layers that a loop goes through.
  bool runsOnce(const ForwardEvent &Forward) const {
    const auto *Call = dyn_cast_or_null<CallExpr>(Forward.Site);
    const Expr *Object = Call ? ast::objectOf(Call) : nullptr;
    LoopCounters Counters(Entry);
    return llvm::all_of(Entry.loopsAround(Forward.Point),
                        [&](const flow::Loop *L) {
                          return Counters.follows(Object, Forward.In, *L);
                        });
  }

  /// No step, of whatever network, comes before.
  bool isBeforeTraining(const ForwardEvent &Forward) const {
    return llvm::none_of(Entry.events<StepEvent>(), [&](const auto &Step) {
      return reaches(Entry, Step.Point, Forward.Point, /*Avoid=*/{});
    });
  }

  /// A network that is as its constructor has made it is asked about numbers
  /// that are made up, once, or often and nobody reads the answers: to see that
  /// there is one, or of which shape, or how long it takes.
  bool isTrial(const ForwardEvent &Forward) const {
    const Event *Created = created(Forward);
    return Created && worthTelling(cast<CreateEvent>(*Created), Forward) > 1 &&
           (runsOnce(Forward) || isUnread(Forward)) &&
           isBeforeTraining(Forward) && !switchedToEval(Forward) &&
           !loaded(Forward) && !isKnownElsewhere(Forward) &&
           isMadeUp(Forward.Input);
  }

  /// Once, and only to see of which shape the answer is.
  bool isShapeProbe(const ForwardEvent &Forward) const {
    const auto *Call = dyn_cast_or_null<CallExpr>(Forward.Site);
    const flow::ControlFlow *Flow = Forward.In->Flow;
    if (!Call || !Flow || !Entry.loopsAround(Forward.Point).empty())
      return false;
    auto Uses = usesOf(*Flow, Call);
    // net.forward(inputs).toTensor()
    if (Uses && Uses->size() == 1 &&
        torch::isToTensor(Uses->front().Call->getDirectCallee()))
      Uses = usesOf(*Flow, Uses->front().Call);
    return Uses && !Uses->empty() && llvm::all_of(*Uses, asksForShape);
  }

  /// Code that cannot be seen has the network, and may have loaded it.
  bool isKnownElsewhere(const ForwardEvent &Forward) const {
    return llvm::any_of(Entry.events<EscapeEvent>(),
                        [&](const EscapeEvent &Escape) {
                          return areOf(Escape.Places, Forward);
                        });
  }

  /// Nothing takes what the pass returns: the statement is the call alone.
  static bool isDropped(const ForwardEvent &Forward) {
    const flow::ControlFlow *Flow = Forward.In->Flow;
    return Flow && Flow->parent(Forward.Site) &&
           Flow->isFullExpression(Forward.Site);
  }

  /// Nor does anything read the variable that is declared with it.
  static bool isUnread(const ForwardEvent &Forward) {
    const auto *Call = dyn_cast_or_null<Expr>(Forward.Site);
    const VarDecl *V = Call && Forward.In->Flow
                           ? declaredWith(*Forward.In->Flow, Call)
                           : nullptr;
    return V ? !V->isReferenced() : isDropped(Forward);
  }

  /// It is run for what it leaves in the module, which later calls go on with:
  /// a policy that keeps the distribution of its actions. Where all of it is
  /// seen, the graph is followed there.
  bool isRunForItsState(const ForwardEvent &Forward) const {
    const auto Runs = Entry.graph().expansions(Forward.In, Forward.Site);
    const auto IsWithin = [&](const ForwardEvent &Inner) {
      return &Inner == &Forward || llvm::any_of(Runs, [&](const Frame *F) {
        return Inner.In->isWithin(F);
      });
    };
    return isDropped(Forward) &&
           llvm::any_of(Entry.events<ForwardEvent>(),
                        [&](const ForwardEvent &Inner) {
                          return IsWithin(Inner) && runsElsewhere(Entry, Inner);
                        });
  }

  /// A statement that Clang could make no sense of, where it is made or where
  /// its result may go, calls backward().
  static bool mayLoseBackward(const ForwardEvent &Forward) {
    for (const Frame *F = Forward.In; F; F = F->Caller)
      if (F->Flow && hasLostBackward(*F->Flow))
        return true;
    return false;
  }

  /// A method of a TorchScript module that only says something (get_version,
  /// set_rate): no tensor goes in and none is taken out, or a number or a text
  /// comes out, or nobody takes what comes out.
  static bool computesNothing(const ForwardEvent &Forward) {
    const auto *Call = dyn_cast_or_null<CallExpr>(Forward.Site);
    const flow::ControlFlow *Flow = Forward.In->Flow;
    if (!Call || !Flow || !torch::runsAnyMethod(Call->getDirectCallee()))
      return false;
    const auto Uses = usesOf(*Flow, Call);
    const auto Takes = [](bool (*Member)(const FunctionDecl *)) {
      return [Member](const Use &U) {
        return U.IsObject && Member(U.Call->getDirectCallee());
      };
    };
    if (Uses && !Uses->empty() &&
        llvm::all_of(*Uses, Takes(torch::isToNumberOrText)))
      return true;
    if (isDropped(Forward))
      return true;
    const Value &In = Forward.Input;
    return !In.History && In.Origins.empty() && In.Memory.empty() &&
           !In.ManyOrigins &&
           !(Uses && llvm::any_of(*Uses, Takes(torch::isToTensor)));
  }

  const Event *trainingBeside(const ForwardEvent &Forward) const {
    for (const BackwardEvent &Backward : Entry.events<BackwardEvent>())
      if (Backward.In == Forward.In && !(Backward.GradMode & mode::Off) &&
          !(Forward.GradMode & mode::Off))
        return &Backward;
    return nullptr;
  }

  std::optional<UnusedGraph> ask(const ForwardEvent &Forward) const {
    if (!Forward.Result.mayHaveGraph() ||
        ((Forward.GradMode & mode::Off) && !isOffByLeak(Entry, Forward)))
      return std::nullopt;
    if (computesNothing(Forward))
      return std::nullopt;
    // It needs its graph, and throws under a guard.
    if (mayDifferentiateInside(Entry, Forward) || isRunForItsState(Forward))
      return std::nullopt;
    UnusedGraph Result;
    Result.Entry = &Entry;
    Result.Forward = &Forward;
    Result.In = Forward.In;
    Result.Site = Forward.Site;
    // The last reads the text of functions, where there are errors.
    if (isUsed(Forward) || mayLoseBackward(Forward))
      return std::nullopt;
    const bool InEvalMode = Forward.Mode == mode::Off;
    if (InEvalMode)
      Result.Evidence = switchedToEval(Forward);
    const bool Escapes = leavesEntry(Entry, Forward);
    if (!Result.Evidence && !isMemberToTrain(Entry.code(), Forward))
      Result.Evidence = loaded(Forward);
    // A pretrained part of a network may well be trained by whoever gets the
    // result; so may what goes on training from a checkpoint.
    if (Escapes && Result.Evidence && Result.Evidence->Is == Event::Load &&
        (isPartOfNetwork(*Result.Evidence) || isGivenToTrain(Forward)))
      Result.Evidence = nullptr;
    if (!Result.Evidence) {
      // Without a sign, everything that could use the graph must be known.
      Result.Evidence = created(Forward);
      const bool IsWhole = Entry.root().Function->isMain() || Result.Evidence;
      Result.IsStrictOnly = Escapes || !IsWhole;
      // Whoever calls a function that trains has left grad mode on.
      if (!Escapes && !IsWhole)
        if (const Event *Sign =
                isGeneration(Forward) ? &Forward : trainingBeside(Forward)) {
          Result.Evidence = Sign;
          Result.IsStrictOnly = false;
        }
    }
    Result.IsStrictOnly |=
        isSinglePass(Forward) || isTrial(Forward) || isShapeProbe(Forward);
    // Other callers use the graph that this line makes: the mistake is in this
    // caller.
    while (Used.Sites.count(Result.Site)) {
      if (!Result.In->Caller || !Result.In->Site || !InEvalMode)
        return std::nullopt;
      Result.Site = Result.In->Site;
      Result.In = Result.In->Caller;
    }
    goToUnguarded(Result);
    // A network does not know what it is run for, nor what overrides a method
    // of a base (a loss) who calls that: where the caller gets a tensor, the
    // guard is the caller's.
    while (Result.In->Caller && Result.In->Site &&
           (isOfNetwork(*Result.In) || isOverride(*Result.In)) &&
           torch::mayHoldTensor(Result.In->Function->getReturnType())) {
      Result.Site = Result.In->Site;
      Result.In = Result.In->Caller;
    }
    Result.IsUnseen = isUnseen(Forward);
    Result.GuardScope = guardScope(Used, Result.In, Result.Site);
    if (!Result.GuardScope)
      Result.Stretch = stretch(Result.In, Result.Site);
    return Result;
  }

  /// A helper that returns a tensor, and that another caller runs under a
  /// guard, leaves that to its callers: this one lacks it. One that returns
  /// none may as well have the guard itself.
  void goToUnguarded(UnusedGraph &Result) const {
    const Frame *In = Result.In;
    const Stmt *Site = Result.Site;
    while (In && Site && Used.isGuarded(In, Site)) {
      if (!torch::mayHoldTensor(In->Function->getReturnType()))
        return;
      Site = In->Site;
      In = In->Caller;
    }
    if (!In || !Site)
      return;
    Result.In = In;
    Result.Site = Site;
  }

  const Stmt *stretch(const Frame *F, const Stmt *Site) const {
    if (!F->Flow)
      return nullptr;
    const Stmt *Child = Site;
    const Stmt *S = F->Flow->parent(Child);
    for (; S && !isa<CompoundStmt>(S); S = F->Flow->parent(S))
      Child = S;
    const auto *Block = dyn_cast_or_null<CompoundStmt>(S);
    if (!Block)
      return nullptr;
    const Stmt *Begin = Block;
    for (const Stmt *Each : Block->body()) {
      if (Each == Child)
        break;
      if (Used.isTrained(F, Each))
        Begin = Each;
    }
    return Begin;
  }

  const Execution &Entry;
  const UsedChains &Used;
};

} // namespace

std::vector<UnusedGraph> unusedGraphs(const Execution &Entry,
                                      const UsedChains &Used) {
  return EvaluationQuery(Entry, Used).run();
}

std::vector<UnusedGraph> unusedGraphs(const Execution &Entry) {
  UsedChains Used;
  Used.add(Entry);
  return unusedGraphs(Entry, Used);
}

} // namespace torchtidy::model
