#include "model/interpreter/Interpreter.h"
#include "model/domains/Transfers.h"
#include "model/interpreter/Activations.h"
#include "model/interpreter/Statements.h"
#include "model/semantics/Conditions.h"

using namespace clang;

namespace torchtidy::model {

State Interpreter::initialState() const {
  State Result;
  const Frame &Root = Graph.root();
  const bool IsMain = Root.Function->isMain() || Root.IsThread;
  Result.GradMode = IsMain ? mode::On : mode::Inherited;
  Result.Autocast = IsMain ? casting::Off : casting::Inherited;
  return Result;
}

/// Grad mode is a set of possibilities: where there is none, nothing comes.
static bool isReached(const State &At) { return At.GradMode != 0; }

State Interpreter::transfer(const Segment &Of, State Before,
                            const Machine::Recorder *Record) {
  if (!isReached(Before))
    return Before;
  Machine M(Graph, User, Names, Before, Of.In, Record);
  if (Of.Condition && !conditions::assume(M, Of.Condition, Of.Holds))
    return State();
  switch (Of.Of) {
  case Segment::Branch:
    break;
  case Segment::Enter:
    enter(M, Of.In);
    break;
  case Segment::Leave:
    leave(M, Of.In);
    break;
  case Segment::Elements:
    for (unsigned I = Of.Begin; I < Of.End; ++I)
      visitElement(M, (*Of.Block)[I]);
    break;
  }
  return Before;
}

bool Interpreter::join(State &Into, const State &From) {
  if (!isReached(From))
    return false;
  if (!isReached(Into)) {
    Into = From;
    return true;
  }
  bool Changed = joinBits(Into.GradMode, From.GradMode);
  Changed |= joinBits(Into.Autocast, From.Autocast);
  Changed |= insert(Into.GivenUp, From.GivenUp);
  Changed |= insert(Into.Reserved, From.Reserved);
  Changed |= insert(Into.Temporaries, From.Temporaries);
  Changed |= Into.Copies.join(From.Copies);
  // Each path has evaluated its own parts of the statement.
  for (const auto &[Key, D] : From.Denotations) {
    auto [It, Inserted] = Into.Denotations.try_emplace(Key, D);
    Changed |= Inserted || It->second.join(D);
  }
  PlaceTable &Places = Names.Places;
  Machine M(Graph, User, Names, Into, &Graph.root(), nullptr);
  // A place that one side never wrote still holds what it held at first. A loop
  // over the parameters of a network is taken to run.
  auto IsSetInLoop = [&](PlaceId P) {
    return Places.hasStep(P, Step::Parameters);
  };
  // One side may know a tuple as a whole and the other by its parts.
  auto FromWhole = [&](const State &Side,
                       PlaceId Part) -> std::optional<Value> {
    for (PlaceId P = Part; !Places.isRoot(P);) {
      const Step::Kind Kind = Places.step(P).Of;
      if (Kind == Step::Parameters || Kind == Step::Gradient)
        return std::nullopt;
      P = Places.parent(P);
      if (const Value *V = Side.find(P)) {
        if (!V->History)
          return std::nullopt;
        return partOf(M, Part, *V);
      }
    }
    return std::nullopt;
  };
  auto JoinAbsent = [&](const State &Side, PlaceId P, Value &V) {
    if (std::optional<Value> Part = FromWhole(Side, P))
      return V.join(*Part);
    return M.isFromOutside(P) && !IsSetInLoop(P) && V.join(M.initial(P));
  };
  for (auto &[P, V] : Into.Places)
    if (!From.Places.count(P))
      Changed |= JoinAbsent(From, P, V);
  for (const auto &[P, V] : From.Places) {
    auto [It, Inserted] = Into.Places.try_emplace(P, V);
    if (Inserted) {
      JoinAbsent(Into, P, It->second);
      Changed = true;
    } else {
      Changed |= It->second.join(V);
    }
  }
  return Changed;
}

} // namespace torchtidy::model
