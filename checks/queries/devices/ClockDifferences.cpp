#include "queries/devices/ClockDifferences.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "torch/Measurement.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include <map>

using namespace clang;

namespace torchtidy::model {

namespace {

/// Code that is read: of an activation, or of a function that is not followed,
/// all of which happens at its call.
struct Scope {
  const Frame *F = nullptr;
  /// Null for an activation.
  const OpaqueEvent *Call = nullptr;
  const FunctionDecl *Function = nullptr;
};

/// A variable of an activation, or a member of an object: of which one, and
/// which it is.
using Holder = std::pair<const void *, const ValueDecl *>;

struct Subtraction {
  const Expr *Later = nullptr, *Earlier = nullptr;
};

class Readings {
public:
  explicit Readings(const Execution &Entry) : Entry(Entry) {
    for (const OpaqueEvent &Each : Entry.events<OpaqueEvent>())
      Events[{Each.In, Each.Site}].push_back(&Each);
    for (const std::unique_ptr<Frame> &F : Entry.graph().frames())
      Scopes.push_back({F.get(), nullptr, F->Function});
    for (const OpaqueEvent &Each : Entry.events<OpaqueEvent>())
      if (const FunctionDecl *Callee = unfollowed(Each))
        Scopes.push_back({Each.In, &Each, Callee});
  }

  std::vector<ClockDifference> differences() {
    if (!llvm::any_of(Scopes, [&](const Scope &In) {
          return any(In, [](const Stmt *S) { return readsClock(S); });
        }))
      return {};
    for (const Scope &In : Scopes)
      findStarts(In);
    std::vector<ClockDifference> Result;
    for (const Scope &In : Scopes)
      findDifferences(In, Result);
    return Result;
  }

private:
  static bool readsClock(const Stmt *S) {
    const auto *Call = dyn_cast<CallExpr>(S);
    return Call && torch::readsClock(Call->getDirectCallee());
  }

  /// A function of the user's that is only called; null for others.
  const FunctionDecl *unfollowed(const OpaqueEvent &E) const {
    const FunctionDecl *Callee = nullptr;
    if (const auto *Call = dyn_cast<CallExpr>(E.Site))
      Callee = Call->getDirectCallee();
    else if (const auto *Construct = dyn_cast<CXXConstructExpr>(E.Site))
      Callee = Construct->getConstructor();
    if (!Callee || torch::readsClock(Callee))
      return nullptr;
    const FunctionDecl *Definition = Callee->getDefinition();
    return Definition && Definition->getBody() ? Definition : nullptr;
  }

  static bool any(const Scope &In, llvm::function_ref<bool(const Stmt *)> Is) {
    bool Result = In.Function->getBody() &&
                  ast::anyStmt(In.Function->getBody(), Is, ast::Lambdas::Skip);
    forEachInit(In, [&](const FieldDecl *, const Expr *Init) {
      Result = Result || ast::anyStmt(Init, Is, ast::Lambdas::Skip);
    });
    return Result;
  }

  static void
  forEachInit(const Scope &In,
              llvm::function_ref<void(const FieldDecl *, const Expr *)> Do) {
    const auto *Constructor = dyn_cast<CXXConstructorDecl>(In.Function);
    if (!Constructor)
      return;
    for (const CXXCtorInitializer *Init : Constructor->inits()) {
      const Expr *E = Init->getInit();
      if (const auto *Default = dyn_cast_or_null<CXXDefaultInitExpr>(E))
        E = Default->getExpr();
      if (Init->isMemberInitializer() && E)
        Do(Init->getMember(), E);
    }
  }

  static std::optional<Subtraction> subtraction(const Stmt *S) {
    if (const auto *Binary = dyn_cast<BinaryOperator>(S);
        Binary && Binary->getOpcode() == BO_Sub)
      return Subtraction{Binary->getLHS(), Binary->getRHS()};
    const auto *Call = dyn_cast<CXXOperatorCallExpr>(S);
    return Call && Call->getOperator() == OO_Minus && Call->getNumArgs() == 2 &&
                   torch::isStd(Call->getDirectCallee())
               ? std::optional(Subtraction{Call->getArg(0), Call->getArg(1)})
               : std::nullopt;
  }

  /// A function of the user's that returns what a clock says, and no more.
  bool isClock(const CallExpr *Call) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (!Callee || torch::readsClock(Callee))
      return Callee;
    const FunctionDecl *Definition = Callee->getDefinition();
    if (!Definition || Definition->getNumParams() ||
        isa<CXXMethodDecl>(Callee) || Definition->getReturnType()->isVoidType())
      return false;
    const auto [It, IsNew] = Clocks.try_emplace(Definition, false);
    if (IsNew)
      It->second = any({nullptr, nullptr, Definition}, readsClock) &&
                   !any({nullptr, nullptr, Definition}, [](const Stmt *S) {
                     return subtraction(S).has_value();
                   });
    return Clocks[Definition];
  }

  /// The reading of a clock that E is, in whatever unit; null where it is
  /// another number: a later time, a difference.
  const CallExpr *clockIn(const Expr *E) {
    const CallExpr *Result = nullptr;
    bool IsOther = false;
    ast::forEachStmt(
        E,
        [&](const Stmt *S) {
          const auto *Call = dyn_cast<CallExpr>(S);
          if (Call && isClock(Call)) {
            IsOther |= Result != nullptr;
            Result = Call;
          }
          const auto *Binary = dyn_cast<BinaryOperator>(S);
          const auto *Operator = dyn_cast<CXXOperatorCallExpr>(S);
          IsOther |= subtraction(S).has_value() ||
                     (Binary && Binary->isAdditiveOp()) ||
                     (Operator && Operator->getOperator() == OO_Plus);
        },
        ast::Lambdas::Skip);
    return IsOther ? nullptr : Result;
  }

  // Who holds a reading.

  /// What E is as an object: a variable, a member, or, where it is this, what
  /// the method of In was called on. Null where that is not known.
  const void *objectOf(const Expr *E, const Frame *F) {
    E = ast::strip(E);
    if (const auto *Unary = dyn_cast<UnaryOperator>(E))
      return objectOf(Unary->getSubExpr(), F);
    if (isa<CXXThisExpr>(E))
      return thisOf(F);
    if (const auto *Member = dyn_cast<MemberExpr>(E))
      return Member->getMemberDecl();
    if (const auto *Arrow = dyn_cast<CXXOperatorCallExpr>(E);
        Arrow && torch::isStd(Arrow->getDirectCallee()))
      return objectOf(Arrow->getArg(0), F);
    const auto *Ref = dyn_cast<DeclRefExpr>(E);
    if (const auto *Parameter =
            Ref ? dyn_cast<ParmVarDecl>(Ref->getDecl()) : nullptr) {
      const Supergraph::Passed Given = Supergraph::passed(F, Parameter);
      if (Given.Argument)
        return objectOf(Given.Argument, Given.To->Caller);
    }
    return Ref ? Ref->getDecl() : nullptr;
  }

  const void *madeBy(const Expr *Construct, const Frame *F) {
    const Stmt *S = F->Flow ? F->Flow->statement(Construct) : nullptr;
    const auto *Declaration = dyn_cast_or_null<DeclStmt>(S);
    return Declaration && Declaration->isSingleDecl()
               ? Declaration->getSingleDecl()
               : nullptr;
  }

  const void *thisOf(const Frame *F) {
    if (F->Destroyed)
      return F->Destroyed;
    if (!F->Caller)
      return &Entry;
    if (F->Object)
      return objectOf(F->Object, F->Caller);
    const auto *Site = dyn_cast_or_null<CXXConstructExpr>(F->Site);
    return Site ? madeBy(Site, F->Caller)
           : isa<CXXConstructorDecl>(F->Function) && !F->Site
               ? static_cast<const void *>(&Entry)
               : nullptr;
  }

  const void *thisOf(const Scope &In) {
    if (!In.Call)
      return thisOf(In.F);
    if (const auto *Call = dyn_cast<CallExpr>(In.Call->Site)) {
      const Expr *Object = ast::objectOf(Call);
      return Object ? objectOf(Object, In.F) : nullptr;
    }
    return madeBy(In.Call->Site, In.F);
  }

  std::optional<Holder> holder(const Expr *E, const Scope &In) {
    E = ast::strip(E);
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
      const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
      if (!V)
        return std::nullopt;
      if (!V->hasLocalStorage())
        return Holder{nullptr, V};
      return In.Call ? Holder{In.Call, V}
                     : Holder{Supergraph::owner(In.F, V), V};
    }
    const auto *Member = dyn_cast<MemberExpr>(E);
    const auto *Field =
        Member ? dyn_cast<FieldDecl>(Member->getMemberDecl()) : nullptr;
    if (!Field)
      return std::nullopt;
    const Expr *Base = ast::strip(Member->getBase());
    // end.tv_sec
    if (Entry.code().context().getSourceManager().isInSystemHeader(
            Field->getLocation()))
      return holder(Base, In);
    const void *Object = isa<CXXThisExpr>(Base) ? thisOf(In)
                         : In.Call              ? nullptr
                                                : objectOf(Base, In.F);
    return Object ? std::optional(Holder{Object, Field}) : std::nullopt;
  }

  llvm::ArrayRef<const OpaqueEvent *> eventsOf(const Expr *Call,
                                               const Scope &In) {
    if (In.Call)
      return In.Call;
    return Events[{In.F, Call}];
  }

  // Starts and differences.

  void keep(std::optional<Holder> Where, const CallExpr *Clock,
            const Scope &In) {
    if (!Where || !Clock)
      return;
    auto &Known = Kept[*Where];
    for (const OpaqueEvent *Each : eventsOf(Clock, In))
      if (!llvm::is_contained(Known, Each))
        Known.push_back(Each);
  }

  void findStarts(const Scope &In) {
    forEachInit(In, [&](const FieldDecl *Field, const Expr *Init) {
      if (const void *Object = thisOf(In))
        keep(Holder{Object, Field}, clockIn(Init), In);
    });
    if (!In.Function->getBody())
      return;
    ast::forEachStmt(
        In.Function->getBody(), [&](const Stmt *S) { findStart(S, In); },
        ast::Lambdas::Skip);
  }

  void findStart(const Stmt *S, const Scope &In) {
    if (const auto *Declaration = dyn_cast<DeclStmt>(S)) {
      for (const Decl *D : Declaration->decls())
        if (const auto *V = dyn_cast<VarDecl>(D); V && V->getInit())
          keep(Holder{In.Call ? static_cast<const void *>(In.Call) : In.F, V},
               clockIn(V->getInit()), In);
      return;
    }
    if (const auto *Binary = dyn_cast<BinaryOperator>(S);
        Binary && Binary->getOpcode() == BO_Assign)
      return keep(holder(Binary->getLHS(), In), clockIn(Binary->getRHS()), In);
    if (const auto *Operator = dyn_cast<CXXOperatorCallExpr>(S);
        Operator && Operator->getOperator() == OO_Equal)
      return keep(holder(Operator->getArg(0), In), clockIn(Operator->getArg(1)),
                  In);
    // gettimeofday(&start, nullptr)
    const auto *Call = dyn_cast<CallExpr>(S);
    if (!Call || !readsClock(Call))
      return;
    for (const Expr *Argument : Call->arguments())
      if (const auto *Address = dyn_cast<UnaryOperator>(ast::strip(Argument));
          Address && Address->getOpcode() == UO_AddrOf)
        keep(holder(Address->getSubExpr(), In), Call, In);
  }

  /// The readings that a variable or a member in E holds.
  std::vector<const OpaqueEvent *> keptIn(const Expr *E, const Scope &In) {
    std::vector<const OpaqueEvent *> Result;
    ast::walk(
        E,
        [&](const Stmt *S, llvm::ArrayRef<const Stmt *>) {
          const auto *Named = dyn_cast<Expr>(S);
          if (!isa<DeclRefExpr, MemberExpr>(S))
            return ast::Next::Children;
          if (const auto Where = holder(Named, In)) {
            const auto Known = Kept.find(*Where);
            if (Known != Kept.end())
              llvm::append_range(Result, Known->second);
            return ast::Next::Past;
          }
          return ast::Next::Children;
        },
        ast::Lambdas::Skip);
    return Result;
  }

  /// Nobody reads the variable that the difference goes into: what has printed
  /// it is gone.
  static bool isUnread(const Stmt *Difference, const Scope &In) {
    const flow::ControlFlow *Flow = In.Call ? nullptr : In.F->Flow;
    const auto *Declaration =
        Flow ? dyn_cast_or_null<DeclStmt>(Flow->statement(Difference))
             : nullptr;
    const auto *V = Declaration && Declaration->isSingleDecl()
                        ? dyn_cast<VarDecl>(Declaration->getSingleDecl())
                        : nullptr;
    return V && V->hasLocalStorage() && !V->isReferenced() && V->getInit() &&
           !ast::anyStmt(
               V->getInit(),
               [](const Stmt *S) {
                 const auto *Call = dyn_cast<CallExpr>(S);
                 return Call && !torch::isStd(Call->getDirectCallee());
               },
               ast::Lambdas::Skip);
  }

  /// E, and where it is written: of a parameter what the call gives for it, as
  /// in milliseconds(begin, end), which subtracts them.
  static std::pair<const Expr *, Scope> given(const Expr *E, Scope In) {
    for (unsigned Depth = 0; Depth < 8; ++Depth) {
      const auto *Ref = dyn_cast<DeclRefExpr>(ast::stripCopies(E));
      const auto *Parameter =
          Ref ? dyn_cast<ParmVarDecl>(Ref->getDecl()) : nullptr;
      if (!Parameter)
        break;
      if (!In.Call) {
        const Supergraph::Passed Passed = Supergraph::passed(In.F, Parameter);
        if (!Passed.Argument || !Passed.To->Caller)
          break;
        E = Passed.Argument;
        In = {Passed.To->Caller, nullptr, Passed.To->Caller->Function};
        continue;
      }
      const auto *Call = dyn_cast<CallExpr>(In.Call->Site);
      const auto Arguments =
          Call ? ast::argumentsOf(Call) : llvm::SmallVector<const Expr *, 4>();
      const unsigned I = Parameter->getFunctionScopeIndex();
      if (Parameter->getDeclContext() != In.Function || I >= Arguments.size())
        break;
      E = Arguments[I];
      In = {In.F, nullptr, In.F->Function};
    }
    return {E, In};
  }

  void findDifferences(const Scope &In, std::vector<ClockDifference> &Result) {
    const bool IsVoid = In.Function->getReturnType()->isVoidType();
    if (!In.Function->getBody() || (In.Call && IsVoid))
      return;
    ast::forEachStmt(
        In.Function->getBody(),
        [&](const Stmt *S) {
          const std::optional<Subtraction> Minus = subtraction(S);
          if (!Minus)
            return;
          const auto [Earlier, EarlierIn] = given(Minus->Earlier, In);
          const auto [Later, LaterIn] = given(Minus->Later, In);
          const auto Starts = keptIn(Earlier, EarlierIn);
          if (Starts.empty() || isUnread(S, In))
            return;
          std::vector<const OpaqueEvent *> Ends;
          if (const CallExpr *Clock = clockIn(Later))
            Ends = eventsOf(Clock, LaterIn).vec();
          else
            Ends = keptIn(Later, LaterIn);
          for (const OpaqueEvent *From : Starts)
            for (const OpaqueEvent *To : Ends) {
              ClockDifference Found;
              Found.From = From;
              Found.To = To;
              Found.Starts.assign(Starts.begin(), Starts.end());
              Found.Difference = In.Call ? In.Call->Site : cast<Expr>(S);
              Found.In = In.F;
              Result.push_back(std::move(Found));
            }
        },
        ast::Lambdas::Skip);
  }

  const Execution &Entry;
  std::vector<Scope> Scopes;
  std::map<std::pair<const Frame *, const Expr *>,
           std::vector<const OpaqueEvent *>>
      Events;
  std::map<Holder, std::vector<const OpaqueEvent *>> Kept;
  llvm::DenseMap<const FunctionDecl *, bool> Clocks;
};

} // namespace

std::vector<ClockDifference> clockDifferences(const Execution &Entry) {
  return Readings(Entry).differences();
}

} // namespace torchtidy::model
