#include "model/SharedFills.h"
#include "flow/PathQuery.h"
#include "model/Variables.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;
using torchtidy::flow::Loop;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

namespace {

/// The handle that the elements are copies of. Not stripCopies: in Block(n)
/// that goes on to n, which a new module is made with.
const Expr *originalHandle(const Expr *E) {
  for (E = strip(E);;) {
    const auto *Construct = dyn_cast<CXXConstructExpr>(E);
    if (!Construct || Construct->getNumArgs() == 0 ||
        !llvm::all_of(llvm::drop_begin(Construct->arguments()),
                      llvm::IsaPred<CXXDefaultArgExpr>))
      return E;
    const Expr *From = strip(Construct->getArg(0));
    if (torch::kindOf(From->getType()) == TypeKind::Other &&
        !torch::moduleClass(From->getType()))
      return E;
    E = From;
  }
}

class SharedFillQuery {
public:
  SharedFillQuery(Program &User, const Execution &Way, const Event &Fill)
      : User(User), Way(Way), Fill(Fill),
        Element(originalHandle(Fill.Operand)) {}

  std::optional<SharedFill> run() {
    if (!Fill.In->Flow || isSingle() || isGivenAway())
      return std::nullopt;
    SharedFill Result = {&Way, &Fill, nullptr, nullptr};
    if (Fill.How == StoreKind::Append) {
      Result.Around = addingLoop();
      if (!Result.Around)
        return std::nullopt;
    }
    if (isUsedByName())
      return std::nullopt;
    if (isModuleWithParameters())
      return isRebound(nullptr) ? std::nullopt
                                : std::optional<SharedFill>(Result);
    Result.Write = findWrite();
    return Result.Write ? std::optional<SharedFill>(Result) : std::nullopt;
  }

private:
  /// vector(1, t)
  bool isSingle() const {
    const Expr *Number = nullptr;
    if (const auto *Made = dyn_cast<CXXConstructExpr>(Fill.Site))
      Number = Made->getArg(0);
    else if (const auto *Call = dyn_cast<CallExpr>(Fill.Site))
      for (const Expr *Argument : argumentsOf(Call))
        if (Argument->getType()->isIntegerType())
          Number = Argument;
    if (!Number || Number->isValueDependent())
      return false;
    Expr::EvalResult Known;
    return Number->EvaluateAsInt(Known, User.context()) &&
           Known.Val.getInt().getExtValue() < 2;
  }

  /// The loop that adds the same object in every iteration, or null.
  const Loop *addingLoop() const {
    const auto *Ref = dyn_cast<DeclRefExpr>(Element);
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (!V || V->getType()->isReferenceType())
      return nullptr;
    const Loop *Result = nullptr;
    for (const Loop *L : Way.loopsAround(Fill.Point)) {
      const Stmt *Statement = Way.loopStatement(*L);
      if (Statement && Fill.In->Flow->isInside(Fill.Site, Statement) &&
          !isBoundIn(V, Statement) && llvm::all_of(Fill.Places, [&](PlaceId P) {
            return Way.outlives(P, *L).value_or(false);
          }))
        Result = L;
    }
    return Result;
  }

  static bool isBoundIn(const VarDecl *V, const Stmt *S) {
    if (!S)
      return false;
    if (const auto *Declaration = dyn_cast<DeclStmt>(S))
      if (llvm::is_contained(Declaration->decls(), V))
        return true;
    if (const auto *Call = dyn_cast<CallExpr>(S)) {
      // x = y, std::tie(x, z) = y, and what gets it by reference.
      const FunctionDecl *Callee = Call->getDirectCallee();
      for (unsigned I = 0; I < Call->getNumArgs(); ++I) {
        const auto *Ref = dyn_cast<DeclRefExpr>(strip(Call->getArg(I)));
        if (!Ref || Ref->getDecl() != V)
          continue;
        const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
        if (Operator && Operator->getOperator() == OO_Equal && I == 0)
          return true;
        if (asTie(Call) || !Callee ||
            (!torch::isLibTorch(Callee) && !torch::isStd(Callee)))
          return true;
      }
    }
    if (const auto *Lambda = dyn_cast<LambdaExpr>(S))
      return isBoundIn(V, Lambda->getBody());
    return llvm::any_of(S->children(),
                        [&](const Stmt *Child) { return isBoundIn(V, Child); });
  }

  /// The shared object has a name, by which it is used as well.
  bool isUsedByName() const {
    const auto *Ref = dyn_cast<DeclRefExpr>(Element);
    if (!Ref)
      return !isMadeHere();
    if (!isOwn(Ref->getDecl(), Fill.In->Function))
      return true;
    const Readers Reading(*Fill.In->Flow, Ref->getDecl());
    const auto IsOfFill = [&](const Stmt *S) {
      return llvm::any_of(Way.events(), [&](const Event &E) {
        return E.Kind == EventKind::Fill && E.In == Fill.In &&
               Fill.In->Flow->isInside(S, E.Site);
      });
    };
    return flow::mayMeet(*Fill.In->Flow, Fill.Site, [&](const CFGElement &Met) {
      const flow::Met Read = Reading.look(Met);
      return Read == flow::Met::Found &&
                     IsOfFill(Met.castAs<CFGStmt>().getStmt())
                 ? flow::Met::Passed
                 : Read;
    });
  }

  /// The shared object is made in the statement itself, so only the container
  /// leads to it.
  bool isMadeHere() const {
    if (torch::moduleClass(Fill.Operand->getType()))
      return isa<CallExpr, CXXConstructExpr, InitListExpr>(Element);
    return llvm::all_of(Fill.Result.Memory, [&](OriginId Id) {
      const Expr *Site = Way.origin(Id).Site;
      return Site && contains(Fill.Site, Site);
    });
  }

  /// The initializers of a constructor have no parents in its control flow.
  static bool contains(const Stmt *S, const Stmt *Inner) {
    return S && (S == Inner || llvm::any_of(S->children(), [&](const Stmt *C) {
                   return contains(C, Inner);
                 }));
  }

  bool isModuleWithParameters() const {
    const QualType Type = Fill.Operand->getType();
    const CXXRecordDecl *Class = torch::moduleClass(Type);
    const TypeKind Kind = torch::kindOf(Type);
    if (!Class || (Kind != TypeKind::ModuleHolder && Kind != TypeKind::Pointer))
      return false;
    // An empty holder: Linear(nullptr).
    if (Fill.Result.Refs.empty())
      return false;
    if (const auto *Made = dyn_cast<CXXConstructExpr>(Element))
      if (llvm::any_of(Made->arguments(), [](const Expr *Argument) {
            return isa<CXXNullPtrLiteralExpr>(strip(Argument));
          }))
        return false;
    return torch::parametersOf(Class) != torch::Parameters::None;
  }

  /// A write through the container into the memory that all elements share.
  const Event *findWrite() const {
    const OriginSet &Shared = Fill.Result.Memory;
    if (Shared.empty())
      return nullptr;
    const bool HasName = !isMadeHere();
    for (const Event &E : Way.events()) {
      if (E.Kind != EventKind::Write || E.IsPointer ||
          E.Result.Memory.empty() || isHarmless(E) ||
          !llvm::all_of(
              E.Result.Memory,
              [&](OriginId Id) { return llvm::is_contained(Shared, Id); }) ||
          (HasName && !isOfContainer(E.Places)) || isRebound(&E))
        continue;
      if (flow::mayReach(
              Way.points(), Fill.Point,
              [&](flow::Digraph::Node N) { return N == E.Point; },
              [](flow::Digraph::Node) { return false; }))
        return &E;
    }
    return nullptr;
  }

  bool isOfContainer(const PlaceSet &Set) const {
    return llvm::any_of(Set, [&](PlaceId P) {
      return llvm::any_of(Fill.Places, [&](PlaceId Container) {
        return Way.places().isWithin(P, Container);
      });
    });
  }

  /// All elements are to be zero.
  static bool isHarmless(const Event &Write) {
    const auto *Call = dyn_cast<CallExpr>(Write.Site);
    const torch::Operation *Op = Call ? torch::classify(Call).Op : nullptr;
    return Op && (Op->Name == "zero_" || Op->Name == "requires_grad_");
  }

  /// Code that cannot be seen gets the container.
  bool isGivenAway() const {
    return llvm::any_of(Way.events(), [&](const Event &E) {
      return E.Kind == EventKind::Escape &&
             !isa_and_nonnull<ReturnStmt>(
                 E.In->Flow ? E.In->Flow->parent(E.Site) : nullptr) &&
             llvm::any_of(E.Places, [&](PlaceId P) {
               return llvm::any_of(Fill.Places, [&](PlaceId Container) {
                 return Way.places().overlap(P, Container);
               });
             });
    });
  }

  /// An element gets an object of its own: before the write, or anywhere.
  bool isRebound(const Event *Write) const {
    for (PlaceId P : Fill.Places) {
      const ValueDecl *Container = declarationOf(P);
      if (!Container)
        continue;
      for (const FunctionDecl *F : User.code().functions().all())
        if (assignsElement(F->getBody(), F, Container, Write))
          return true;
    }
    return false;
  }

  /// The variable or member that the container at P is, or is in.
  const ValueDecl *declarationOf(PlaceId P) const {
    const PlaceTable &Places = Way.places();
    while (!Places.isRoot(P) && Places.step(P).Of != Step::Field)
      P = Places.parent(P);
    if (!Places.isRoot(P))
      return Places.step(P).Member;
    const Root Kind = Places.rootKind(P);
    return Kind == Root::Local || Kind == Root::Global
               ? static_cast<const ValueDecl *>(Places.key(P))
               : nullptr;
  }

  /// S assigns to an element of Container, and Write, where there is one, may
  /// come afterwards.
  bool assignsElement(const Stmt *S, const FunctionDecl *In,
                      const ValueDecl *Container, const Event *Write) const {
    if (!S)
      return false;
    if (const auto *Call = dyn_cast<CXXOperatorCallExpr>(S);
        Call && Call->getOperator() == OO_Equal && isRebinding(Call) &&
        isElementOf(Call->getArg(0), In, Container) &&
        (!Write || mayPrecede(Call, In, *Write)))
      return true;
    if (const auto *Call = dyn_cast<CallExpr>(S);
        Call && replacesElements(Call, Container) &&
        (!Write || mayPrecede(Call, In, *Write)))
      return true;
    return llvm::any_of(S->children(), [&](const Stmt *Child) {
      return assignsElement(Child, In, Container, Write);
    });
  }

  /// v = ..., v.clear(), std::generate(v.begin(), ...).
  bool replacesElements(const CallExpr *Call,
                        const ValueDecl *Container) const {
    if (Call == Fill.Site)
      return false;
    const auto IsContainer = [&](const Expr *E) {
      const std::optional<Named> To = named(E);
      return To && !To->IsElement &&
             (To->Member ? To->Member == Container : To->Variable == Container);
    };
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (!Callee || !torch::isStd(Callee))
      return false;
    const Expr *Object = objectOf(Call);
    if (Object && Callee->getOverloadedOperator() == OO_Equal)
      return IsContainer(Object) &&
             !(Fill.In->Flow && Fill.In->Flow->isInside(Fill.Site, Call));
    const StringRef Name = torch::stdName(Callee);
    if (Object)
      return (Name == "clear" || Name == "swap" || Name == "assign") &&
             IsContainer(Object);
    if (Name != "generate" && Name != "generate_n" && Name != "transform" &&
        Name != "copy" && Name != "swap")
      return false;
    return llvm::any_of(Call->arguments(), [&](const Expr *Argument) {
      const auto *Begin = dyn_cast<CallExpr>(stripCopies(Argument));
      const Expr *Of = Begin ? objectOf(Begin) : Argument;
      if (Begin && !Of && Begin->getNumArgs() == 1)
        Of = Begin->getArg(0);
      return Of && IsContainer(Of);
    });
  }

  bool isElementOf(const Expr *E, const FunctionDecl *In,
                   const ValueDecl *Container) const {
    std::optional<Named> To = named(E);
    if (!To)
      return false;
    const flow::ControlFlow *Flow = User.code().controlFlow(In);
    if (Flow && To->Variable && To->Variable->getType()->isReferenceType())
      // for (auto &layer : layers) layer = ...
      if (const CXXForRangeStmt *Loop = rangeLoopOf(*Flow, To->Variable)) {
        To = named(Loop->getRangeInit());
        return To && (To->Variable == Container || To->Member == Container);
      }
    return To->IsElement &&
           (To->Variable == Container || To->Member == Container);
  }

  bool mayPrecede(const Stmt *Assignment, const FunctionDecl *In,
                  const Event &Write) const {
    const Stmt *Site = Write.Site;
    for (const Frame *F = Write.In; F; Site = F->Site, F = F->Caller)
      if (F->Function == In)
        return !F->Flow ||
               flow::mayMeet(*F->Flow, Assignment, [&](const CFGElement &E) {
                 const std::optional<CFGStmt> S = E.getAs<CFGStmt>();
                 return S && S->getStmt() == Site ? flow::Met::Found
                                                  : flow::Met::Passed;
               });
    return true;
  }

  Program &User;
  const Execution &Way;
  const Event &Fill;
  /// What the elements are, as it is written.
  const Expr *Element;
};

} // namespace

std::vector<SharedFill> sharedFills(Program &User) {
  std::vector<SharedFill> Results;
  for (const auto &Way : User.executions())
    for (const Event &E : Way->events())
      if (E.Kind == EventKind::Fill)
        if (std::optional<SharedFill> Found =
                SharedFillQuery(User, *Way, E).run())
          Results.push_back(*Found);
  return Results;
}

} // namespace torchtidy::model
