#include "transfer/RepeatedTransfer.h"
#include "ast/Expressions.h"
#include "queries/devices/Transfers.h"
#include "queries/loops/LoopInvariance.h"
#include "queries/loops/Loops.h"
#include "torch/Api.h"
#include "torch/Data.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace torchtidy::model {

using flow::Loop;

namespace {

/// The members that are registered as buffers or parameters: Module::to() moves
/// them.
class MembersMovedByModule {
public:
  explicit MembersMovedByModule(Code &User) : User(User) {}

  bool contains(const ValueDecl *D) {
    if (!IsRead)
      read();
    return Members.count(D);
  }

private:
  void read() {
    IsRead = true;
    for (const FunctionDecl *F : User.functions().all()) {
      visit(F->getBody(), nullptr);
      if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(F))
        for (const CXXCtorInitializer *Init : Constructor->inits())
          visit(Init->getInit(), Init->getAnyMember());
    }
  }

  void visit(const Stmt *S, const ValueDecl *Target) {
    if (!S)
      return;
    if (const auto *Assign = dyn_cast<CXXOperatorCallExpr>(S);
        Assign && Assign->getOperator() == OO_Equal)
      if (const auto *Member =
              dyn_cast<MemberExpr>(ast::strip(Assign->getArg(0))))
        Target = Member->getMemberDecl();
    if (const auto *Call = dyn_cast<CallExpr>(S)) {
      const torch::Api Kind = torch::classify(Call).Kind;
      if (Kind == torch::Api::RegisterBuffer ||
          Kind == torch::Api::RegisterParameter) {
        if (Target)
          Members.insert(Target);
        for (const Expr *Argument : Call->arguments())
          if (const auto *Member = dyn_cast<MemberExpr>(ast::strip(Argument)))
            Members.insert(Member->getMemberDecl());
      }
    }
    for (const Stmt *Child : S->children())
      visit(Child, Target);
  }

  Code &User;
  llvm::DenseSet<const ValueDecl *> Members;
  bool IsRead = false;
};

class RepetitionQuery {
public:
  RepetitionQuery(const Execution &Entry, Invariance &Same,
                  MembersMovedByModule &Moved, const TransferEvent &Transfer)
      : Entry(Entry), Same(Same), Moved(Moved), Transfer(Transfer),
        Call(cast<CallExpr>(Transfer.Site)) {}

  std::optional<RepeatedTransfer> run() {
    const auto Around = Entry.loopsAround(Transfer.Point);
    if (Around.empty() || !ast::objectOf(Call) || isThereAlready(Transfer) ||
        asksForItsOwn())
      return std::nullopt;
    findVariable();
    std::optional<RepeatedTransfer> Found = inEach(*Around.back());
    for (const Loop *L : llvm::drop_begin(llvm::reverse(Around)))
      if (!Found)
        Found = ofEachElement(*L);
    if (Found && Found->How != RepeatedTransfer::Samples)
      Found->IsStrictOnly = mayBeThere();
    return Found;
  }

private:
  /// Nothing says what the tensor is, and it is asked for a type, for the CPU,
  /// or for the device of another tensor: code that takes whatever comes. In a
  /// program it mostly gets what it asks for. What the class itself has stored
  /// it could have stored as it wants it.
  bool mayBeThere() const {
    const auto *Member = dyn_cast<MemberExpr>(ast::strip(ast::objectOf(Call)));
    if (Member && isa<CXXThisExpr>(ast::strip(Member->getBase())))
      return false;
    if (!Transfer.MovesDevice)
      return !Transfer.Input.Scalar.get();
    if (Transfer.Input.OnDevice.get())
      return false;
    return Transfer.Result.OnDevice.get() == Device::CPU || asksForThatOf();
  }

  /// x.to(y.device()), x.to(y.options())
  bool asksForThatOf() const {
    const Expr *Of = askedObject();
    return Of && torch::isTensor(Of->getType());
  }

  /// The y of x.to(y.device()); null where the argument is no call of a member.
  const Expr *askedObject() const {
    const auto Arguments = ast::argumentsOf(Call);
    const auto *Asked =
        Arguments.empty()
            ? nullptr
            : dyn_cast<CXXMemberCallExpr>(ast::stripCopies(Arguments[0]));
    return Asked ? Asked->getImplicitObjectArgument() : nullptr;
  }

  /// The same in every iteration of L, as far as the loop and the arguments go.
  bool asksForTheSame(const Loop &L) {
    return !isOuterLoop(Entry, L) &&
           isUnconditional(Entry, Call, Transfer.In, L) &&
           llvm::all_of(ast::argumentsOf(Call), [&](const Expr *Argument) {
             return isa<CXXDefaultArgExpr>(Argument) ||
                    Same.isInvariant(Argument, Transfer.In, L);
           });
  }

  std::optional<RepeatedTransfer> inEach(const Loop &L) {
    if (!asksForTheSame(L))
      return std::nullopt;
    RepeatedTransfer Result;
    Result.Entry = &Entry;
    Result.Transfer = &Transfer;
    Result.Around = &L;
    Result.How = Transfer.MovesDevice ? RepeatedTransfer::Copies
                                      : RepeatedTransfer::Converts;
    Result.Variable = Variable;
    if (isSameTensor(L)) {
      Result.CanMove = Variable && !isWorkingCopy(L) &&
                       canMoveBefore(Variable->getInit(),
                                     Entry.loopStatement(L), Transfer.In);
      return Result;
    }
    // To the CPU: what comes from code that is not seen may well be there. What
    // is written on its device is wanted there.
    const bool IsToCpu = Transfer.Result.OnDevice.get() == Device::CPU;
    if (!Transfer.MovesDevice || isMadeHere() || isOverBatches(L) ||
        !isStackedAfter(L) || isWorkingCopy(L) ||
        (IsToCpu && !Transfer.Input.OnDevice.get()))
      return std::nullopt;
    Result.How = RepeatedTransfer::Samples;
    return Result;
  }

  /// A data loader has put each of them together already.
  bool isOverBatches(const Loop &L) const {
    const auto *For = dyn_cast_or_null<CXXForRangeStmt>(Entry.loopStatement(L));
    const auto *Begin =
        For && For->getBeginStmt()
            ? dyn_cast<VarDecl>(For->getBeginStmt()->getSingleDecl())
            : nullptr;
    const auto *BeginCall =
        Begin && Begin->getInit()
            ? dyn_cast<CallExpr>(ast::strip(Begin->getInit()))
            : nullptr;
    return BeginCall &&
           !torch::datasetOf(BeginCall->getDirectCallee()).isNull();
  }

  /// An inner loop goes through the same elements in each iteration of L. On
  /// another device there may be no room for all of them at once.
  std::optional<RepeatedTransfer> ofEachElement(const Loop &L) {
    const Expr *Object = ast::strip(ast::objectOf(Call));
    if (Transfer.MovesDevice || !asksForTheSame(L) ||
        Transfer.Input.needsGrad() || isWorkingCopy(L) ||
        !Same.isSameElementAgain(Object, Transfer.In, L) ||
        isWritten(Entry, Transfer.Source, Transfer.Input, L, Transfer.Memory))
      return std::nullopt;
    RepeatedTransfer Result;
    Result.Entry = &Entry;
    Result.Transfer = &Transfer;
    Result.Around = &L;
    Result.How = RepeatedTransfer::Converts;
    Result.Variable = Variable;
    return Result;
  }

  bool isSameTensor(const Loop &L) const {
    const Expr *Object = ast::strip(ast::objectOf(Call));
    const auto *Member = dyn_cast<MemberExpr>(Object);
    return !Transfer.Input.needsGrad() &&
           !(Member && isOfModule(Member->getMemberDecl())) &&
           isWholeContentKept(Object, L) &&
           !isWritten(Entry, Transfer.Source, Transfer.Input, L,
                      Transfer.Memory);
  }

  /// Of a plain variable isWritten() knows more: who writes into the copy.
  bool isWholeContentKept(const Expr *Object, const Loop &L) const {
    return isa<DeclRefExpr, MemberExpr>(Object)
               ? Same.isInvariant(Object, Transfer.In, L)
               : Same.hasSameContent(Object, Transfer.In, L);
  }

  /// Buffers and parameters go where their module goes, and it changes them:
  /// running_mean.
  bool isOfModule(const ValueDecl *Member) const {
    const auto *Record = dyn_cast<CXXRecordDecl>(Member->getDeclContext());
    return Moved.contains(Member) ||
           (Record && torch::isLibTorch(Record) &&
            torch::kindOf(Record) == torch::TypeKind::Module);
  }

  /// x.to(x.dtype())
  bool asksForItsOwn() const {
    const Expr *Asked = askedObject();
    const ValueDecl *Of = Asked ? declarationOf(Asked) : nullptr;
    return Of && Of == declarationOf(ast::objectOf(Call));
  }

  /// The copy is written into: each iteration needs a new one.
  bool isWorkingCopy(const Loop &L) const {
    return llvm::any_of(Entry.events<WriteEvent>(), [&](const auto &Write) {
      return L.contains(Write.Point) && Write.Before.uses(Transfer.Memory);
    });
  }

  void findVariable() {
    const flow::ControlFlow *Flow = Transfer.In->Flow;
    for (const Stmt *S = Flow->parent(Call); S; S = Flow->parent(S)) {
      if (const auto *Declaration = dyn_cast<DeclStmt>(S)) {
        const auto *V = Declaration->isSingleDecl()
                            ? dyn_cast<VarDecl>(Declaration->getSingleDecl())
                            : nullptr;
        if (V && V->getInit() && ast::strip(V->getInit()) == Call)
          Variable = V;
        return;
      }
      if (!isa<Expr>(S) || ast::strip(cast<Expr>(S)) != Call)
        return;
    }
  }

  /// torch::full(..).to(device): it is to be made there, which
  /// torch-allocate-on-device tells.
  bool isMadeHere() const {
    const auto *Maker = dyn_cast<CallExpr>(ast::strip(ast::objectOf(Call)));
    const torch::Operation *Op = Maker ? torch::classify(Maker).Op : nullptr;
    return Op && Op->has(torch::operation::Factory);
  }

  /// The container that E is pushed to, as a variable or a member.
  static const ValueDecl *container(const Stmt *S) {
    // onDevice[i] = ...
    if (const auto *Assign = dyn_cast<CXXOperatorCallExpr>(S);
        Assign && Assign->getOperator() == OO_Equal)
      if (const auto *Element =
              dyn_cast<CXXOperatorCallExpr>(ast::strip(Assign->getArg(0)));
          Element && Element->getOperator() == OO_Subscript &&
          !torch::isTensor(Element->getArg(0)->getType()))
        return declarationOf(Element->getArg(0));
    const auto *Push = dyn_cast<CXXMemberCallExpr>(S);
    if (!Push || !torch::appendsOneElement(Push->getMethodDecl()))
      return nullptr;
    return declarationOf(Push->getImplicitObjectArgument());
  }

  static const ValueDecl *declarationOf(const Expr *E) {
    E = ast::stripCopies(E);
    if (const auto *Move = dyn_cast<CallExpr>(E);
        Move && Move->isCallToStdMove())
      E = ast::strip(Move->getArg(0));
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      return Ref->getDecl();
    const auto *Member = dyn_cast<MemberExpr>(E);
    return Member ? Member->getMemberDecl() : nullptr;
  }

  /// The result, or the variable that holds it, goes into a container that is
  /// stacked when the loop is over.
  bool isStackedAfter(const Loop &L) const {
    const flow::ControlFlow *Flow = Transfer.In->Flow;
    const ValueDecl *Into = nullptr;
    for (const Stmt *S = Flow->parent(Call); S && !Into; S = Flow->parent(S)) {
      if (!isa<Expr>(S))
        break;
      if (const CallExpr *Outer = dyn_cast<CallExpr>(S);
          Outer && !container(S) && ast::strip(Outer) != Call)
        break;
      Into = container(S);
    }
    if (Variable && !Into)
      for (const Stmt *S = Flow->parent(Call); S; S = Flow->parent(S))
        if (const auto *Block = dyn_cast<CompoundStmt>(S)) {
          for (const Stmt *Each : Block->body())
            if (const auto *E = dyn_cast<Expr>(Each)) {
              const auto *Push = dyn_cast<CXXMemberCallExpr>(ast::strip(E));
              const ValueDecl *Target = Push ? container(Push) : nullptr;
              if (Target && Push->getNumArgs() == 1 &&
                  declarationOf(Push->getArg(0)) == Variable)
                Into = Target;
            }
          break;
        }
    if (!Into)
      return false;
    return llvm::any_of(Entry.events<CombineEvent>(), [&](const auto &Combine) {
      const auto *Stack = dyn_cast<CallExpr>(Combine.Site);
      return Stack && !L.contains(Combine.Point) && Combine.In == Transfer.In &&
             Stack->getNumArgs() > 0 && declarationOf(Stack->getArg(0)) == Into;
    });
  }

  const Execution &Entry;
  Invariance &Same;
  MembersMovedByModule &Moved;
  const TransferEvent &Transfer;
  const CallExpr *Call;
  const VarDecl *Variable = nullptr;
};

} // namespace

std::vector<RepeatedTransfer> repeatedTransfers(Program &Program) {
  std::vector<RepeatedTransfer> Result;
  MembersMovedByModule Moved(Program.code());
  for (const Execution *Entry : Program.executionsThatCost()) {
    Invariance Same(*Entry);
    for (const TransferEvent &Transfer : Entry->events<TransferEvent>())
      if (auto Found = RepetitionQuery(*Entry, Same, Moved, Transfer).run())
        Result.push_back(*Found);
  }
  return Result;
}

} // namespace torchtidy::model
