#include "autograd/InferenceTensor.h"
#include "ast/Expressions.h"
#include "ast/Locations.h"
#include "queries/graphs/SpoiledGraphs.h"
#include "queries/modes/InheritedMode.h"
#include "queries/modes/UnseenCalls.h"
#include "queries/paths/Calls.h"
#include "queries/paths/OnlyOrigin.h"
#include "queries/paths/Paths.h"
#include "torch/Api.h"
#include "torch/Modules.h"
#include "torch/Saving.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model {

using Node = flow::Digraph::Node;

namespace {

class InferenceQuery {
public:
  explicit InferenceQuery(const Execution &Entry) : Entry(Entry) {
    for (const GradModeChangeEvent &Change :
         Entry.events<GradModeChangeEvent>())
      (Change.Mode == (mode::Off | mode::Inference) ? Ins : Outs)
          .insert(Change.Point);
  }

  void run(std::vector<InferenceTensor> &Result) {
    if (Ins.empty())
      return;
    for (const AllocateEvent &Made : Entry.events<AllocateEvent>())
      if (Made.Site && isInside(Made))
        for (const Event &Use : Entry.events())
          if (const auto Found = useOf(Made, Use))
            Result.push_back(*Found);
    for (const WriteEvent &Write : Entry.events<WriteEvent>())
      if (const auto Found = written(Write); Found && !isKnown(Result, *Found))
        Result.push_back(*Found);
    for (const ForwardEvent &Pass : Entry.events<ForwardEvent>())
      if (const auto Found = trained(Pass))
        Result.push_back(*Found);
    for (const BackwardEvent &Backward : Entry.events<BackwardEvent>()) {
      for (SaveId Id : Backward.Root.Needs)
        if (const auto Found = savedFor(Backward, Entry.save(Id)))
          Result.push_back(*Found);
      for (const ForwardEvent &Pass : Entry.events<ForwardEvent>())
        if (const auto Found = givenTo(Backward, Pass);
            Found && !isKnown(Result, *Found))
          Result.push_back(*Found);
    }
  }

private:
  /// Inference mode is in force on every path.
  bool isInside(const Event &E) const {
    if (E.GradMode != (mode::Off | mode::Inference) ||
        reaches(Entry, Entry.start(), E.Point, Ins))
      return false;
    return llvm::none_of(
        Outs, [&](Node Out) { return reaches(Entry, Out, E.Point, Ins); });
  }

  /// It is not, whatever the callers do.
  bool isOutside(const Event &E) const {
    if (!E.GradMode || (E.GradMode & mode::Inference))
      return false;
    bool IsKnown = Entry.root().Function->isMain();
    for (const Frame *F = E.In; F; F = F->Caller)
      IsKnown |= F->IsThread;
    return IsKnown || backwardBeside(Entry, E);
  }

  const GradModeChangeEvent *guardOf(const Event &Made) const {
    for (const GradModeChangeEvent &Change :
         Entry.events<GradModeChangeEvent>())
      if (Change.Site && Ins.count(Change.Point) &&
          reaches(Entry, Change.Point, Made.Point, Outs))
        return &Change;
    return nullptr;
  }

  InferenceTensor fact(InferenceTensor::Use Is, const Expr *At,
                       const Event &Made) const {
    InferenceTensor Result;
    Result.Is = Is;
    Result.Entry = &Entry;
    Result.At = At;
    Result.Made = Made.Site;
    Result.MadeIn = Made.In;
    Result.Guard = guardOf(Made);
    return Result;
  }

  std::optional<InferenceTensor> useOf(const AllocateEvent &Made,
                                       const Event &Use) {
    if (const auto *Write = Use.getAs<WriteEvent>())
      // Of a leaf torch-leaf-inplace says that it throws.
      if (!Write->IsPointer && Write->Before.Memory.size() == 1 &&
          Write->Before.uses(Made.Memory) &&
          (isPartWritten(*Write) || isWhole(Write->Before)) && isOutside(Use) &&
          !(Write->Before.History & history::Leaf) &&
          isItself(wholeOf(writtenAt(Use.Site)), Use, Made))
        return checked(fact(InferenceTensor::Written, Use.Site, Made));
    if (const auto *Pass = Use.getAs<ForwardEvent>())
      if (isIt(Pass->Input, Made) && isSavedBy(*Pass) && isOutside(Use) &&
          isItself(ast::argumentsOf(cast<CallExpr>(Use.Site)).front(), Use,
                   Made))
        return checked(fact(InferenceTensor::Saved, Use.Site, Made));
    return std::nullopt;
  }

  static std::optional<InferenceTensor> checked(InferenceTensor Found) {
    return Found.Guard ? std::optional(Found) : std::nullopt;
  }

  static bool isWhole(const Value &V) {
    return V.InStorage.get() == Storage::Owns && V.ViewOf.empty();
  }

  /// The tensor itself, and no other on some path.
  static bool isIt(const Value &V, const AllocateEvent &Made) {
    return V.Memory.size() == 1 && V.uses(Made.Memory) && isWhole(V);
  }

  /// The tensor that E is a part, or another view, of, as far as E says so:
  /// mean of mean[0] and mean.view({-1}), which share its missing version. Not
  /// of mean.detach(), which gets one.
  static const Expr *wholeOf(const Expr *E) {
    while (const auto *Call =
               dyn_cast_or_null<CallExpr>(E ? ast::strip(E) : nullptr)) {
      const torch::Operation *Op = torch::classify(Call).Op;
      if (!Op || Op->View != torch::Tri::Yes || !torch::changesShape(*Op) ||
          Op->has(torch::operation::DiscardsHistory) ||
          Op->Writes != torch::operation::NoArgument)
        break;
      E = ast::firstOperand(Call);
    }
    return E;
  }

  static bool isPartWritten(const WriteEvent &Write) {
    const Expr *Target = writtenAt(Write.Site);
    return Target && wholeOf(Target) != Target;
  }

  /// On every path. Of a view nobody knows whether detach() is in its past,
  /// which has a version of its own.
  bool isItself(const Expr *E, const Event &Use,
                const AllocateEvent &Made) const {
    const ValueDecl *D = E ? named(E) : nullptr;
    return E && (!D || !isReplaced(D)) &&
           isOnlyMadeBy(Entry, Use.In, E, Made.Site);
  }

  /// set_data() may make it another.
  bool isReplaced(const ValueDecl *D) const {
    return llvm::any_of(callsOf(Entry), [&](const CallAt &Each) {
      const torch::Call Kind = torch::classify(Each.Call);
      const Expr *Object = ast::objectOf(Each.Call);
      return Kind.Op && torch::changesNoData(*Kind.Op) && Object &&
             named(Object) == D;
    });
  }

  static bool isRecorded(const ForwardEvent &Pass) {
    return Pass.Result.mayHaveGraph() &&
           !(Pass.Result.History & history::None) &&
           !(Pass.GradMode & (mode::Off | mode::Inference));
  }

  /// A layer of LibTorch whose weights need gradients keeps what it is given.
  bool isSavedBy(const ForwardEvent &Pass) const {
    const auto *Call = dyn_cast<CallExpr>(Pass.Site);
    const Expr *Object = Call ? ast::objectOf(Call) : nullptr;
    const CXXRecordDecl *Layer =
        Object ? torch::moduleClass(Object->getType()) : nullptr;
    return Layer && torch::isLibTorch(Layer) && isRecorded(Pass) &&
           ast::argumentsOf(Call).size() == 1 &&
           !torch::isModuleContainer(Layer) &&
           torch::savedBy(Layer).InputForWeights;
  }

  /// The guard that is in force at a call: a local variable of the function
  /// that the call is in. Nothing where something else is switched in it.
  const GradModeChangeEvent *guardAround(const CallAt &Call) const {
    const GradModeChangeEvent *Result = nullptr;
    const SourceManager &SM = Entry.code().context().getSourceManager();
    for (const GradModeChangeEvent &Change :
         Entry.events<GradModeChangeEvent>()) {
      if (Change.In != Call.In || !Change.Site)
        continue;
      if (!Ins.count(Change.Point))
        return nullptr;
      const Stmt *Scope = scopeOfVariable(Change.In, Change.Site);
      if (Scope && Change.In->Flow->isInside(Call.Call, Scope) &&
          SM.isBeforeInTranslationUnit(Change.Site->getBeginLoc(),
                                       ast::beginLoc(Call.Call)))
        Result = &Change;
    }
    return Result;
  }

  /// An operation has saved it as its operand: with a graph, for the backward()
  /// goes through that, so that inference mode is off there.
  std::optional<InferenceTensor> savedFor(const BackwardEvent &Backward,
                                          const Save &Kept) const {
    if (Kept.What != torch::Saved::Operand || !Kept.Operand || !Kept.Site ||
        !Backward.Root.mayHaveGraph() || Backward.HasInputs ||
        (Backward.Root.History & history::None))
      return std::nullopt;
    return computedInside(InferenceTensor::Operand, wholeOf(Kept.Operand),
                          Kept.In, Kept.Site, &Backward);
  }

  /// By what it is made with, a factory; or by another backward().
  static bool isKnown(llvm::ArrayRef<InferenceTensor> All,
                      const InferenceTensor &Found) {
    return llvm::any_of(All, [&](const InferenceTensor &Known) {
      return Known.Is == Found.Is && Known.At == Found.At &&
             Known.Made == Found.Made;
    });
  }

  /// It is changed in place, the tensor itself or what the same expression
  /// makes a view of it.
  std::optional<InferenceTensor> written(const WriteEvent &Write) const {
    if (Write.IsPointer || !isOutside(Write) ||
        !(isPartWritten(Write) || Write.Before.ViewOf.empty()) ||
        (Write.Before.History & history::Leaf))
      return std::nullopt;
    return computedInside(InferenceTensor::Written,
                          wholeOf(writtenAt(Write.Site)), Write.In, Write.Site);
  }

  /// The same of a layer and what it is given.
  std::optional<InferenceTensor> givenTo(const BackwardEvent &Backward,
                                         const ForwardEvent &Pass) const {
    if (Backward.HasInputs || !Backward.Root.hasOrigin(Pass.Origin) ||
        !isSavedBy(Pass))
      return std::nullopt;
    const Expr *Given = ast::argumentsOf(cast<CallExpr>(Pass.Site)).front();
    return computedInside(InferenceTensor::Saved, wholeOf(Given), Pass.In,
                          Pass.Site, &Backward);
  }

  /// Operand, a variable or a member, is what an operation has computed in
  /// inference mode, and nothing else.
  std::optional<InferenceTensor>
  computedInside(InferenceTensor::Use Is, const Expr *Operand, const Frame *In,
                 const Expr *At,
                 const BackwardEvent *Backward = nullptr) const {
    const ValueDecl *D = Operand ? named(Operand) : nullptr;
    const auto Maker =
        D && !isReplaced(D) ? onlyOperation(Entry, In, Operand) : std::nullopt;
    InferenceTensor Found;
    Found.Guard = Maker ? guardAround(*Maker) : nullptr;
    if (!Found.Guard)
      return std::nullopt;
    Found.Is = Is;
    Found.Entry = &Entry;
    Found.At = At;
    Found.Made = Maker->Call;
    Found.MadeIn = Maker->In;
    Found.Backward = Backward;
    return Found;
  }

  /// The module of the pass was made in inference mode and nowhere else.
  std::optional<InferenceTensor> trained(const ForwardEvent &Pass) const {
    if (Pass.Modules.size() != 1 || !isRecorded(Pass) ||
        Entry.isInForward(Pass.In) || mayHaveOthers(Pass))
      return std::nullopt;
    const Event *Made = nullptr;
    for (const CreateEvent &Create : Entry.events<CreateEvent>()) {
      if (!llvm::is_contained(Create.Objects, Pass.Modules.front()))
        continue;
      if (!isInside(Create))
        return std::nullopt;
      if (Create.Site)
        Made = &Create;
    }
    if (!Made)
      return std::nullopt;
    for (const BackwardEvent &Backward : Entry.events<BackwardEvent>())
      if (Backward.Root.hasOrigin(Pass.Origin) &&
          Backward.GradMode == Pass.GradMode && !Backward.HasInputs) {
        InferenceTensor Found =
            fact(InferenceTensor::Trained, Pass.Site, *Made);
        Found.Backward = &Backward;
        return checked(Found);
      }
    return std::nullopt;
  }

  /// Its parameters may have become other tensors.
  bool mayHaveOthers(const ForwardEvent &Pass) const {
    return llvm::any_of(Entry.events<LoadEvent>(),
                        [&](const LoadEvent &Load) {
                          return Entry.mayAlias(Load.Loaded, Pass.Parts);
                        }) ||
           llvm::any_of(Entry.events<EscapeEvent>(),
                        [&](const EscapeEvent &Escape) {
                          return Entry.mayAlias(Escape.Places, Pass.Parts);
                        }) ||
           llvm::any_of(callsOf(Entry), [](const CallAt &Each) {
             const auto *Method =
                 dyn_cast_or_null<CXXMethodDecl>(Each.Call->getDirectCallee());
             return Method &&
                    torch::kindOf(Method->getParent()) ==
                        torch::TypeKind::Module &&
                    torch::movesParameters(Method);
           });
  }

  const Execution &Entry;
  /// Where inference mode is in force from, and where something else may be.
  Nodes Ins, Outs;
};

} // namespace

std::vector<InferenceTensor> inferenceTensors(Program &Program) {
  std::vector<InferenceTensor> Result;
  for (const auto &Entry : Program.executions())
    InferenceQuery(*Entry).run(Result);
  return Result;
}

} // namespace torchtidy::model
