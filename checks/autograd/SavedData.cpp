#include "autograd/SavedData.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "flow/Ahead.h"
#include "torch/Api.h"
#include "torch/CustomFunctions.h"
#include "torch/Members.h"
#include "torch/Modules.h"
#include "torch/Options.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;
using torchtidy::torch::Tri;
namespace op = torchtidy::torch::operation;

namespace torchtidy::model {

using Handles = llvm::SmallVector<const DeclRefExpr *, 4>;

/// The variables that E is, or has in it, as they are: y, IValue(y), {y, z}.
static void handlesIn(const Expr *E, Handles &Result, unsigned Depth = 0) {
  E = E && Depth < 12 ? ast::strip(E) : nullptr;
  if (!E)
    return;
  const auto Add = [&](const Expr *Part) {
    handlesIn(Part, Result, Depth + 1);
  };
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    if (!V)
      return;
    if (torch::isTensor(V->getType()))
      Result.push_back(Ref);
    else if (V->isLocalVarDecl() && V->getInit())
      Add(V->getInit());
  } else if (const auto *List = dyn_cast<InitListExpr>(E)) {
    llvm::for_each(List->inits(), Add);
  } else if (const auto *Array = dyn_cast<CXXStdInitializerListExpr>(E)) {
    Add(Array->getSubExpr());
  } else if (const auto *Made = dyn_cast<CXXConstructExpr>(E)) {
    llvm::for_each(Made->arguments(), Add);
  } else if (const auto *Call = dyn_cast<CallExpr>(E);
             Call && torch::isStd(Call->getDirectCallee())) {
    const torch::StdMeaning Means = torch::meaning(Call->getDirectCallee());
    if (Means == torch::StdMeaning::Move || Means == torch::StdMeaning::Tuple)
      llvm::for_each(Call->arguments(), Add);
  }
}

static Handles handlesIn(const Expr *E) {
  Handles Result;
  handlesIn(E, Result);
  return Result;
}

/// The key of saved_data[key].
static const Expr *keyOf(const Expr *Element) {
  const auto *Call = dyn_cast_or_null<CXXOperatorCallExpr>(
      Element ? ast::strip(Element) : nullptr);
  return Call && Call->getOperator() == OO_Subscript &&
                 torch::isSavedData(Call->getArg(0))
             ? Call->getArg(1)
             : nullptr;
}

static const StringLiteral *literal(const Expr *Key) {
  return Key ? dyn_cast<StringLiteral>(
                   ast::stripCopies(Key)->IgnoreParenImpCasts())
             : nullptr;
}

namespace {

/// What one class does with its contexts.
class ClassUse {
public:
  explicit ClassUse(const CXXRecordDecl *Class) {
    for (const CXXMethodDecl *Method : Class->methods()) {
      const FunctionDecl *Definition = nullptr;
      if (Method->isImplicit())
        continue;
      if (!Method->isDefined(Definition) || !Definition->getBody()) {
        IsClosed = false;
        continue;
      }
      look(Definition, torch::isForward(Method));
    }
  }

  /// Nothing in it takes an element out of saved_data, or may do so.
  bool keepsAll() const { return IsClosed; }
  bool savesForBackward() const { return Saves; }

  /// The reads of the element, outside of forward(), of the form that a saved
  /// variable has; none where there is another.
  std::vector<const CallExpr *> readsOf(const StringLiteral *Key) const {
    std::vector<const CallExpr *> Result;
    for (const Read &Each : Reads) {
      if (!Each.Key)
        return {};
      if (Each.Key->getBytes() != Key->getBytes())
        continue;
      if (!Each.ToTensor)
        return {};
      Result.push_back(Each.ToTensor);
    }
    return Result;
  }

private:
  struct Read {
    const StringLiteral *Key;
    /// The call of toTensor(), whose result is no reference that is kept.
    const CallExpr *ToTensor;
  };

  void look(const FunctionDecl *Method, bool IsForward) {
    const auto Look = [&](const Stmt *S, llvm::ArrayRef<const Stmt *> Around) {
      if (const auto *Call = dyn_cast<CallExpr>(S))
        Saves |= torch::savesForBackward(Call->getDirectCallee());
      if (const auto *Ref = dyn_cast<DeclRefExpr>(S);
          Ref && isa<ParmVarDecl>(Ref->getDecl()) &&
          torch::isContext(Ref->getType()))
        IsClosed &= isObject(Around);
      if (const auto *Member = dyn_cast<MemberExpr>(S);
          Member && torch::isSavedData(Member))
        look(Around, IsForward);
      return ast::Next::Children;
    };
    ast::walk(Method->getBody(), Look, ast::Lambdas::Enter);
  }

  /// The nearest statements around that are more than a cast.
  static llvm::SmallVector<const Stmt *, 4>
  outwards(llvm::ArrayRef<const Stmt *> Around) {
    llvm::SmallVector<const Stmt *, 4> Result;
    for (const Stmt *S : llvm::reverse(Around))
      if (!isa<CastExpr, ParenExpr, FullExpr, MaterializeTemporaryExpr,
               CXXBindTemporaryExpr>(S))
        Result.push_back(S);
    return Result;
  }

  /// ctx->member
  static bool isObject(llvm::ArrayRef<const Stmt *> Around) {
    const auto Out = outwards(Around);
    return !Out.empty() && isa<MemberExpr>(Out.front());
  }

  /// Of saved_data, with what is around it.
  void look(llvm::ArrayRef<const Stmt *> Around, bool IsForward) {
    const auto Out = outwards(Around);
    const auto *Member =
        Out.empty() ? nullptr : dyn_cast<MemberExpr>(Out.front());
    const auto *Call = dyn_cast_or_null<CallExpr>(
        Out.size() > (Member ? 1 : 0) ? Out[Member ? 1 : 0] : nullptr);
    const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    if (torch::addsToMap(Callee)) {
      IsClosed &= IsForward;
      return;
    }
    if (!torch::looksIntoMap(Callee)) {
      IsClosed = false;
      return;
    }
    const auto *Element = dyn_cast<CXXOperatorCallExpr>(Call);
    const Stmt *User = Out.size() > 1 ? Out[1] : nullptr;
    const auto *Assign = dyn_cast_or_null<CXXOperatorCallExpr>(User);
    if (Element && Assign && Assign->getOperator() == OO_Equal &&
        ast::strip(Assign->getArg(0)) == Element) {
      IsClosed &= IsForward;
      return;
    }
    // std::move(ctx->saved_data["y"])
    if (const auto *Moved = dyn_cast_or_null<CallExpr>(User);
        Moved && Moved->isCallToStdMove())
      IsClosed = false;
    if (IsForward)
      return;
    Reads.push_back({Element ? literal(Element->getArg(1)) : nullptr,
                     Element ? toTensor(Out) : nullptr});
  }

  /// Out: the subscript, the member, its call, and what uses the call.
  static const CallExpr *toTensor(llvm::ArrayRef<const Stmt *> Out) {
    const auto *Call =
        Out.size() > 2 ? dyn_cast<CXXMemberCallExpr>(Out[2]) : nullptr;
    if (!Call || !torch::isToTensor(Call->getMethodDecl()))
      return nullptr;
    const auto *Declaration =
        Out.size() > 3 ? dyn_cast<DeclStmt>(Out[3]) : nullptr;
    const bool BindsReference =
        Declaration && llvm::any_of(Declaration->decls(), [](const Decl *D) {
          const auto *V = dyn_cast<VarDecl>(D);
          return V && V->getType()->isReferenceType();
        });
    return BindsReference ? nullptr : Call;
  }

  std::vector<Read> Reads;
  bool IsClosed = true, Saves = false;
};

class ForwardQuery {
public:
  ForwardQuery(Program &User, const CXXMethodDecl *Forward, const ClassUse &Use)
      : Forward(Forward), Use(Use), Flow(User.code().controlFlow(Forward)) {}

  std::vector<SavedData> run() {
    std::vector<SavedData> Result;
    if (!Flow)
      return Result;
    ast::forEachStmt(
        Forward->getBody(), [&](const Stmt *S) { look(S); },
        ast::Lambdas::Skip);
    for (auto &[Return, Of] : Returned)
      Of = originalOf(Of);
    for (auto *Each : {&WithoutGradient, &HandedOut})
      for (const ValueDecl *D : llvm::to_vector(*Each))
        Each->insert(originalOf(D));
    for (const auto &[Save, Saved] : Saves)
      for (const DeclRefExpr *Operand : handlesIn(Saved))
        if (auto Found = describe(Save, Operand)) {
          Result.push_back(*Found);
          break;
        }
    // Two would share one list of saved variables.
    if (Result.size() == 1)
      addReads(Result.front());
    return Result;
  }

private:
  void look(const Stmt *S) {
    if (const auto *Return = dyn_cast<ReturnStmt>(S))
      for (const DeclRefExpr *Ref : handlesIn(Return->getRetValue()))
        Returned.emplace_back(Return, Ref->getDecl());
    const auto *Call = dyn_cast<CallExpr>(S);
    if (!Call)
      return;
    if (torch::marksNonDifferentiable(Call->getDirectCallee()))
      for (const Expr *Each : Call->arguments())
        for (const DeclRefExpr *Ref : handlesIn(Each))
          WithoutGradient.insert(Ref->getDecl());
    const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
    if (Operator && Operator->getOperator() == OO_Equal) {
      if (keyOf(Operator->getArg(0)))
        Saves.emplace_back(Call, Operator->getArg(1));
      else if (const auto *To =
                   dyn_cast<DeclRefExpr>(ast::strip(Operator->getArg(0))))
        Assigned[To->getDecl()].push_back(Operator->getArg(1));
      return;
    }
    if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call);
        Member && torch::addsToMap(Member->getMethodDecl()) &&
        torch::isSavedData(Member->getImplicitObjectArgument()) &&
        Member->getNumArgs() > 0) {
      Saves.emplace_back(Call, Member->getArg(Member->getNumArgs() - 1));
      return;
    }
    // Who gets a reference may bind it to another tensor.
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (Callee && (torch::isLibTorch(Callee) || torch::isStd(Callee)))
      return;
    const auto Arguments = ast::argumentsOf(Call);
    for (unsigned I = 0; I < Arguments.size(); ++I) {
      const auto *Ref = dyn_cast<DeclRefExpr>(ast::strip(Arguments[I]));
      const QualType Type = Callee && I < Callee->getNumParams()
                                ? Callee->getParamDecl(I)->getType()
                                : QualType();
      if (Ref &&
          (Type.isNull() || (Type->isReferenceType() &&
                             !Type->getPointeeType().isConstQualified())))
        HandedOut.insert(Ref->getDecl());
    }
  }

  /// The variable of which D is another handle: y of auto kept = y. D itself
  /// where it is none, or may become another.
  const ValueDecl *originalOf(const ValueDecl *D) const {
    for (unsigned Hop = 0; Hop < 4; ++Hop) {
      const auto *V = dyn_cast<VarDecl>(D);
      const auto *Ref =
          V && V->isLocalVarDecl() && V->getInit() && !Assigned.count(V)
              ? dyn_cast<DeclRefExpr>(ast::stripCopies(V->getInit()))
              : nullptr;
      if (!Ref || !torch::isTensor(Ref->getType()))
        break;
      D = Ref->getDecl();
    }
    return D;
  }

  std::optional<SavedData> describe(const CallExpr *Save,
                                    const DeclRefExpr *Operand) {
    const auto *Output = dyn_cast<VarDecl>(originalOf(Operand->getDecl()));
    const Expr *Maker = Output ? makerOf(Output) : nullptr;
    if (!Maker || WithoutGradient.count(Output) || HandedOut.count(Output))
      return std::nullopt;
    for (const auto &[Return, Of] : Returned)
      if (Of == Output && leads(Save, Return)) {
        SavedData Result;
        Result.Save = Save;
        Result.Operand = Operand;
        Result.Output = Output;
        Result.Return = Return;
        Result.Maker = Maker;
        return Result;
      }
    return std::nullopt;
  }

  bool leads(const CallExpr *Save, const ReturnStmt *Return) const {
    return flow::mayMeet(*Flow, Save, [&](const CFGElement &Element) {
      const auto Next = Element.getAs<CFGStmt>();
      if (!Next)
        return flow::Met::Passed;
      if (Next->getStmt() == Return)
        return flow::Met::Found;
      // The element gets something else.
      const bool IsOther =
          Next->getStmt() != Save && llvm::any_of(Saves, [&](const auto &Each) {
            return Each.first == Next->getStmt() &&
                   isSameElement(Each.first, Save);
          });
      return IsOther ? flow::Met::Stop : flow::Met::Passed;
    });
  }

  /// Perhaps: keys that are no literals may be any.
  static bool isSameElement(const CallExpr *A, const CallExpr *B) {
    const StringLiteral *KeyA = literal(keyOf(A->getArg(0))),
                        *KeyB = literal(keyOf(B->getArg(0)));
    return !KeyA || !KeyB || KeyA->getBytes() == KeyB->getBytes();
  }

  /// The operation that makes the only tensor that V ever is.
  const Expr *makerOf(const VarDecl *V) const {
    if (!V->isLocalVarDecl() || V->getType()->isReferenceType())
      return nullptr;
    const auto It = Assigned.find(V);
    const unsigned Count = It == Assigned.end() ? 0 : It->second.size();
    const auto *Init = V->getInit() ? ast::strip(V->getInit()) : nullptr;
    const auto *Made = dyn_cast_or_null<CXXConstructExpr>(Init);
    const bool IsEmpty = !Init || (Made && Made->getNumArgs() == 0);
    if (IsEmpty ? Count != 1 : Count != 0)
      return nullptr;
    const Expr *From = IsEmpty ? It->second.front() : V->getInit();
    const auto *Call = dyn_cast<CallExpr>(ast::stripCopies(From));
    if (!Call)
      return nullptr;
    unsigned Part = 0;
    if (const FunctionDecl *Callee = Call->getDirectCallee();
        Callee && torch::isStd(Callee) && ast::tupleIndex(Callee) &&
        Call->getNumArgs() == 1) {
      Part = *ast::tupleIndex(Callee);
      Call = dyn_cast<CallExpr>(ast::stripCopies(Call->getArg(0)));
    }
    Call = Call ? changedBy(Call) : nullptr;
    return Call && makesDifferentiable(Call, Part) ? Call : nullptr;
  }

  /// x.mul(2) of x.mul(2).round_().clamp_(0, 1): each returns the tensor that
  /// it changes.
  static const CallExpr *changedBy(const CallExpr *Call) {
    for (const torch::Operation *Op = torch::classify(Call).Op;
         Op && Op->Writes == op::Self; Op = torch::classify(Call).Op) {
      const Expr *Object = ast::objectOf(Call);
      const auto *Inner =
          Object ? dyn_cast<CallExpr>(ast::strip(Object)) : nullptr;
      if (!Inner)
        break;
      Call = Inner;
    }
    return Call;
  }

  /// A tensor of its own that may need a gradient: no view, no comparison, no
  /// indices.
  static bool makesDifferentiable(const CallExpr *Call, unsigned Part) {
    const torch::Operation *Op = torch::classify(Call).Op;
    if (!Op || Op->View != Tri::No || Op->Writes != op::NoArgument ||
        torch::isFromBlob(*Op) || torch::returnsBool(*Op) ||
        (Part > 0 && torch::returnsIndices(*Op)))
      return false;
    const bool IsFactory = Op->has(op::Factory) || Op->has(op::LikeFactory);
    if (!IsFactory)
      return Op->has(op::Allocates) && Op->Differentiable == Tri::Yes;
    // empty_like(x, torch::kLong)
    return !ast::anyStmt(
        Call,
        [](const Stmt *S) {
          const auto *Ref = dyn_cast<DeclRefExpr>(S);
          const auto Kind =
              Ref ? torch::scalarKindOf(Ref->getDecl()) : std::nullopt;
          return Kind && (*Kind == torch::ScalarKind::Integral ||
                          *Kind == torch::ScalarKind::Bool);
        },
        ast::Lambdas::Skip);
  }

  void addReads(SavedData &Found) const {
    const auto *Assign = dyn_cast<CXXOperatorCallExpr>(Found.Save);
    const StringLiteral *Key =
        Assign ? literal(keyOf(Assign->getArg(0))) : nullptr;
    if (!Key || Use.savesForBackward() ||
        ast::stripCopies(Assign->getArg(1)) != Found.Operand ||
        !Flow->isFullExpression(Assign))
      return;
    Found.Reads = Use.readsOf(Key);
  }

  const CXXMethodDecl *Forward;
  const ClassUse &Use;
  const flow::ControlFlow *Flow;
  std::vector<std::pair<const CallExpr *, const Expr *>> Saves;
  std::vector<std::pair<const ReturnStmt *, const ValueDecl *>> Returned;
  llvm::DenseMap<const ValueDecl *, llvm::SmallVector<const Expr *, 2>>
      Assigned;
  llvm::DenseSet<const ValueDecl *> WithoutGradient, HandedOut;
};

} // namespace

std::vector<SavedData> findSavedData(Program &Program) {
  std::vector<SavedData> Result;
  for (const FunctionDecl *F : Program.code().functions().all()) {
    const auto *Forward = dyn_cast<CXXMethodDecl>(F);
    if (!Forward || !torch::isForward(Forward) ||
        !torch::isCustomFunction(Forward->getParent()))
      continue;
    const ClassUse Use(Forward->getParent());
    if (Use.keepsAll())
      llvm::append_range(Result, ForwardQuery(Program, Forward, Use).run());
  }
  return Result;
}

} // namespace torchtidy::model
