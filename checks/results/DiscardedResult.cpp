#include "results/DiscardedResult.h"
#include "ast/Expressions.h"
#include "ast/Locations.h"
#include "ast/Walk.h"
#include "model/syntax/AssignedBack.h"
#include "model/syntax/Effects.h"
#include "model/syntax/Variables.h"
#include "queries/devices/HostMemory.h"
#include "queries/devices/Transfers.h"
#include "queries/memory/WrittenCopies.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;
using torchtidy::flow::Met;
using torchtidy::torch::Operation;
using torchtidy::torch::Tri;
namespace op = torchtidy::torch::operation;

namespace torchtidy::model {

namespace {

/// A call whose value is not used.
struct Drop {
  const CallExpr *Call;
  /// The innermost try block around it, or null.
  const CXXTryStmt *Try;
  /// The innermost loop around it, or null.
  const Stmt *Loop;
};

/// Goes through the statements of a body, by their kinds. No ast::walk(): the
/// values of most expressions below a statement are used.
class DropFinder {
public:
  std::vector<Drop> Found;

  void visit(const Stmt *S, const CXXTryStmt *Try, const Stmt *Loop) {
    if (!S)
      return;
    if (const auto *E = dyn_cast<Expr>(S))
      return drop(E, Try, Loop);
    if (const auto *Block = dyn_cast<CXXTryStmt>(S)) {
      visit(Block->getTryBlock(), Block, Loop);
      for (unsigned I = 0; I < Block->getNumHandlers(); ++I)
        visit(Block->getHandler(I)->getHandlerBlock(), Try, Loop);
    } else if (const auto *If = dyn_cast<IfStmt>(S)) {
      visit(If->getThen(), Try, Loop);
      visit(If->getElse(), Try, Loop);
    } else if (const auto *For = dyn_cast<ForStmt>(S)) {
      visit(For->getInc(), Try, S);
      visit(For->getBody(), Try, S);
    } else if (const auto *Range = dyn_cast<CXXForRangeStmt>(S)) {
      visit(Range->getBody(), Try, S);
    } else if (const auto *While = dyn_cast<WhileStmt>(S)) {
      visit(While->getBody(), Try, S);
    } else if (const auto *Do = dyn_cast<DoStmt>(S)) {
      visit(Do->getBody(), Try, S);
    } else if (const auto *Switch = dyn_cast<SwitchStmt>(S)) {
      visit(Switch->getBody(), Try, Loop);
    } else if (isa<CompoundStmt, SwitchCase, LabelStmt, AttributedStmt>(S)) {
      for (const Stmt *Child : S->children())
        if (!isa_and_nonnull<ConstantExpr>(Child)) // the value of a case
          visit(Child, Try, Loop);
    }
  }

private:
  void drop(const Expr *E, const CXXTryStmt *Try, const Stmt *Loop) {
    // A cast to void says that it is meant.
    E = E->IgnoreParens();
    if (isa<ExplicitCastExpr>(E))
      return;
    if (isa<FullExpr, ImplicitCastExpr, CXXBindTemporaryExpr,
            MaterializeTemporaryExpr>(E))
      return drop(cast<Expr>(*E->child_begin()), Try, Loop);
    if (const auto *Binary = dyn_cast<BinaryOperator>(E);
        Binary && Binary->getOpcode() == BO_Comma) {
      drop(Binary->getLHS(), Try, Loop);
      return drop(Binary->getRHS(), Try, Loop);
    }
    if (const auto *Call = dyn_cast<CallExpr>(E))
      Found.push_back({Call, Try, Loop});
  }
};

/// The tensor whose gradient E is: p of p.grad(); null where it is none.
const Expr *ownerOfGradient(const Expr *E) {
  const auto *Call = dyn_cast_or_null<CallExpr>(ast::strip(E));
  return Call && torch::classify(Call).Kind == torch::Api::GradAccess
             ? ast::objectOf(Call)
             : nullptr;
}

/// Calls of to() that return the tensor itself, which is there or of that type
/// already: who drops the result loses nothing.
using IdleTransfers = std::set<const Stmt *>;

IdleTransfers idleTransfers(Program &User) {
  IdleTransfers Idle, Others;
  for (const auto &Entry : User.executions())
    for (const TransferEvent &Transfer : Entry->events<TransferEvent>())
      (isThereAlready(Transfer) ? Idle : Others).insert(Transfer.Site);
  for (const Stmt *Site : Others)
    Idle.erase(Site);
  return Idle;
}

/// What all functions of a program are asked with.
struct Sites {
  IdleTransfers Idle;
  WrittenCopies Copies;
  HostMemory &Memory;
};

class FunctionQuery {
public:
  FunctionQuery(Program &User, Effects &Known, const flow::ControlFlow &Flow,
                const Sites &Of)
      : User(User), Known(Known), Flow(Flow), Function(*Flow.function()),
        Of(Of) {}

  void run(std::vector<DiscardedResult> &Results) {
    DropFinder Finder;
    Finder.visit(Function.getBody(), nullptr, nullptr);
    llvm::erase_if(Finder.Found, [&](const Drop &Each) {
      return !isOnlyForItsResult(Each.Call);
    });
    Drops = Finder.Found;
    for (const Drop &Each : Drops)
      if (std::optional<DiscardedResult> Found = judge(Each))
        Results.push_back(*Found);
  }

private:
  bool isOnlyForItsResult(const CallExpr *Call) {
    // What returns nothing has no result to keep: what is dropped inside is
    // told there. Who drops a pointer has lost nothing either.
    if (Call->getType()->isDependentType() || Call->getType()->isVoidType() ||
        Call->getType()->isPointerType() || Call->containsErrors())
      return false;
    if (Of.Copies.count(Call))
      return true;
    if (const Operation *Op = torch::classify(Call).Op)
      return Effects::isPure(Call, Op);
    return torch::mayHoldTensor(Call->getType()) &&
           !torch::isHandle(Call->getType()) && Known.onlyReturns(Call);
  }

  std::optional<DiscardedResult> judge(const Drop &Dropped) {
    const CallExpr *Call = Dropped.Call;
    const Operation *Op = torch::classify(Call).Op;
    // A macro may use its argument in ways that are not known here:
    // EXPECT_DEATH(a + b, ""), REQUIRE_NOTHROW(a + b).
    if (isArgumentOfMacro(Call) || isWarmUp(Dropped) || isMadeAgain(Call) ||
        Of.Idle.count(Call))
      return std::nullopt;
    DiscardedResult Result;
    Result.Call = Call;
    if (Of.Copies.count(Call))
      return judgeWrite(Dropped);
    if (Op && Op->Returns == op::Scalar) {
      // A comparison whose result is not used. Sizes are only read.
      const bool IsComparison = Op->Sync == Tri::Yes &&
                                Call->getType()->isBooleanType() &&
                                !Op->has(op::DiscardsHistory);
      if (!IsComparison || !ends(Dropped))
        return std::nullopt;
      return Result;
    }
    llvm::SmallVector<const Expr *, 4> Subjects;
    addSubjects(Call, Subjects);
    for (const Expr *Subject : Subjects)
      if (isLookedAt(Subject, Dropped)) {
        Result.Subject = Subject;
        Result.Helper = Op ? nullptr : Call->getDirectCallee();
        Result.Converts =
            Op && (Op->has(op::ChangesDevice) || Op->has(op::ChangesDtype));
        Result.CanAssign = canBeAssigned(Flow, Call, Subject);
        Result.ReadOnHost = readOnHost(Call, Subject);
        Result.Reshapes =
            reshapes(Call) && !isAskedForShape(Flow, Call, Subject);
        return Result;
      }
    return std::nullopt;
  }

  const CallExpr *readOnHost(const CallExpr *Call, const Expr *Subject) {
    const auto *Ref = dyn_cast<DeclRefExpr>(ast::strip(Subject));
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    return V && Of.Memory.mayLeaveHost(Call) ? Of.Memory.readOf(V, Flow, Call)
                                             : nullptr;
  }

  std::optional<DiscardedResult> judgeWrite(const Drop &Dropped) {
    const CallExpr *Call = Dropped.Call;
    DiscardedResult Result;
    Result.Call = Call;
    Result.Copy = copyWrittenBy(Call);
    llvm::SmallVector<const Expr *, 4> Subjects;
    addSubjects(ast::objectOf(Result.Copy) ? ast::objectOf(Result.Copy)
                                           : Result.Copy->getArg(0),
                Subjects);
    for (const Expr *Subject : Subjects)
      if (isLookedAt(Subject, Dropped)) {
        Result.Subject = Subject;
        Result.CanPut = canPut(Call, Result.Copy);
        return Result;
      }
    return std::nullopt;
  }

  bool canPut(const CallExpr *Write, const CallExpr *Copy) const {
    if (!torch::isIndexing(*torch::classify(Copy).Op) || !ast::objectOf(Copy) ||
        !isAssignment(Write))
      return false;
    const Expr *Number = ast::argumentsOf(Write).front();
    return isNumber(Number) && !Of.Copies.at(Write) &&
           !Function.isTemplateInstantiation() &&
           !ast::beginLoc(Write).isMacroID() &&
           !Number->getBeginLoc().isMacroID() &&
           !Number->getEndLoc().isMacroID();
  }

  /// Of C++, or a Scalar that is made of one.
  static bool isNumber(const Expr *E) {
    while (const Expr *From = ast::madeFrom(E))
      E = From;
    return ast::stripCopies(E)->getType()->isArithmeticType();
  }

  bool isArgumentOfMacro(const CallExpr *Call) const {
    const SourceManager &SM = User.sourceManager();
    // Of the name of what is called: x in MOVE(x) may be an argument.
    SourceLocation Location = Call->getExprLoc();
    while (Location.isMacroID()) {
      if (SM.isMacroArgExpansion(Location))
        return true;
      Location = SM.getImmediateMacroCallerLoc(Location);
    }
    return false;
  }

  /// The same call, written the same way, is made again and its result used:
  /// this one was a warm-up, or nothing is lost.
  bool isMadeAgain(const CallExpr *Call) const {
    const std::string Text = User.text(Call);
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (Text.empty())
      return false;
    bool Found = false;
    ast::walk(
        Function.getBody(),
        [&](const Stmt *S, llvm::ArrayRef<const Stmt *>) {
          if (isDropped(S))
            return ast::Next::Past;
          const auto *Other = dyn_cast<CallExpr>(S);
          Found = Other && Other->getDirectCallee() == Callee &&
                  User.text(Other) == Text;
          return Found ? ast::Next::Stop : ast::Next::Children;
        },
        ast::Lambdas::Skip);
    return Found;
  }

  bool isDropped(const Stmt *S) const {
    return llvm::any_of(Drops,
                        [&](const Drop &Each) { return Each.Call == S; });
  }

  bool isInDrop(const Stmt *S) const {
    for (; isa_and_nonnull<Expr>(S); S = Flow.parent(S))
      if (isDropped(S))
        return true;
    return false;
  }

  /// A loop that does the same again and again, and nothing else.
  bool isWarmUp(const Drop &Dropped) const {
    if (!Dropped.Loop)
      return false;
    llvm::SmallVector<const ValueDecl *, 2> Changed;
    const Stmt *Body = nullptr;
    if (const auto *Range = dyn_cast<CXXForRangeStmt>(Dropped.Loop)) {
      Changed.push_back(Range->getLoopVariable());
      if (const auto *Parts =
              dyn_cast<DecompositionDecl>(Range->getLoopVariable()))
        Changed.append(Parts->bindings().begin(), Parts->bindings().end());
      Body = Range->getBody();
    } else if (const auto *For = dyn_cast<ForStmt>(Dropped.Loop)) {
      addVariables(For->getInc(), Changed);
      Body = For->getBody();
    } else if (const auto *While = dyn_cast<WhileStmt>(Dropped.Loop)) {
      addVariables(While->getCond(), Changed);
      Body = While->getBody();
    } else if (const auto *Do = dyn_cast<DoStmt>(Dropped.Loop)) {
      addVariables(Do->getCond(), Changed);
      Body = Do->getBody();
    }
    llvm::SmallVector<const Stmt *, 4> Statements = {Body};
    if (const auto *Block = dyn_cast_or_null<CompoundStmt>(Body))
      Statements.assign(Block->body_begin(), Block->body_end());
    for (const Stmt *S : Statements) {
      const auto *E = dyn_cast_or_null<Expr>(S);
      if (!E || !isDropped(E->IgnoreImplicit()))
        return false;
    }
    llvm::SmallVector<const ValueDecl *, 8> Used;
    addVariables(Dropped.Call, Used);
    return llvm::none_of(Used, [&](const ValueDecl *V) {
      return llvm::is_contained(Changed, V);
    });
  }

  static void addVariables(const Stmt *S,
                           llvm::SmallVectorImpl<const ValueDecl *> &Result) {
    ast::forEachStmt(
        S,
        [&](const Stmt *Part) {
          if (const auto *Ref = dyn_cast<DeclRefExpr>(Part))
            Result.push_back(Ref->getDecl());
        },
        ast::Lambdas::Enter);
  }

  /// The variables and members that the result was computed from, through calls
  /// that only return results.
  void addSubjects(const Expr *E, llvm::SmallVectorImpl<const Expr *> &Result) {
    E = ast::strip(E);
    if (!E || isa<LambdaExpr>(E))
      return;
    if (const Expr *Owner = ownerOfGradient(E)) {
      if (const std::optional<Named> Root = namedVariable(Owner);
          Root && !Root->Temporary)
        Result.push_back(E);
      return;
    }
    if (const auto *Call = dyn_cast<CallExpr>(E)) {
      const Operation *Op = torch::classify(Call).Op;
      if (Op ? Op->Writes == op::Self || Effects::isPure(Call, Op)
             : Known.onlyReturns(Call)) {
        if (const Expr *Object = ast::objectOf(Call))
          addSubjects(Object, Result);
        for (const Expr *Argument : ast::argumentsOf(Call))
          addSubjects(Argument, Result);
        return;
      }
    } else if (isa<CXXConstructExpr, InitListExpr, CXXStdInitializerListExpr>(
                   E)) {
      for (const Stmt *Child : E->children())
        if (const auto *Part = dyn_cast_or_null<Expr>(Child))
          addSubjects(Part, Result);
      return;
    }
    if (!torch::mayHoldTensor(E->getType()) || torch::isHandle(E->getType()))
      return;
    if (const std::optional<Named> Root = namedVariable(E);
        Root && !Root->Temporary)
      Result.push_back(E);
  }

  /// No clock is read and no device waited for before the function ends.
  bool ends(const Drop &Dropped) {
    return flow::mayMeet(
        Flow, Dropped.Call,
        [&](const CFGElement &Element) { return around(Element, Dropped); },
        true);
  }

  /// What ends a path whatever is asked for.
  Met around(const CFGElement &Element, const Drop &Dropped) {
    const std::optional<CFGStmt> Statement = Element.getAs<CFGStmt>();
    if (!Statement)
      return Met::Passed;
    const Stmt *S = Statement->getStmt();
    if (Known.measures(S))
      return Met::Stop;
    // Behind the try block it is known that it did not throw.
    if (Dropped.Try && !Flow.isInside(S, Dropped.Try->getTryBlock()))
      return Met::Stop;
    return Met::Passed;
  }

  /// What Subject names may be read before a clock is: here, or
  /// where it lives on.
  bool isLookedAt(const Expr *Subject, const Drop &Dropped) {
    llvm::SmallPtrSet<const ValueDecl *, 4> Seen;
    const Expr *Owner = ownerOfGradient(Subject);
    Named Root = *namedVariable(Owner ? Owner : Subject);
    // A gradient is that of all handles to the tensor.
    if (Owner && mayBeAnotherHandle(Root))
      Root.ThroughPointer = true;
    return isLookedAt(Root, Dropped, Seen);
  }

  /// Not a variable of the function itself that an expression of its own has
  /// made.
  bool mayBeAnotherHandle(const Named &Root) const {
    const auto *V = dyn_cast_or_null<VarDecl>(Root.Variable);
    if (!V || !Root.isWhole() || isa<ParmVarDecl>(V) || !isOwn(V, &Function) ||
        rangeLoopOf(Flow, V))
      return true;
    const Expr *Init = V->getInit() ? ast::stripCopies(V->getInit()) : nullptr;
    // x.clone().requires_grad_() is the clone.
    while (const auto *Call = dyn_cast_or_null<CallExpr>(Init)) {
      const Expr *Object = ast::objectOf(Call);
      if (!Call->isGLValue() || !Object || !torch::isTensor(Object->getType()))
        break;
      Init = ast::stripCopies(Object);
    }
    return Init && (!isa<CallExpr>(Init) || Init->isGLValue());
  }

  bool isLookedAt(const Named &Root, const Drop &Dropped,
                  llvm::SmallPtrSetImpl<const ValueDecl *> &Seen) {
    if (Root.Variable && !Seen.insert(Root.Variable).second)
      return false;
    const Readers Reading(Flow, Root.Variable, Root.Member);
    const auto Look = [&](const CFGElement &Element) {
      if (const Met Ends = around(Element, Dropped); Ends != Met::Passed)
        return Ends;
      const Met Read = Reading.look(Element);
      return Read == Met::Found && isInDrop(Element.castAs<CFGStmt>().getStmt())
                 ? Met::Passed
                 : Read;
    };
    if (flow::mayMeet(Flow, Dropped.Call, Look, livesOn(Root, Dropped)))
      return true;
    // A reference, or an element of what the loop goes through.
    const auto *V = dyn_cast_or_null<VarDecl>(Root.Variable);
    if (const auto *Binding = dyn_cast_or_null<BindingDecl>(Root.Variable))
      V = dyn_cast_or_null<VarDecl>(Binding->getDecomposedDecl());
    if (!V || isa<ParmVarDecl>(V))
      return false;
    const Expr *Source = nullptr;
    if (const CXXForRangeStmt *Loop = rangeLoopOf(Flow, V))
      Source = Loop->getRangeInit();
    else if (V->getType()->isReferenceType())
      Source = V->getInit();
    const std::optional<Named> From = namedVariable(Source);
    return From && !isLoader(Source) && isLookedAt(*From, Dropped, Seen);
  }

  /// The batches of a loader are made for their iteration.
  static bool isLoader(const Expr *Range) {
    const CXXRecordDecl *Record = torch::recordOf(Range->getType());
    return Record && torch::isLibTorch(Record) &&
           torch::kindOf(Record) == torch::TypeKind::Other;
  }

  /// Others see the object when the function is over.
  bool livesOn(const Named &Root, const Drop &Dropped) const {
    const auto *V = dyn_cast_or_null<VarDecl>(Root.Variable);
    if (Root.Variable && Root.Variable->getDeclContext() != &Function &&
        !(V && V->hasGlobalStorage())) {
      // Captured: a callback for the elements (std::for_each) changes them,
      // others are called for what they do.
      llvm::SmallVector<const ValueDecl *, 8> Used;
      addVariables(Dropped.Call, Used);
      return llvm::any_of(Used, [&](const ValueDecl *Each) {
        return isa<ParmVarDecl>(Each) && Each->getDeclContext() == &Function;
      });
    }
    if (V && V->hasGlobalStorage())
      return true;
    if (const auto *Parameter = dyn_cast_or_null<ParmVarDecl>(V)) {
      const QualType Type = Parameter->getType();
      const bool IsWritable = Type->isLValueReferenceType() &&
                              !Type->getPointeeType().isConstQualified();
      return IsWritable || Root.ThroughPointer;
    }
    return !V || Root.ThroughPointer;
  }

  Program &User;
  Effects &Known;
  const flow::ControlFlow &Flow;
  const FunctionDecl &Function;
  const Sites &Of;
  std::vector<Drop> Drops;
};

} // namespace

std::vector<DiscardedResult> discardedResults(Program &User) {
  std::vector<DiscardedResult> Results;
  Code &All = User.code();
  Effects Known(All);
  HostMemory Memory(User);
  const Sites Of = {idleTransfers(User), writtenCopies(User), Memory};
  for (const FunctionDecl *F : All.functions().all())
    if (All.mentionsTorch(F))
      if (const flow::ControlFlow *Flow = All.controlFlow(F))
        FunctionQuery(User, Known, *Flow, Of).run(Results);
  return Results;
}

} // namespace torchtidy::model
