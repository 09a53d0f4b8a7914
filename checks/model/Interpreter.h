// Gives each element of the control flow its meaning in torch terms: the
// transfer function of the data flow analysis, and the recorder of events.
#ifndef TORCHTIDY_MODEL_INTERPRETER_H
#define TORCHTIDY_MODEL_INTERPRETER_H

#include "model/Event.h"
#include "model/Supergraph.h"
#include "torch/Api.h"

namespace torchtidy::model {

/// Where a value came from.
struct Origin {
  enum Kind : uint8_t {
    /// A module was run.
    Forward,
    /// An operation on leaves: the first of its graph.
    Operation,
    /// The value was stored, and read again.
    Through,
    /// What a member or a global variable held when the way in was entered.
    Entry,
    /// What was read from a member of some object from outside.
    Member,
    /// A backward() has gone through the graph of the value.
    Backwarded,
    /// Memory: a factory made it. Never among a value's Origins.
    Allocation,
    /// Memory that a value uses and does not own. Never among a value's Origins.
    /// Place: the owner.
    Loan,
  } Of;
  const Frame *In;
  const clang::Expr *Site;
  /// For Entry, Member and Loan.
  PlaceId Place = 0;

  /// It is what built a graph.
  bool isBuilder() const { return Of == Forward || Of == Operation; }
};

/// What an expression denotes: the objects, for a glvalue or an object of class
/// type, and its value otherwise.
struct Denotation {
  PlaceSet Objects;
  Value Own;

  bool join(const Denotation &Other) {
    bool Changed = insert(Objects, Other.Objects);
    return Own.join(Other.Own) || Changed;
  }
};

class Interpreter {
public:
  Interpreter(const Supergraph &Graph, Code &Program)
      : Graph(Graph), Program(Program) {}

  State initialState() const;
  /// The state behind a segment. With a recorder, tells it the events in order.
  using Recorder = llvm::function_ref<void(Event)>;
  State transfer(const Segment &S, State Before, const Recorder *Record);
  bool join(State &Into, const State &From);

  PlaceTable &places() { return Places; }
  const std::vector<Origin> &origins() const { return Origins; }
  bool changesDefaultType() const { return DefaultTypeChanges; }
  /// Owners whose memory may live on without them: moved, swapped, shared.
  const PlaceSet &givenUp() const { return GivenUp; }
  llvm::ArrayRef<OriginId> loans() const { return LoanList; }

private:
  // Elements.
  void visitEnter(const Frame *F);
  void visitLeave(const Frame *F);
  void dropUnreachable(const Frame *F);
  void visit(const clang::CFGElement &Element);
  void visitStmt(const clang::Stmt *S);
  void visitCondition(const clang::IfStmt *If);
  void visitAlgorithm(const clang::CallExpr *Call, llvm::StringRef Name);
  void detachElements(const clang::Expr *Site, const PlaceSet &Containers);
  void discardHistory(PlaceId P, bool Deep);
  PlaceSet named(const clang::Expr *E);
  void visitLoopStart(const clang::DeclStmt *Start, const clang::Stmt *Loop);
  void visitDecl(const clang::VarDecl *V);
  void visitInitializer(const clang::CXXCtorInitializer *Init);
  void visitReturn(const clang::ReturnStmt *Return);
  void endOfLife(const clang::VarDecl *V);

  // Calls: Calls.cpp, OperationCalls.cpp (with OperationResults.cpp),
  // TorchCalls.cpp, StdCalls.cpp; Assignments.cpp, Detaching.cpp.
  void visitCall(const clang::CallExpr *Call);
  void visitConstruct(const clang::CXXConstructExpr *Construct);
  Denotation torchCall(const clang::CallExpr *Call, const torch::Call &Kind,
                       const clang::Expr *Object,
                       llvm::ArrayRef<const clang::Expr *> Arguments);
  Denotation operation(const clang::CallExpr *Call, const torch::Operation *Op,
                       const clang::Expr *Object,
                       llvm::ArrayRef<const clang::Expr *> Arguments);
  /// Device, dtype, layout and storage of what an operation returns.
  void describeResult(Value &Result, const torch::Operation *Op,
                      llvm::ArrayRef<const clang::Expr *> Operands);
  Denotation forward(const clang::CallExpr *Call, const clang::Expr *Object,
                     llvm::ArrayRef<const clang::Expr *> Arguments,
                     std::optional<Denotation> Expanded);
  Denotation stdCall(const clang::CallExpr *Call, const clang::Expr *Object,
                     llvm::ArrayRef<const clang::Expr *> Arguments);
  Denotation foreignCall(const clang::Expr *Call,
                         const clang::FunctionDecl *Callee,
                         const clang::Expr *Object,
                         llvm::ArrayRef<const clang::Expr *> Arguments);
  void assign(const clang::Expr *Site, const clang::Expr *To,
              const clang::Expr *From);
  void append(const clang::Expr *Site, const PlaceSet &Containers,
              llvm::ArrayRef<const clang::Expr *> Elements);
  /// Elements of containers become handles to what Element is.
  void fill(const clang::Expr *Site, const PlaceSet &Containers,
            const clang::Expr *Element, bool IsAppended);
  void enterGuard(PlaceId Guard, uint8_t Mode, bool IsInference = false);
  void restoreGuards(PlaceId P);
  void constructOptimizer(const clang::Expr *Site, PlaceId P,
                          llvm::ArrayRef<const clang::Expr *> Arguments);

  // What modules register and optimizers are given: Registering.cpp.
  void train(const clang::Expr *Site, const PlaceSet &Optimizers,
             const clang::Expr *Given);
  void registered(const clang::CallExpr *Call, const clang::Expr *Object,
                  const clang::Expr *What);
  void markFresh(PlaceId P);
  void replaceEvent(const clang::Expr *Site, const clang::Expr *To,
                    const PlaceSet &Targets, const clang::Expr *From,
                    const Value &V);
  bool mentions(const clang::Stmt *S, const PlaceSet &Targets);
  bool readsTrained(const clang::Expr *From);
  uint8_t initiallyRegistered(PlaceId P);

  // Denotations.
  Denotation denote(const clang::Expr *E);
  PlaceSet objects(const clang::Expr *E);
  void remember(const clang::Expr *E, Denotation D);
  PlaceId placeOf(const clang::VarDecl *V);
  PlaceSet variable(const clang::VarDecl *V);
  PlaceSet thisObject();
  PlaceSet temporary(const clang::Expr *E, const Denotation &D);
  /// The place that a construction fills: the variable, the member, the heap
  /// object, or a temporary of its own (IsTemporary).
  PlaceSet constructionTarget(const clang::Expr *E, bool &IsTemporary);
  PlaceId returned(const Frame *F) {
    return Places.root(Root::Object, F->Id, F->Function);
  }

  // The state.
  Value load(PlaceId P);
  Value loadHeld(PlaceId P);
  Value load(const PlaceSet &Set);
  /// With everything that lies in it: a container's elements, a tuple's parts.
  Value deepLoad(PlaceId P);
  Value deepValue(const clang::Expr *E);
  Value initial(PlaceId P);
  std::optional<OriginId> entryOrigin(PlaceId P);
  std::optional<OriginId> memberOrigin(PlaceId P);
  void split(PlaceId Whole);
  bool isFromOutside(PlaceId P);
  /// All objects from outside that have been met.
  PlaceSet outside();
  void store(PlaceId P, const Value &V);
  void storeWeak(PlaceId P, const Value &V);
  void erase(PlaceId P);
  void copy(PlaceId From, PlaceId To);
  /// Follows pointers, references and handles to the objects behind them.
  PlaceSet pointees(const PlaceSet &Set);
  /// The object of a method call, through a built-in pointer.
  PlaceSet receiver(const clang::Expr *E);
  /// Of a tensor, a module or an optimizer: what it is a handle to, or itself.
  PlaceSet identity(const clang::Expr *E);
  uint8_t trainability(PlaceId Module);
  uint8_t moduleMode(PlaceId Module);

  /// The history of what is computed from operands with these histories.
  uint8_t recorded(llvm::ArrayRef<uint8_t> Operands) const;
  void finish(const clang::Expr *E, Denotation D);
  void scatter(const clang::Expr *Site, const clang::CallExpr *Tie,
               const clang::Expr *From, const Denotation &Source);
  /// E adds something to what lies at Targets: t + x, 0.9 * t + x, cat({t, x}).
  bool isAdditionTo(const clang::Expr *E, const PlaceSet &Targets,
                    bool IsSummand = false);
  bool hasSource(const Value &V) const;
  void addDecision(Value &Result, const Value &From) const;
  bool recordsIn(const Denotation &Returned, const Frame *Expansion);
  // Memory that is lent: Loans.cpp.
  bool hasLoans() const { return !LoanList.empty(); }
  void lend(Value &To, const clang::Expr *Site, const PlaceSet &Owners);
  PlaceSet lenders(const clang::Expr *Pointer);
  std::optional<PlaceId> ownerOf(PlaceId P);
  bool isFreshHandle(const clang::VarDecl *V);
  void giveUp(const PlaceSet &Owners);
  void shareHandle(const clang::Expr *E);
  void reassign(const clang::Expr *Site, const clang::Expr *To,
                const clang::Expr *From, const PlaceSet &Targets);
  void keepInBackground(const Value &V);
  // What leads into objects that an expression makes: Windows.cpp.
  bool isFreshStorage(const clang::Expr *E);
  bool isNewTensor(const clang::Expr *E);
  void lendTemporary(Value &To, const clang::Expr *Site,
                     const clang::Expr *Made);
  void lendOfVariable(Value &To, const clang::Expr *Site,
                      const clang::Expr *Tensor);
  void lendOfObject(const clang::CallExpr *Call, Value &To);
  void lendToList(const clang::CXXConstructExpr *Construct, Value &To,
                  bool IsTemporary);
  void touchVariable(const clang::DeclRefExpr *Ref);
  void shareArguments(const clang::FunctionDecl *Callee,
                      const clang::Expr *Object,
                      llvm::ArrayRef<const clang::Expr *> Arguments);
  void endMemory(PlaceId Owner, EndKind How, const clang::Expr *Site);
  void endHeld(PlaceId Pointer, EndKind How, const clang::Expr *Site);
  void endScope(const clang::VarDecl *V);
  void endFullExpression(const clang::Stmt *S);
  void endFrame(const Frame *Ended);
  void reallocate(const clang::CallExpr *Call, const PlaceSet &Containers,
                  llvm::StringRef Name);
  bool keepsMemory(const torch::Operation &Op, const clang::CallExpr *Call,
                   const Value &Self);
  void touch(const clang::Expr *Site, const Value &V);
  void touchOperands(const clang::CallExpr *Call, const torch::Call &Kind,
                     const clang::Expr *Object,
                     llvm::ArrayRef<const clang::Expr *> Arguments);
  PlaceId background() { return Places.root(Root::Object, 0, this); }
  Known<llvm::StringRef> scalarOfOptions(const clang::Expr *E,
                                         const Value &Joined);
  void tellOfBlob(const clang::CallExpr *Call, Value &Result);
  void tellOfMemory(const clang::CallExpr *Call, const torch::Operation *Op,
                    llvm::ArrayRef<const clang::Expr *> Operands,
                    const Value &Self, Value &Result);
  void writeEvent(const clang::Expr *Site, const clang::Expr *Target,
                  const Value &Written = Value(), bool IsPointer = false);
  void markBackwarded(const clang::Expr *Site, const Value &Root);
  void clearGradients(const clang::Expr *Site, const PlaceSet &Gradients);
  bool isGradient(const PlaceSet &Set);
  void writeInPlace(const clang::Expr *Site, const clang::Expr *Target,
                    const Value &Written, bool Accumulates,
                    const clang::Expr *Operand);
  OriginId origin(Origin::Kind Kind, const clang::Expr *Site);
  bool literalBool(const clang::Expr *E, bool Default, bool &IsKnown) const;
  void emit(Event E);
  void storeEvent(const clang::Expr *Site, const PlaceSet &To, Value &V,
                  StoreKind How, const clang::Expr *Operand,
                  const clang::Expr *Target = nullptr);

  const Supergraph &Graph;
  Code &Program;
  PlaceTable Places;
  std::vector<Origin> Origins;
  llvm::DenseMap<std::pair<std::pair<unsigned, unsigned>, const clang::Expr *>,
                 OriginId>
      OriginIds;
  llvm::DenseMap<PlaceId, OriginId> EntryIds, MemberIds, MemoryIds;
  /// What expressions denote, by frame: the join over all visits.
  llvm::DenseMap<std::pair<unsigned, const clang::Expr *>, Denotation>
      Denotations;

  bool DefaultTypeChanges = false;
  std::map<std::pair<OriginId, PlaceId>, OriginId> LoanIds;
  llvm::SmallVector<OriginId, 4> LoanList;
  PlaceSet GivenUp, Reserved;
  /// Objects that an expression has made and that end with it.
  std::set<PlaceId> Temporaries;

  // During transfer.
  State *S = nullptr;
  const Frame *F = nullptr;
  const Recorder *Record = nullptr;
};

/// What TensorOptions that say no scalar type have for one.
inline constexpr llvm::StringLiteral DefaultScalar = "Default";

/// std::tie(...), or std::forward_as_tuple(...), which may hold another; null
/// for others.
const clang::CallExpr *asTie(const clang::Expr *E);
/// I of std::get<I>; nothing for others.
std::optional<unsigned> tupleIndex(const clang::FunctionDecl *Callee);
/// The arguments of a call that were written, without its object: member
/// operators and methods alike.
const clang::Expr *objectOf(const clang::CallExpr *Call);
llvm::SmallVector<const clang::Expr *, 4>
argumentsOf(const clang::CallExpr *Call);

} // namespace torchtidy::model

#endif
