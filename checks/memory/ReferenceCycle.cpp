#include "memory/ReferenceCycle.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "queries/memory/KeptArguments.h"
#include "queries/memory/OwnerPaths.h"
#include "queries/memory/OwnershipEnds.h"
#include "queries/paths/MemberReads.h"
#include "torch/Api.h"
#include "torch/Members.h"
#include "torch/SharedOwners.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace torchtidy::model {

namespace {

/// One thing that was found in a function, before it is known what the rest of
/// the file does.
struct Candidate {
  ReferenceCycle Found;
  /// All that owns something on the way round.
  llvm::SmallVector<const FieldDecl *, 4> Members;
  const FunctionDecl *In = nullptr;
  /// Where a part is given to the whole, and the method that the whole is given
  /// to; null where there is none.
  const Stmt *Holder = nullptr;
  const FunctionDecl *Setter = nullptr;
};

/// The assignment is not what closes the circle, nor what has come before it.
bool replaces(const OwnershipEnds::Assignment &Each, const Candidate &Circle,
              const SourceManager &SM) {
  const Stmt *Site = Circle.Found.Site;
  return Each.Site != Site && Each.Site != Circle.Holder &&
         Each.In->getCanonicalDecl() != Circle.Setter &&
         !(Each.In == Circle.In &&
           SM.isBeforeInTranslationUnit(Each.Site->getBeginLoc(),
                                        Site->getBeginLoc()));
}

/// Something else may open the circle.
bool mayOpen(const OwnershipEnds &Ends, const Candidate &Circle,
             const SourceManager &SM) {
  if (Circle.Found.Of == ReferenceCycle::Hook && Ends.removesHooks())
    return true;
  if (Circle.Setter && Ends.calls(Circle.Setter) > 1)
    return true;
  return llvm::any_of(Circle.Members, [&](const FieldDecl *Member) {
    return Ends.letsGo(Member) ||
           llvm::any_of(Ends.assignments(Member),
                        [&](const OwnershipEnds::Assignment &Each) {
                          return replaces(Each, Circle, SM);
                        });
  });
}

/// Looks at one function.
class CycleFinder {
public:
  CycleFinder(Program &User, const FunctionDecl *F, std::vector<Candidate> &All)
      : User(User), F(F), Paths(F), All(All) {}

  void run() {
    const auto Look = [&](const Stmt *S, llvm::ArrayRef<const Stmt *> Around) {
      if (const auto *Call = dyn_cast<CallExpr>(S))
        look(Call, Around);
      return ast::Next::Children;
    };
    ast::forEachStmt(
        F->getBody(), [&](const Stmt *S) { collectHolder(S); },
        ast::Lambdas::Skip);
    ast::walk(F->getBody(), Look, ast::Lambdas::Captures);
  }

private:
  /// What holds a variable, and where it is given it.
  struct Held {
    OwnerPath In;
    const Stmt *Site;
    bool IsElement;
  };

  /// parent->children.push_back(child), parent->register_module("c", child),
  /// parent->child = child
  void collectHolder(const Stmt *S) {
    const auto *Call = dyn_cast<CallExpr>(S);
    if (!Call)
      return;
    const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
    const auto *Member = dyn_cast<CXXMemberCallExpr>(Call);
    const Expr *Into = nullptr, *Part = nullptr;
    if (Operator && Operator->getOperator() == OO_Equal &&
        Operator->getNumArgs() == 2) {
      Into = Operator->getArg(0);
      Part = Operator->getArg(1);
    } else if (Member && Member->getNumArgs() > 0 &&
               (torch::keepsArgument(Member->getMethodDecl()) ||
                torch::classify(Member).Kind == torch::Api::RegisterModule)) {
      Into = Member->getImplicitObjectArgument();
      Part = Member->getArg(Member->getNumArgs() - 1);
    }
    const auto *Ref =
        dyn_cast_or_null<DeclRefExpr>(Part ? ast::stripCopies(Part) : nullptr);
    const auto Holder =
        Ref && isSharedPointer(Ref) ? Paths.find(Into) : std::nullopt;
    if (Holder && Holder->Root != Ref->getDecl())
      HeldBy.try_emplace(Ref->getDecl(), Held{*Holder, Call, !Operator});
  }

  void look(const CallExpr *Call, llvm::ArrayRef<const Stmt *> Around) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (torch::registersHook(Callee) && Call->getNumArgs() == 1)
      return lookAtHook(Call, Around);
    const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
    if (Operator && Operator->getOperator() == OO_Equal &&
        Operator->getNumArgs() == 2)
      return lookAtStore(Call, Operator->getArg(0), Operator->getArg(1),
                         /*IsElement=*/false);
    const auto *Member = dyn_cast<CXXMemberCallExpr>(Call);
    if (!Member || !Member->getMethodDecl())
      return;
    if (torch::keepsArgument(Member->getMethodDecl()) &&
        torch::isStd(Member->getMethodDecl())) {
      for (const Expr *Each : Member->arguments())
        lookAtStore(Call, Member->getImplicitObjectArgument(), Each,
                    /*IsElement=*/true);
      return;
    }
    lookAtSetter(Member);
  }

  /// t.register_hook([t](..) {..}), net->fc->weight.register_hook([net](..)..)
  void lookAtHook(const CallExpr *Call, llvm::ArrayRef<const Stmt *> Around) {
    const Expr *Tensor = ast::objectOf(Call);
    const auto Path = Tensor ? Paths.find(Tensor) : std::nullopt;
    if (!Path || isValueUsed(Around))
      return;
    // Of a member that is no layer's, each forward pass may make another.
    if (!Path->Members.empty() &&
        !torch::isLibTorch(Path->Members.back()->getParent()))
      return;
    std::optional<Candidate> Found =
        ofCaptures(lambdaOf(Call->getArg(0)), *Path, ReferenceCycle::Hook);
    if (!Found)
      return;
    Found->Found.Site = Call;
    add(std::move(*Found), *Path);
  }

  /// a->b->c = E, or an element of it.
  void lookAtStore(const CallExpr *Call, const Expr *To, const Expr *Value,
                   bool IsElement) {
    if (const auto Path = Paths.find(To); Path && !Path->Members.empty())
      addStored(Call, *Path, Value, IsElement);
  }

  /// \p Setter does it, where there is one.
  void addStored(const CallExpr *Call, const OwnerPath &Path, const Expr *Value,
                 bool IsElement, const FunctionDecl *Setter = nullptr) {
    const FieldDecl *Last = Path.Members.back();
    const QualType Type = KeptArgument{Last, IsElement}.type();
    if (Type.isNull())
      return;
    if (torch::holdsCallable(Type)) {
      OwnerPath Around = Path;
      Around.Members.pop_back();
      if (auto Found =
              ofCaptures(lambdaOf(Value), Around, ReferenceCycle::Callback)) {
        Found->Setter = Setter ? Setter->getCanonicalDecl() : nullptr;
        Found->Found.Site = Call;
        Found->Found.Member = Last;
        add(std::move(*Found), Path);
      }
    } else if (torch::sharesOwnership(Type)) {
      addPart(Call, Path, Value, IsElement, Setter);
    }
  }

  /// The whole, or what is around it, becomes a member of a part of it.
  void addPart(const CallExpr *Call, const OwnerPath &Path, const Expr *Value,
               bool IsElement, const FunctionDecl *Setter) {
    const Expr *Given = stripPointerCasts(Value);
    const auto Whole = Given ? Paths.find(Given) : std::nullopt;
    OwnerPath Around = Path;
    Around.Members.pop_back();
    if (!Whole || !isSharedPointer(Given) ||
        !torch::leadsToTensor(Given->getType()))
      return;
    Candidate Found;
    if (!Around.beginsWith(*Whole)) {
      // The part is a variable that the whole was given beside this.
      const auto It = HeldBy.find(Around.Root);
      if (It == HeldBy.end() || !It->second.In.beginsWith(*Whole) ||
          !isBeside(It->second.Site, Call) ||
          isReportedThere(It->second, Call, IsElement))
        return;
      Found.Members = It->second.In.Members;
      Found.Holder = It->second.Site;
    }
    Found.Setter = Setter ? Setter->getCanonicalDecl() : nullptr;
    Found.Found.Of = ReferenceCycle::Part;
    Found.Found.Site = Call;
    Found.Found.Member = Path.Members.back();
    Found.Found.Owner = Whole->Root;
    Found.Found.Captured = Value->getExprLoc();
    add(std::move(Found), Path);
  }

  /// Of the two that make the circle one is reported: what is no element of a
  /// list, or else the one that closes it.
  bool isReportedThere(const Held &Other, const Stmt *S, bool IsElement) const {
    const SourceManager &SM = User.sourceManager();
    return IsElement || (!Other.IsElement &&
                         SM.isBeforeInTranslationUnit(
                             S->getBeginLoc(), Other.Site->getBeginLoc()));
  }

  /// One runs where the other does.
  bool isBeside(const Stmt *A, const Stmt *B) const {
    const flow::ControlFlow *Flow = User.code().controlFlow(F);
    const Stmt *First = Flow ? Flow->statement(A) : nullptr;
    const Stmt *Second = Flow ? Flow->statement(B) : nullptr;
    return First && Second && Flow->parent(First) == Flow->parent(Second);
  }

  /// part->set_whole(whole), whole->add_listener([whole](..) {..}), where the
  /// method stores its argument in a member.
  void lookAtSetter(const CXXMemberCallExpr *Call) {
    const FunctionDecl *Setter =
        User.code().functions().definition(Call->getMethodDecl());
    const auto Path = Paths.find(Call->getImplicitObjectArgument());
    if (!Setter || !Path)
      return;
    for (unsigned I = 0; I < Call->getNumArgs() && I < Setter->getNumParams();
         ++I) {
      const auto Kept = keptArgument(Setter, Setter->getParamDecl(I));
      if (!Kept)
        continue;
      OwnerPath Member = *Path;
      Member.Members.push_back(Kept->Member);
      // What is one of many takes nobody's place.
      addStored(Call, Member, Call->getArg(I), Kept->IsElement,
                Kept->IsElement ? nullptr : Setter);
    }
  }

  /// The lambda that E is, here or where its variable is declared.
  static const LambdaExpr *lambdaOf(const Expr *E) {
    E = ast::stripCopies(E);
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
          V && V->getInit() && V->isLocalVarDecl())
        E = ast::stripCopies(V->getInit());
    const auto *Lambda = dyn_cast<LambdaExpr>(E);
    // One that may change what it has captured may let go of it.
    return Lambda && !Lambda->isMutable() ? Lambda : nullptr;
  }

  /// What a capture is may be less than what it is made of:
  /// [weak = std::weak_ptr<Net>(net)].
  static bool keeps(QualType Captured) {
    return torch::isTensor(Captured) || torch::sharesOwnership(Captured);
  }

  /// A capture that leads to Holder: the tensor itself, or what owns it.
  std::optional<Candidate> ofCaptures(const LambdaExpr *Lambda,
                                      const OwnerPath &Holder,
                                      ReferenceCycle::Kind Of) const {
    if (!Lambda)
      return std::nullopt;
    for (const auto [Capture, Init] :
         llvm::zip_equal(Lambda->captures(), Lambda->capture_inits())) {
      if (Capture.getCaptureKind() != LCK_ByCopy || !Init ||
          !keeps(Capture.getCapturedVar()->getType().getNonReferenceType()))
        continue;
      const Expr *From = stripPointerCasts(Init);
      const auto Path = From ? Paths.find(From) : std::nullopt;
      if (!Path || !Holder.beginsWith(*Path))
        continue;
      const bool IsTensor = torch::isTensor(From->getType());
      const bool IsWhole = Path->Members.size() == Holder.Members.size();
      const bool Keeps = IsTensor ? IsWhole && Of == ReferenceCycle::Hook
                                  : isSharedPointer(From) &&
                                        torch::leadsToTensor(From->getType());
      if (!Keeps)
        continue;
      Candidate Result;
      Result.Found.Of = Of;
      Result.Found.Owner = Path->Root;
      Result.Found.IsTensor = IsTensor;
      Result.Found.Captured = Capture.getLocation();
      return Result;
    }
    return std::nullopt;
  }

  /// auto handle = t.register_hook(..)
  static bool isValueUsed(llvm::ArrayRef<const Stmt *> Around) {
    for (const Stmt *S : llvm::reverse(Around)) {
      if (isa<FullExpr, ParenExpr>(S))
        continue;
      if (const auto *Cast = dyn_cast<CastExpr>(S);
          Cast && Cast->getCastKind() == CK_ToVoid)
        return false;
      return isa<Expr, DeclStmt, ReturnStmt>(S);
    }
    return false;
  }

  /// It ends with the program anyway.
  bool livesToTheEnd(const ValueDecl *Owner) const {
    const auto *V = dyn_cast_or_null<VarDecl>(Owner);
    if (!V || !F->isMain())
      return false;
    const flow::ControlFlow *Flow = User.code().controlFlow(F);
    if (!Flow)
      return true;
    const Stmt *Declared = nullptr;
    ast::forEachStmt(
        F->getBody(),
        [&](const Stmt *S) {
          const auto *D = dyn_cast<DeclStmt>(S);
          if (D && llvm::is_contained(D->decls(), V))
            Declared = D;
        },
        ast::Lambdas::Skip);
    // A parameter of a network that a loop goes through lives with it.
    const Stmt *Around = Declared ? Flow->parent(Declared) : nullptr;
    return !Around || Around == F->getBody() || isa<CXXForRangeStmt>(Around);
  }

  void add(Candidate New, const OwnerPath &Path) {
    New.In = F;
    New.Members.append(Path.Members.begin(), Path.Members.end());
    if (livesToTheEnd(New.Found.Owner))
      return;
    if (const auto *V = dyn_cast_or_null<VarDecl>(New.Found.Owner))
      New.Found.Maker = V->getInit();
    All.push_back(std::move(New));
  }

  Program &User;
  const FunctionDecl *F;
  const OwnerPaths Paths;
  std::vector<Candidate> &All;
  /// Of variables: what holds them.
  llvm::DenseMap<const ValueDecl *, Held> HeldBy;
};

} // namespace

std::vector<ReferenceCycle> findReferenceCycles(Program &Program) {
  std::vector<Candidate> All;
  const flow::UserFunctions &Functions = Program.code().functions();
  for (const FunctionDecl *F : Functions.all())
    if (F->getBody() && !Program.code().tests().contains(F))
      CycleFinder(Program, F, All).run();
  std::vector<ReferenceCycle> Result;
  if (All.empty())
    return Result;
  const OwnershipEnds Ends(Functions);
  // Of a hook's members, weights of layers, nobody lets go.
  const auto IsCertain = [&](const Candidate &Each) {
    return Each.Found.Of == ReferenceCycle::Hook ||
           llvm::all_of(Each.Members, [&](const FieldDecl *Member) {
             return isClosed(Program, Member);
           });
  };
  for (const Candidate &Each : All)
    if (IsCertain(Each) && !mayOpen(Ends, Each, Program.sourceManager()))
      Result.push_back(Each.Found);
  return Result;
}

} // namespace torchtidy::model
