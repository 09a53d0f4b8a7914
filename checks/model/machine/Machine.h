// A state with the means to read and change it: what expressions denote, what
// places hold, what is told as an event. The semantics of LibTorch and of the
// standard library (model/semantics) are functions of a Machine.
#ifndef TORCHTIDY_MACHINE_MACHINE_H
#define TORCHTIDY_MACHINE_MACHINE_H

#include "model/icfg/Supergraph.h"
#include "model/machine/Tables.h"
#include "model/state/Event.h"
#include "model/state/State.h"

namespace torchtidy::model {

class Machine {
public:
  /// Takes the events, in order.
  using Recorder = llvm::function_ref<void(EventPtr)>;

  /// Changes Now, and tells Record, if there is one, what happens.
  Machine(const Supergraph &Graph, Code &User, Tables &Names, State &Now,
          const Frame *Active, const Recorder *Record)
      : Graph(Graph), User(User), Names(Names), Places(Names.Places), Now(Now),
        Active(Active), Record(Record) {}

  const Supergraph &graph() const { return Graph; }
  Code &code() const { return User; }
  Tables &names() const { return Names; }
  PlaceTable &places() const { return Places; }
  State &state() const { return Now; }
  /// The activation whose code is read.
  const Frame *frame() const { return Active; }

  /// Reads in another activation while it lives: a call's arguments belong to
  /// the caller.
  class InFrame {
  public:
    InFrame(Machine &M, const Frame *Other) : M(M), Before(M.Active) {
      M.Active = Other;
    }
    ~InFrame() { M.Active = Before; }
    InFrame(const InFrame &) = delete;
    InFrame &operator=(const InFrame &) = delete;

  private:
    Machine &M;
    const Frame *Before;
  };

  // Events.

  bool isRecording() const { return Record != nullptr; }
  /// Tells of an event that Fill completes. Fill is called only while
  /// events are recorded, so it must not change the state.
  template <class EventT, class FillT>
  void emit(const clang::Expr *Site, FillT Fill) {
    if (!Record)
      return;
    assert((Site || EventT::Kind == Event::Create ||
            EventT::Kind == Event::End || EventT::Kind == Event::Hold ||
            EventT::Kind == Event::GradModeChange) &&
           "only these happen where nothing is written");
    auto E = std::make_unique<EventT>(Site);
    E->In = Active;
    E->GradMode = Now.GradMode;
#ifndef NDEBUG
    const State Before = Now;
#endif
    Fill(*E);
    assert(Now == Before && "what happens depends on who listens");
    (*Record)(std::move(E));
  }
  template <class EventT> void emit(const clang::Expr *Site) {
    emit<EventT>(Site, [](EventT &) {});
  }
  /// A store of V (Store), or that what was there is let go (Release). V gets
  /// the origin that what is read from there carries.
  void emitStore(const clang::Expr *Site, const PlaceSet &To, Value &V,
                 StoreKind How, const clang::Expr *Operand,
                 const clang::Expr *Target = nullptr);
  /// That V is kept at To; in a file where there is none.
  void emitKeep(const clang::Expr *Site, const PlaceSet &To, const Value &V,
                StoreKind How, const clang::Expr *Operand);
  /// That the host wants V, which may be a copy from a device.
  void emitHostRead(const clang::Expr *Site, const Value &V);
  /// That the data of what Target denotes is written.
  void emitWrite(const clang::Expr *Site, const clang::Expr *Target,
                 const Value &Written = Value(), bool IsPointer = false);
  void emitRelease(const clang::Expr *Site, const PlaceSet &Released,
                   StoreKind How = StoreKind::Rebind);

  // Expressions: Denotations.cpp.

  Denotation denote(const clang::Expr *E);
  /// What E denotes from now on, until its statement is over.
  void remember(const clang::Expr *E, Denotation D);
  /// The active frame has evaluated a statement: what its parts denoted is not
  /// asked for again, but for those that are kept.
  void forgetDenotations();
  /// What E denotes is asked for until the activation is over: elements of a
  /// list that a variable was initialized with.
  void keepDenotation(const clang::Expr *E);
  void forgetKept(const Frame *Of);
  /// The objects that E denotes; a temporary with its value where it denotes
  /// none.
  PlaceSet objects(const clang::Expr *E);
  PlaceSet temporary(const clang::Expr *E, const Denotation &D);
  /// The objects that E names, before it was evaluated.
  PlaceSet named(const clang::Expr *E);
  PlaceId placeOf(const clang::VarDecl *V);
  PlaceSet variable(const clang::VarDecl *V);
  PlaceSet thisObject();
  PlaceId receiverOf(const Frame *F) {
    return Places.root(Root::Receiver, F->Id, RootKey());
  }
  PlaceId returned(const Frame *F) {
    return Places.root(Root::Object, F->Id, F->Function);
  }
  PlaceId madeBy(const clang::Expr *E) {
    return Places.root(Root::Object, Active->Id, E);
  }
  PlaceId background() { return Places.root(Root::Background, 0, RootKey()); }
  /// The place that a construction fills: the variable, the member, the heap
  /// object, or a temporary of its own (IsTemporary).
  PlaceSet constructionTarget(const clang::Expr *E, bool &IsTemporary);
  /// What an operation is called on: of p->add_(x), where p is a pointer or an
  /// optional, the tensor behind it. And its value.
  Denotation denoteOperand(const clang::Expr *E);
  Value operandValue(const clang::Expr *E);
  /// Follows pointers, references and handles to the objects behind them.
  PlaceSet pointees(const PlaceSet &Set);
  /// The object of a method call, through a built-in pointer.
  PlaceSet receiver(const clang::Expr *E);
  /// Of a tensor, a module or an optimizer: what it is a handle to, or itself.
  PlaceSet identity(const clang::Expr *E);
  /// The value of E with everything that lies in it.
  Value deepValue(const clang::Expr *E);

  // The state: Memory.cpp.

  Value load(PlaceId P);
  Value load(const PlaceSet &Set);
  /// With everything that lies in it: a container's elements, a tuple's parts.
  Value deepLoad(PlaceId P);
  /// What lies at P when nothing has been stored there.
  Value initial(PlaceId P);
  void store(PlaceId P, const Value &V);
  void storeWeak(PlaceId P, const Value &V);
  /// As D says: copies of its objects, or its value.
  void storeDenoted(PlaceId P, const Denotation &D);
  /// An object was copied to P that one branch of ?: names; Own is what the
  /// other makes: cuda ? x.cuda() : x.
  void joinChosen(PlaceId P, const Value &Own);
  void erase(PlaceId P);
  void erase(const PlaceSet &Set) {
    for (PlaceId P : Set)
      erase(P);
  }
  void copy(PlaceId From, PlaceId To);
  void split(PlaceId Whole);
  /// P, and what lies in it (Deep), has no graph behind it any more.
  void discardHistory(PlaceId P, bool Deep);
  /// Each value at P or in it.
  void forEachWithin(PlaceId P, llvm::function_ref<void(Value &)> Do);
  bool isFromOutside(PlaceId P);
  /// All objects from outside that have been met.
  PlaceSet outside();
  OriginId origin(Origin::Kind Of, const clang::Expr *Site) {
    return Names.origin(Of, Active, Site);
  }
  /// The places are gradients of tensors, all of them, and there are some.
  bool isGradient(const PlaceSet &Set) const;

  // Modules and what they consist of: Parts.cpp.

  /// The modules in Module that no member names. Where they are not known, the
  /// place that stands for all of them.
  PlaceSet parts(PlaceId Module);
  /// Module holds Added from now on.
  void addParts(PlaceId Module, const PlaceSet &Added);
  /// A module was made from Given. Only with IsWhole does it consist of these
  /// alone.
  void setParts(PlaceId Module, const PlaceSet &Given, bool IsWhole);
  /// Modules, with all modules and tensors that lie elsewhere and belong to
  /// them: what they were given, handles in their members.
  PlaceSet withParts(const PlaceSet &Modules);
  /// Those of a module, of a part that is one; a tensor itself.
  PlaceId parametersOf(PlaceId Part);
  /// The modules that E is, leads to, or has in it.
  PlaceSet modulesIn(const clang::Expr *E);
  /// The history that the parameters of a module have: frozen or not.
  uint8_t trainability(PlaceId Module);
  /// Possibilities of a module's mode.
  uint8_t moduleMode(PlaceId Module);

private:
  Value loadHeld(PlaceId P);
  bool joinOverlapping(PlaceId P, Value &Result);

  const Supergraph &Graph;
  Code &User;
  Tables &Names;
  PlaceTable &Places;
  State &Now;
  const Frame *Active;
  const Recorder *Record;
};

} // namespace torchtidy::model

#endif
