#include "model/LostWrites.h"
#include "flow/Names.h"
#include "model/Variables.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;
using torchtidy::flow::Met;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

namespace {

/// parameters() or buffers(), which return a vector by value.
const CallExpr *asParameterVector(const CallExpr *Call) {
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  if (!Callee || Call->isGLValue() || !torch::isLibTorch(Callee))
    return nullptr;
  const auto *Method = dyn_cast<CXXMethodDecl>(Callee);
  const StringRef Name = flow::nameOf(Callee);
  const CXXRecordDecl *Record = torch::recordOf(Call->getType());
  return Method && (Name == "parameters" || Name == "buffers") && Record &&
                 torch::isStd(Record)
             ? Call
             : nullptr;
}

class LostWriteQuery {
public:
  LostWriteQuery(Program &User, const flow::ControlFlow &Flow)
      : User(User), Flow(Flow) {}

  void run(const Stmt *S, std::vector<LostWrite> &Results) {
    if (!S || isa<LambdaExpr>(S))
      return;
    if (const auto *Assignment = dyn_cast<CXXOperatorCallExpr>(S))
      if (std::optional<LostWrite> Found = judge(Assignment))
        Results.push_back(*Found);
    for (const Stmt *Child : S->children())
      run(Child, Results);
  }

private:
  std::optional<LostWrite> judge(const CXXOperatorCallExpr *Assignment) {
    if (Assignment->getOperator() != OO_Equal || Assignment->containsErrors() ||
        !isRebinding(Assignment) ||
        !torch::isTensor(Assignment->getArg(0)->getType()) ||
        isRelease(Assignment->getArg(1)))
      return std::nullopt;
    const std::optional<Named> To = named(Assignment->getArg(0));
    if (!To || To->ThroughPointer)
      return std::nullopt;
    LostWrite Result = {LostWrite::Temporary, Assignment, To->Variable,
                        To->Temporary};
    Result.IsOfModule = isOfModule(To->Temporary);
    if (To->Temporary)
      return Result;
    if (!To->Variable || User.hasErrors())
      return std::nullopt;
    const CXXForRangeStmt *Loop = rangeLoopOf(Flow, To->Variable);
    Result.Loop = Loop;
    if (isReadAfter(To->Variable, Assignment, To->Member))
      return std::nullopt;
    if (isReference(To->Variable))
      return Loop ? judgeRange(Result) : std::nullopt;
    if (!isOwn(To->Variable, Flow.function()) ||
        To->Variable->hasAttr<UnusedAttr>() || hasDestructor(To->Variable) ||
        isShared(To->Variable))
      return std::nullopt;
    if (Loop) {
      Result.Of = LostWrite::Element;
      return Result;
    }
    if (isa<ParmVarDecl>(To->Variable)) {
      Result.Of = LostWrite::Parameter;
      return Result;
    }
    if (!To->isWhole())
      return std::nullopt;
    Result.Of = LostWrite::Copy;
    Result.Source = copiedFrom(To->Variable, Assignment);
    return Result.Source ? std::optional<LostWrite>(Result) : std::nullopt;
  }

  /// parameters(), buffers() and the same with names.
  static bool isOfModule(const CallExpr *Call) {
    const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    const StringRef Name = flow::nameOf(Callee);
    return Callee && torch::isLibTorch(Callee) &&
           (Name == "parameters" || Name == "buffers" ||
            Name == "named_parameters" || Name == "named_buffers");
  }

  /// for (auto &t : v) t = x: an element of a temporary, or of a vector that is
  /// a copy and not read again.
  std::optional<LostWrite> judgeRange(LostWrite Result) const {
    const std::optional<Named> Range = named(Result.Loop->getRangeInit());
    if (!Range || Range->ThroughPointer || !holdsHandles(Result.Loop))
      return std::nullopt;
    Result.Of = LostWrite::TemporaryRange;
    Result.Call = Range->Temporary;
    Result.IsOfModule = isOfModule(Range->Temporary);
    if (Range->Temporary)
      return Result;
    const auto *V = dyn_cast_or_null<VarDecl>(Range->Variable);
    if (!Range->isWhole() || !isOwn(V, Flow.function()) || isShared(V) ||
        isReadAfter(V, Result.Assignment, nullptr))
      return std::nullopt;
    Result.Variable = V;
    Result.IsContainer = true;
    Result.Of = LostWrite::Parameter;
    if (isa<ParmVarDecl>(V))
      return Result;
    // auto parameters = net->parameters()
    Result.Of = LostWrite::Copy;
    const auto *Made =
        V->getInit() ? dyn_cast<CallExpr>(stripCopies(V->getInit())) : nullptr;
    Result.Source = asParameterVector(Made);
    return Result.Source ? std::optional<LostWrite>(Result) : std::nullopt;
  }

  /// x = torch::Tensor(), x = {}: its memory is to be freed.
  static bool isRelease(const Expr *From) {
    const auto *Made = dyn_cast<CXXConstructExpr>(strip(From));
    if (const auto *List = dyn_cast<InitListExpr>(strip(From)))
      return List->getNumInits() == 0;
    return Made &&
           (Made->getNumArgs() == 0 || isa<CXXDefaultArgExpr>(Made->getArg(0)));
  }

  /// The elements are tensors themselves, or pairs and items with one: not
  /// pointers to some.
  static bool holdsHandles(const CXXForRangeStmt *Loop) {
    const QualType Type =
        Loop->getLoopVariable()->getType().getNonReferenceType();
    return !Type->isPointerType() &&
           (torch::isTensor(Type) || isItem(torch::recordOf(Type)) ||
            torch::kindOf(Type) == TypeKind::Aggregate);
  }

  bool isReadAfter(const ValueDecl *V, const Stmt *S,
                   const FieldDecl *Member) const {
    if (!flow::isElement(Flow, S) || hasUnseenReads())
      return true;
    const Readers Reading(Flow, V, Member);
    // What throws behind S leads to the handlers.
    for (const Stmt *Around = Flow.parent(S); Around;
         Around = Flow.parent(Around))
      if (const auto *Try = dyn_cast<CXXTryStmt>(Around))
        for (unsigned I = 0; I < Try->getNumHandlers(); ++I)
          if (containsRead(Try->getHandler(I), Reading))
            return true;
    return flow::mayMeet(Flow, S, [&](const CFGElement &Element) {
      return Reading.look(Element);
    });
  }

  static bool containsRead(const Stmt *S, const Readers &Reading) {
    return S && (Reading.reads(S) ||
                 llvm::any_of(S->children(), [&](const Stmt *Child) {
                   return containsRead(Child, Reading);
                 }));
  }

  /// The control flow does not have all that is written: branches that an
  /// instantiation has dropped, captured statements.
  bool hasUnseenReads() const {
    const auto Finds = [](const Stmt *S, const auto &Recurse) -> bool {
      if (!S)
        return false;
      const auto *If = dyn_cast<IfStmt>(S);
      if ((If && If->isConstexpr()) || isa<CapturedStmt>(S))
        return true;
      return llvm::any_of(S->children(), [&](const Stmt *Child) {
        return Recurse(Child, Recurse);
      });
    };
    return Finds(Flow.function()->getBody(), Finds);
  }

  /// Its destructor, which the user has written, may read a member.
  static bool hasDestructor(const ValueDecl *V) {
    const CXXRecordDecl *Record = torch::recordOf(V->getType());
    if (!Record || !Record->hasDefinition() || torch::isStd(Record) ||
        torch::isLibTorch(Record))
      return false;
    const CXXDestructorDecl *Destructor = Record->getDestructor();
    return Destructor && Destructor->isUserProvided();
  }

  /// Somebody else has a reference or a pointer to V.
  bool isShared(const ValueDecl *V) const {
    for (const CFGBlock *Block : Flow.cfg())
      for (const CFGElement &Element : *Block) {
        const std::optional<CFGStmt> Statement = Element.getAs<CFGStmt>();
        if (!Statement)
          continue;
        const Stmt *S = Statement->getStmt();
        if (const auto *Lambda = dyn_cast<LambdaExpr>(S))
          for (const LambdaCapture &Capture : Lambda->captures())
            if (Capture.capturesVariable() && Capture.getCapturedVar() == V &&
                Capture.getCaptureKind() == LCK_ByRef)
              return true;
        if (const auto *Address = dyn_cast<UnaryOperator>(S))
          if (Address->getOpcode() == UO_AddrOf &&
              refersTo(Address->getSubExpr(), V))
            return true;
        if (const auto *Declaration = dyn_cast<DeclStmt>(S))
          for (const Decl *D : Declaration->decls())
            if (const auto *Other = dyn_cast<VarDecl>(D);
                Other && !Other->isImplicit() && // the range of a loop
                Other->getType()->isReferenceType() && Other->getInit() &&
                refersTo(Other->getInit(), V))
              return true;
        // std::tie(x, y), std::ref(x).
        if (const auto *Call = dyn_cast<CallExpr>(S)) {
          const StringRef Name = torch::stdName(Call->getDirectCallee());
          if (Name == "tie" || Name == "ref" || Name == "forward_as_tuple")
            for (const Expr *Argument : Call->arguments())
              if (refersTo(Argument, V))
                return true;
        }
      }
    return false;
  }

  static bool refersTo(const Expr *E, const ValueDecl *V) {
    const auto *Ref = dyn_cast<DeclRefExpr>(strip(E));
    return Ref && Ref->getDecl() == V;
  }

  /// What was copied is the function's own, no handle to a tensor of others,
  /// and nobody reads it behind S: the value is not wanted in either place.
  bool isOver(const Named &From, const Stmt *S) const {
    return From.Variable && !From.ThroughPointer &&
           !torch::isTensor(From.Variable->getType()) &&
           isOwn(From.Variable, Flow.function()) &&
           !isReference(From.Variable) && !isShared(From.Variable) &&
           !isReadAfter(From.Variable, S, nullptr);
  }

  /// The object whose tensor V is another handle to; null where V has its own.
  const Expr *copiedFrom(const ValueDecl *V, const Stmt *Assignment) const {
    if (const auto *Binding = dyn_cast<BindingDecl>(V)) {
      const auto *Whole =
          dyn_cast_or_null<VarDecl>(Binding->getDecomposedDecl());
      const Expr *Init = Whole ? stripCopies(Whole->getInit()) : nullptr;
      const std::optional<Named> From = Init ? named(Init) : std::nullopt;
      return From && !From->Temporary ? Init : nullptr;
    }
    const auto *Variable = dyn_cast<VarDecl>(V);
    const Expr *Init = Variable && Variable->getInit()
                           ? stripCopies(Variable->getInit())
                           : nullptr;
    if (!Init)
      return nullptr;
    // A view of a tensor that has a name.
    const Expr *Base = Init;
    while (const auto *Call = dyn_cast<CallExpr>(strip(Base))) {
      const torch::Operation *Op = torch::classify(Call).Op;
      if (!Op || Op->View != torch::Tri::Yes ||
          Op->has(torch::operation::DiscardsHistory) || !objectOf(Call))
        break;
      Base = objectOf(Call);
    }
    const std::optional<Named> From = named(Base);
    // t = x; t = y: a plain alias that is given up is no mistake. One of an
    // element, a member or a part is meant to lead there.
    const bool IsPart =
        From && (strip(Base) != strip(Init) || !From->isWhole());
    return IsPart && !From->Temporary && !isOver(*From, Assignment) ? Init
                                                                    : nullptr;
  }

  Program &User;
  const flow::ControlFlow &Flow;
};

class KeptElementQuery {
public:
  explicit KeptElementQuery(const flow::ControlFlow &Flow) : Flow(Flow) {}

  void run(const Stmt *S, std::vector<KeptElement> &Results) {
    if (!S || isa<LambdaExpr>(S))
      return;
    if (const auto *Declaration = dyn_cast<DeclStmt>(S))
      for (const Decl *D : Declaration->decls())
        if (const auto *V = dyn_cast<VarDecl>(D); V && V->getInit())
          if (const CallExpr *Call = elementOf(V->getInit(), V->getType());
              Call && isUsedAfter(V, Declaration))
            Results.push_back({V, V->getInit(), Call});
    if (const auto *Address = dyn_cast<UnaryOperator>(S);
        Address && Address->getOpcode() == UO_AddrOf)
      if (const CallExpr *Call = rangeOfKept(Address))
        Results.push_back({nullptr, Address, Call});
    for (const Stmt *Child : S->children())
      run(Child, Results);
  }

private:
  /// E designates an element of a vector of parameters that is a temporary: by
  /// reference, by address, or by an iterator.
  static const CallExpr *elementOf(const Expr *E, QualType Type) {
    E = stripCopies(E);
    if (Type->isReferenceType() ? !E->isGLValue() : false)
      return nullptr;
    if (!Type->isReferenceType()) {
      if (const auto *Address = dyn_cast<UnaryOperator>(E);
          Address && Address->getOpcode() == UO_AddrOf)
        E = Address->getSubExpr();
      else if (const auto *Call = dyn_cast<CXXMemberCallExpr>(E)) {
        // begin(), data(): of a temporary vector.
        const FunctionDecl *Callee = Call->getDirectCallee();
        const StringRef Name = torch::stdName(Callee);
        if (Name != "begin" && Name != "data" && Name != "cbegin" &&
            Name != "end")
          return nullptr;
        return asParameterVector(
            dyn_cast<CallExpr>(strip(Call->getImplicitObjectArgument())));
      } else
        return nullptr;
    }
    const std::optional<Named> Root = named(E);
    return Root && !Root->ThroughPointer && Root->IsElement
               ? asParameterVector(Root->Temporary)
               : nullptr;
  }

  bool isUsedAfter(const VarDecl *V, const Stmt *Declaration) const {
    const Readers Reading(Flow, V);
    return flow::mayMeet(Flow, Declaration, [&](const CFGElement &Element) {
      return Reading.look(Element);
    });
  }

  /// for (auto &p : net->parameters()) pointers.push_back(&p), into what lives
  /// longer than the loop.
  const CallExpr *rangeOfKept(const UnaryOperator *Address) const {
    const auto *Ref = dyn_cast<DeclRefExpr>(strip(Address->getSubExpr()));
    if (!Ref || !Ref->getDecl()->getType()->isReferenceType())
      return nullptr;
    const CXXForRangeStmt *Loop = rangeLoopOf(Flow, Ref->getDecl());
    if (!Loop)
      return nullptr;
    const CallExpr *Call =
        asParameterVector(dyn_cast<CallExpr>(strip(Loop->getRangeInit())));
    if (!Call)
      return nullptr;
    for (const Stmt *S = Flow.parent(Address); S && S != Loop;
         S = Flow.parent(S)) {
      const Expr *Into = nullptr;
      if (const auto *Member = dyn_cast<CXXMemberCallExpr>(S)) {
        const StringRef Name = torch::stdName(Member->getDirectCallee());
        if (Name != "push_back" && Name != "emplace_back" && Name != "insert" &&
            Name != "emplace")
          return nullptr;
        Into = Member->getImplicitObjectArgument();
      } else if (const auto *Binary = dyn_cast<BinaryOperator>(S);
                 Binary && Binary->getOpcode() == BO_Assign) {
        Into = Binary->getLHS();
      } else if (isa<CallExpr, DeclStmt, ReturnStmt>(S)) {
        return nullptr;
      }
      if (!Into)
        continue;
      const std::optional<Named> Root = named(Into);
      const auto *V =
          Root ? dyn_cast_or_null<VarDecl>(Root->Variable) : nullptr;
      const bool IsInLoop = V && isDeclaredIn(V, Loop->getBody());
      return Root && !IsInLoop ? Call : nullptr;
    }
    return nullptr;
  }

  bool isDeclaredIn(const VarDecl *V, const Stmt *Body) const {
    for (const CFGBlock *Block : Flow.cfg())
      for (const CFGElement &Element : *Block)
        if (const std::optional<CFGStmt> S = Element.getAs<CFGStmt>())
          if (const auto *Declaration = dyn_cast<DeclStmt>(S->getStmt()))
            if (llvm::is_contained(Declaration->decls(), V))
              return Flow.isInside(Declaration, Body);
    return false;
  }

  const flow::ControlFlow &Flow;
};

} // namespace

std::vector<LostWrite> lostWrites(Program &User) {
  std::vector<LostWrite> Results;
  Code &All = User.code();
  for (const FunctionDecl *F : All.functions().all())
    if (All.mentionsTorch(F))
      if (const flow::ControlFlow *Flow = All.controlFlow(F))
        LostWriteQuery(User, *Flow).run(F->getBody(), Results);
  return Results;
}

std::vector<KeptElement> keptElements(Program &User) {
  std::vector<KeptElement> Results;
  Code &All = User.code();
  for (const FunctionDecl *F : All.functions().all())
    if (All.mentionsTorch(F))
      if (const flow::ControlFlow *Flow = All.controlFlow(F))
        KeptElementQuery(*Flow).run(F->getBody(), Results);
  return Results;
}

} // namespace torchtidy::model
