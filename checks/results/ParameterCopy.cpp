#include "results/ParameterCopy.h"
#include "ast/Expressions.h"
#include "ast/Locations.h"
#include "ast/Walk.h"
#include "model/syntax/Variables.h"
#include "torch/Api.h"
#include "torch/Members.h"
#include "torch/Modules.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

namespace {

/// parameters() or buffers(), which return a vector by value.
const CallExpr *asParameterVector(const CallExpr *Call) {
  return Call && torch::returnsTensorVector(Call) ? Call : nullptr;
}

bool isOfStd(const FunctionDecl *F,
             llvm::function_ref<bool(const FunctionDecl *)> Is) {
  return F && torch::isStd(F) && Is(F);
}

class LostWriteQuery {
public:
  LostWriteQuery(Program &User, const flow::ControlFlow &Flow)
      : User(User), Flow(Flow) {}

  void run(std::vector<LostWrite> &Results) {
    ast::forEachStmt(
        Flow.function()->getBody(),
        [&](const Stmt *S) {
          if (const auto *Assignment = dyn_cast<CXXOperatorCallExpr>(S))
            if (std::optional<LostWrite> Found = judge(Assignment))
              Results.push_back(*Found);
        },
        ast::Lambdas::Skip);
  }

private:
  std::optional<LostWrite> judge(const CXXOperatorCallExpr *Assignment) {
    if (Assignment->getOperator() != OO_Equal || Assignment->containsErrors())
      return std::nullopt;
    if (std::optional<LostWrite> Found = judgeVector(Assignment))
      return Found;
    if (!isRebinding(Assignment) ||
        !torch::isTensor(Assignment->getArg(0)->getType()) ||
        isRelease(Assignment->getArg(1)))
      return std::nullopt;
    const std::optional<Named> To = namedVariable(Assignment->getArg(0));
    if (!To || To->ThroughPointer)
      return std::nullopt;
    if (To->Variable && To->isWhole() && isViewTakenBack(*To, Assignment))
      return std::nullopt;
    LostWrite Result = {LostWrite::Temporary, Assignment, To->Variable,
                        To->Temporary};
    Result.IsOfModule = isOfModule(To->Temporary);
    if (To->Temporary)
      return Result;
    if (!To->Variable || User.hasErrors())
      return std::nullopt;
    if (std::optional<LostWrite> Found = judgeElement(*To, Result))
      return Found;
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
    if (Loop)
      return judgeCopyIn(Result);
    if (isa<ParmVarDecl>(To->Variable)) {
      Result.Of = LostWrite::Parameter;
      Result.Overwrites =
          To->isWhole() ? overwrites(To->Variable, Assignment) : nullptr;
      return Result;
    }
    if (!To->isWhole())
      return std::nullopt;
    Result.Of = LostWrite::Copy;
    Result.Source = copiedFrom(To->Variable, Assignment);
    return Result.Source ? std::optional<LostWrite>(Result) : std::nullopt;
  }

  /// net->parameters() = other->parameters().
  static std::optional<LostWrite>
  judgeVector(const CXXOperatorCallExpr *Assignment) {
    const auto *Made = dyn_cast<CallExpr>(ast::strip(Assignment->getArg(0)));
    if (!asParameterVector(Made) || !Made->isPRValue())
      return std::nullopt;
    LostWrite Result = {LostWrite::Temporary, Assignment, nullptr, Made};
    Result.IsContainer = true;
    Result.IsOfModule = isOfModule(Made);
    return Result;
  }

  /// The next assignment to V in the text behind this one.
  const CallExpr *overwrites(const ValueDecl *V,
                             const CXXOperatorCallExpr *Assignment) const {
    const CXXOperatorCallExpr *Next = nullptr;
    ast::forEachStmt(
        Flow.function()->getBody(),
        [&](const Stmt *S) {
          const auto *Other = dyn_cast<CXXOperatorCallExpr>(S);
          if (Other && Other->getOperator() == OO_Equal &&
              refersTo(Other->getArg(0), V) &&
              ast::beginLoc(Assignment) < ast::beginLoc(Other) &&
              (!Next || ast::beginLoc(Other) < ast::beginLoc(Next)))
            Next = Other;
        },
        ast::Lambdas::Skip);
    return Next;
  }

  /// parameters(), buffers() and the same with names.
  static bool isOfModule(const CallExpr *Call) {
    return Call && torch::returnsRegistered(Call->getDirectCallee());
  }

  /// for (auto t : v) t = x. A reference mends that only where the elements
  /// of v are what is meant, and not what they are handles to.
  static LostWrite judgeCopyIn(LostWrite Result) {
    const std::optional<Named> Range =
        namedVariable(Result.Loop->getRangeInit());
    const CallExpr *Made = Range ? Range->Temporary : nullptr;
    const auto *V = Range && Range->isWhole()
                        ? dyn_cast_or_null<VarDecl>(Range->Variable)
                        : nullptr;
    // auto parameters = net->parameters()
    if (!Made && V && V->getInit())
      Made = dyn_cast<CallExpr>(ast::stripCopies(V->getInit()));
    Result.Of = LostWrite::Element;
    if (!isOfModule(Made) && !(Range && Range->Temporary))
      return Result;
    Result.Of = LostWrite::TemporaryRange;
    Result.Call = Made;
    Result.IsOfModule = isOfModule(Made);
    return Result;
  }

  /// for (auto &t : v) t = x: an element of a temporary, or of a vector that is
  /// a copy and not read again.
  std::optional<LostWrite> judgeRange(LostWrite Result) const {
    const std::optional<Named> Range =
        namedVariable(Result.Loop->getRangeInit());
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
    const auto *Made = V->getInit()
                           ? dyn_cast<CallExpr>(ast::stripCopies(V->getInit()))
                           : nullptr;
    Result.Source = asParameterVector(Made);
    return Result.Source ? std::optional<LostWrite>(Result) : std::nullopt;
  }

  /// x = torch::Tensor(), x = {}: this frees its memory.
  static bool isRelease(const Expr *From) {
    const auto *Made = dyn_cast<CXXConstructExpr>(ast::strip(From));
    if (const auto *List = dyn_cast<InitListExpr>(ast::strip(From)))
      return List->getNumInits() == 0;
    return Made &&
           (Made->getNumArgs() == 0 || isa<CXXDefaultArgExpr>(Made->getArg(0)));
  }

  /// x = x.view({n, c, h, w}), after another x = x.view(..): the handle gets
  /// back the shape that the caller's has kept all along.
  bool isViewTakenBack(const Named &Of, const CallExpr *Assignment) const {
    if (!isViewOf(Assignment->getArg(1), Of.Variable))
      return false;
    return ast::anyStmt(
        Flow.function()->getBody(),
        [&](const Stmt *S) {
          const auto *Other = dyn_cast<CXXOperatorCallExpr>(S);
          return Other && Other != Assignment &&
                 Other->getOperator() == OO_Equal &&
                 refersTo(Other->getArg(0), Of.Variable) &&
                 isViewOf(Other->getArg(1), Of.Variable);
        },
        ast::Lambdas::Skip);
  }

  /// V.view(..).transpose(..): the same memory in another shape.
  static bool isViewOf(const Expr *E, const ValueDecl *V) {
    const Expr *Base = withoutViews(E);
    return Base != ast::stripCopies(E) && refersTo(Base, V);
  }

  /// What operations on a tensor make a view of: x of x.view(..).t().
  static const Expr *withoutViews(const Expr *E) {
    E = ast::stripCopies(E);
    while (const auto *Call = dyn_cast<CallExpr>(ast::strip(E))) {
      const torch::Operation *Op = torch::classify(Call).Op;
      if (!Op || Op->View != torch::Tri::Yes ||
          Op->has(torch::operation::DiscardsHistory) || !ast::objectOf(Call))
        break;
      E = ast::objectOf(Call);
    }
    return E;
  }

  /// v[i] = v[i] * 2, of a vector that is a copy and serves nothing but such
  /// assignments: what the next iteration reads is lost as well.
  std::optional<LostWrite> judgeElement(const Named &To,
                                        LostWrite Result) const {
    const auto *V = dyn_cast<VarDecl>(To.Variable);
    if (!V || !To.IsElement || To.Member || To.ThroughPointer ||
        !torch::holdsItsElements(V->getType()) || !isOwn(V, Flow.function()) ||
        V->hasAttr<UnusedAttr>() || !Flow.isFullExpression(Result.Assignment))
      return std::nullopt;
    Result.IsContainer = true;
    Result.Of = LostWrite::Parameter;
    if (!isa<ParmVarDecl>(V)) {
      // auto parameters = net->parameters()
      Result.Of = LostWrite::Copy;
      Result.Source = V->getInit() ? asParameterVector(dyn_cast<CallExpr>(
                                         ast::stripCopies(V->getInit())))
                                   : nullptr;
      if (!Result.Source)
        return std::nullopt;
    }
    bool ServesOthers = false;
    ast::walk(
        Flow.function()->getBody(),
        [&](const Stmt *S, llvm::ArrayRef<const Stmt *> Around) {
          const auto *Ref = dyn_cast<DeclRefExpr>(S);
          if (!Ref || Ref->getDecl() != V || isForAssignment(V, Around))
            return ast::Next::Children;
          ServesOthers = true;
          return ast::Next::Stop;
        },
        ast::Lambdas::Enter);
    return ServesOthers ? std::nullopt : std::optional<LostWrite>(Result);
  }

  /// A mention of V with this around it only tells something (v.size()), or is
  /// a part of an assignment to an element of V, computed with in a way that
  /// writes nothing.
  bool isForAssignment(const VarDecl *V,
                       llvm::ArrayRef<const Stmt *> Around) const {
    for (const Stmt *Outer : llvm::reverse(Around)) {
      const auto *Call = dyn_cast<CallExpr>(Outer);
      if (!Call) {
        if (isPlain(Outer))
          continue;
        return false;
      }
      const FunctionDecl *Callee = Call->getDirectCallee();
      const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
      if (Operator && Operator->getOperator() == OO_Equal) {
        const std::optional<Named> To = namedVariable(Operator->getArg(0));
        return To && To->Variable == V && To->IsElement &&
               isRebinding(Operator) && Flow.isFullExpression(Operator);
      }
      if (isOfStd(Callee, tellsOnly) ||
          (torch::isLibTorch(Callee) && torch::saysProperty(Callee)))
        return true;
      const std::optional<Named> Part = namedVariable(Call);
      const torch::Call What = torch::classify(Call);
      const bool IsElement = Part && Part->Variable == V && Part->IsElement;
      const bool IsComputed = What.Kind == torch::Api::Operation &&
                              What.Op->Writes == torch::operation::NoArgument;
      if (!IsElement && !IsComputed)
        return false;
    }
    return false;
  }

  /// A part of an expression that hands nothing to code that is not known.
  static bool isPlain(const Stmt *S) {
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(S))
      return torch::isLibTorch(Construct->getConstructor()) ||
             torch::isStd(Construct->getConstructor());
    const auto *Unary = dyn_cast<UnaryOperator>(S);
    return isa<Expr>(S) && !isa<LambdaExpr, CXXNewExpr>(S) &&
           !(Unary && Unary->getOpcode() == UO_AddrOf);
  }

  static bool tellsOnly(const FunctionDecl *F) {
    return torch::meaning(F) == torch::StdMeaning::Nothing;
  }

  /// The elements are tensors themselves, or pairs and items with one: not
  /// pointers to some.
  static bool holdsHandles(const CXXForRangeStmt *Loop) {
    const QualType Type =
        Loop->getLoopVariable()->getType().getNonReferenceType();
    return !Type->isPointerType() &&
           (torch::isTensor(Type) || torch::isItem(torch::recordOf(Type)) ||
            torch::kindOf(Type) == TypeKind::Aggregate);
  }

  bool isReadAfter(const ValueDecl *V, const Stmt *S,
                   const FieldDecl *Member) const {
    if (!flow::isElement(Flow, S) || Flow.hasUnseenParts())
      return true;
    const Readers Reading(Flow, V, Member);
    // What throws after S leads to the handlers.
    for (const Stmt *Around = Flow.parent(S); Around;
         Around = Flow.parent(Around))
      if (const auto *Try = dyn_cast<CXXTryStmt>(Around))
        for (unsigned I = 0; I < Try->getNumHandlers(); ++I)
          if (ast::anyStmt(
                  Try->getHandler(I),
                  [&](const Stmt *Part) { return Reading.reads(Part); },
                  ast::Lambdas::Enter))
            return true;
    return flow::mayMeet(Flow, S, [&](const CFGElement &Element) {
      return Reading.look(Element);
    });
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

  /// A reference or a pointer to V exists.
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
        if (const auto *Call = dyn_cast<CallExpr>(S);
            Call && isOfStd(Call->getDirectCallee(), torch::refersToArguments))
          for (const Expr *Argument : Call->arguments())
            if (refersTo(Argument, V))
              return true;
      }
    return false;
  }

  static bool refersTo(const Expr *E, const ValueDecl *V) {
    const auto *Ref = dyn_cast<DeclRefExpr>(ast::strip(E));
    return Ref && Ref->getDecl() == V;
  }

  /// What was copied is a local variable, no handle to another's tensor, and is
  /// not read after S: neither value is used.
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
      const Expr *Init = Whole ? ast::stripCopies(Whole->getInit()) : nullptr;
      const std::optional<Named> From =
          Init ? namedVariable(Init) : std::nullopt;
      return From && !From->Temporary ? Init : nullptr;
    }
    const auto *Variable = dyn_cast<VarDecl>(V);
    const Expr *Init = Variable && Variable->getInit()
                           ? ast::stripCopies(Variable->getInit())
                           : nullptr;
    if (!Init)
      return nullptr;
    // A view of a tensor that has a name.
    const Expr *Base = withoutViews(Init);
    const std::optional<Named> From = namedVariable(Base);
    // t = x; t = y: a plain alias that is given up is no mistake. One of an
    // element, a member or a part is meant to lead there.
    const bool IsPart =
        From && (ast::strip(Base) != ast::strip(Init) || !From->isWhole());
    return IsPart && !From->Temporary && !isOver(*From, Assignment) ? Init
                                                                    : nullptr;
  }

  Program &User;
  const flow::ControlFlow &Flow;
};

class KeptElementQuery {
public:
  explicit KeptElementQuery(const flow::ControlFlow &Flow) : Flow(Flow) {}

  void run(std::vector<KeptElement> &Results) {
    ast::forEachStmt(
        Flow.function()->getBody(), [&](const Stmt *S) { judge(S, Results); },
        ast::Lambdas::Skip);
  }

private:
  void judge(const Stmt *S, std::vector<KeptElement> &Results) const {
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
  }

  /// E designates an element of a vector of parameters that is a temporary: by
  /// reference, by address, or by an iterator.
  static const CallExpr *elementOf(const Expr *E, QualType Type) {
    E = ast::stripCopies(E);
    if (Type->isReferenceType() ? !E->isGLValue() : false)
      return nullptr;
    if (!Type->isReferenceType()) {
      if (const auto *Address = dyn_cast<UnaryOperator>(E);
          Address && Address->getOpcode() == UO_AddrOf)
        E = Address->getSubExpr();
      else if (const auto *Call = dyn_cast<CXXMemberCallExpr>(E)) {
        // begin(), data(): of a temporary vector.
        if (!isOfStd(Call->getDirectCallee(), torch::pointsIntoContainer))
          return nullptr;
        return asParameterVector(
            dyn_cast<CallExpr>(ast::strip(Call->getImplicitObjectArgument())));
      } else
        return nullptr;
    }
    const std::optional<Named> Root = namedVariable(E);
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
    const auto *Ref = dyn_cast<DeclRefExpr>(ast::strip(Address->getSubExpr()));
    if (!Ref || !Ref->getDecl()->getType()->isReferenceType())
      return nullptr;
    const CXXForRangeStmt *Loop = rangeLoopOf(Flow, Ref->getDecl());
    if (!Loop)
      return nullptr;
    const CallExpr *Call =
        asParameterVector(dyn_cast<CallExpr>(ast::strip(Loop->getRangeInit())));
    if (!Call)
      return nullptr;
    for (const Stmt *S = Flow.parent(Address); S && S != Loop;
         S = Flow.parent(S)) {
      const Expr *Into = nullptr;
      if (const auto *Member = dyn_cast<CXXMemberCallExpr>(S)) {
        if (!isOfStd(Member->getDirectCallee(), torch::keepsArgument))
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
      const std::optional<Named> Root = namedVariable(Into);
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
        LostWriteQuery(User, *Flow).run(Results);
  return Results;
}

std::vector<KeptElement> keptElements(Program &User) {
  std::vector<KeptElement> Results;
  Code &All = User.code();
  for (const FunctionDecl *F : All.functions().all())
    if (All.mentionsTorch(F))
      if (const flow::ControlFlow *Flow = All.controlFlow(F))
        KeptElementQuery(*Flow).run(Results);
  return Results;
}

} // namespace torchtidy::model
