#include "memory/DatasetCopied.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "queries/loops/Loops.h"
#include "queries/memory/Numbers.h"
#include "queries/paths/Calls.h"
#include "torch/Loaders.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/DenseSet.h"

using namespace clang;

namespace torchtidy::model {

/// One worker has the only copy: the loader moves its own away.
static constexpr int64_t Several = 2;

namespace {

/// How many workers the options of a call ask for.
class Workers {
public:
  Workers(const Execution &Entry, const CallAt &At) : Entry(Entry), At(At) {}

  std::optional<int64_t> get() {
    for (const Expr *Argument : At.Call->arguments())
      if (torch::isLoaderOptions(Argument->getType()))
        collect(Argument);
    // Of several that say it, one may be on another path.
    return Said.size() == 1 ? knownNumber(Entry, Said.front(), At.In)
                            : std::nullopt;
  }

private:
  /// DataLoaderOptions().batch_size(8).workers(4), or a variable that was given
  /// this.
  void collect(const Expr *E) {
    for (unsigned Hop = 0; E && Hop < 16; ++Hop) {
      E = ast::stripCopies(E);
      if (const auto *Call = dyn_cast<CXXMemberCallExpr>(E)) {
        if (torch::setsWorkers(Call->getMethodDecl()))
          Said.push_back(Call->getArg(0));
        E = Call->getImplicitObjectArgument();
        continue;
      }
      const auto *Ref = dyn_cast<DeclRefExpr>(E);
      const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
      if (!V || !V->isLocalVarDecl())
        return;
      collectCallsOn(V);
      E = V->getInit();
    }
  }

  void collectCallsOn(const VarDecl *V) {
    ast::forEachStmt(
        At.In->Function->getBody(),
        [&](const Stmt *S) {
          const auto *Call = dyn_cast<CXXMemberCallExpr>(S);
          if (Call && torch::setsWorkers(Call->getMethodDecl()) &&
              rootOf(Call) == V)
            Said.push_back(Call->getArg(0));
        },
        ast::Lambdas::Enter);
  }

  /// The variable that a chain of calls is made on.
  static const ValueDecl *rootOf(const Expr *E) {
    while (const auto *Call = dyn_cast<CXXMemberCallExpr>(ast::strip(E)))
      E = Call->getImplicitObjectArgument();
    const auto *Ref = dyn_cast<DeclRefExpr>(ast::strip(E));
    return Ref ? Ref->getDecl() : nullptr;
  }

  const Execution &Entry;
  const CallAt &At;
  llvm::SmallVector<const Expr *, 2> Said;
};

} // namespace

/// A sample is a stretch of the list: numbers_.data() + i * width,
/// &numbers_[i * width].
static bool givesStretches(const CXXRecordDecl *Dataset,
                           const FieldDecl *Numbers) {
  const auto IsData = [&](const Expr *E) {
    const auto *Member = dyn_cast<MemberExpr>(ast::strip(E));
    return Member && Member->getMemberDecl() == Numbers;
  };
  const auto IsStretch = [&](const Stmt *S) {
    if (const auto *Call = dyn_cast<CXXMemberCallExpr>(S))
      return torch::pointsIntoContainer(Call->getMethodDecl()) &&
             IsData(Call->getImplicitObjectArgument());
    const auto *Address = dyn_cast<UnaryOperator>(S);
    if (!Address || Address->getOpcode() != UO_AddrOf)
      return false;
    const auto *Element =
        dyn_cast<CXXOperatorCallExpr>(ast::strip(Address->getSubExpr()));
    return Element && Element->getOperator() == OO_Subscript &&
           IsData(Element->getArg(0));
  };
  return llvm::any_of(Dataset->methods(), [&](const CXXMethodDecl *Method) {
    const FunctionDecl *Definition = nullptr;
    return torch::readsSample(Method) && Method->isDefined(Definition) &&
           ast::anyStmt(Definition->getBody(), IsStretch, ast::Lambdas::Enter);
  });
}

/// The member that has the data by value; null where none does.
static const FieldDecl *dataOf(const CXXRecordDecl *Dataset) {
  // One that says how it is copied may share what it has.
  if (!Dataset || Dataset->hasUserDeclaredCopyConstructor())
    return nullptr;
  for (const FieldDecl *Field : Dataset->fields()) {
    const torch::CopiedData Data = torch::copiedData(Field->getType());
    if (Data == torch::CopiedData::Lists ||
        (Data == torch::CopiedData::Numbers &&
         torch::kindOf(Field->getType()) == torch::TypeKind::Container &&
         givesStretches(Dataset, Field)))
      return Field;
  }
  return nullptr;
}

namespace {

/// Whether what a name leads to is the same object in all iterations of a loop.
class SameObject {
public:
  SameObject(const Execution &Entry, const flow::Loop &L)
      : Entry(Entry), L(L), Home(Entry.segment(L.Header).In) {}

  bool holds(const Expr *E, const Frame *F) const {
    // Bounds the way through members and callers.
    for (unsigned Hop = 0; E && F && Hop < 16; ++Hop) {
      E = ast::strip(E);
      if (const auto *Member = dyn_cast<MemberExpr>(E)) {
        const Expr *Base = ast::strip(Member->getBase());
        // A pointer may lead to another one each time.
        if (Member->isArrow() && !isa<CXXThisExpr>(Base))
          return false;
        E = Base;
      } else if (isa<CXXThisExpr>(E)) {
        if (F == Home)
          return true;
        E = F->Object;
        F = F->Caller;
      } else {
        const auto *Ref = dyn_cast<DeclRefExpr>(E);
        const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
        const auto *Parameter = dyn_cast_or_null<ParmVarDecl>(V);
        if (!V || V->getType()->isPointerType())
          return false;
        if (!isMadeInside(V, F))
          return true;
        if (!Parameter || !V->getType()->isReferenceType())
          return false;
        const Supergraph::Passed Given = Supergraph::passed(F, Parameter);
        E = Given.Argument;
        F = Given.To ? Given.To->Caller : nullptr;
      }
    }
    return false;
  }

private:
  /// The variable begins in the loop.
  bool isMadeInside(const VarDecl *V, const Frame *F) const {
    if (V->hasGlobalStorage())
      return false;
    const Frame *Owner = Supergraph::owner(F, V);
    const Stmt *Statement = Entry.loopStatement(L);
    return !Owner || !Statement || Entry.beginsIn(Owner, L) ||
           Statement->getSourceRange().fullyContains(V->getSourceRange());
  }

  const Execution &Entry;
  const flow::Loop &L;
  /// The activation that the loop is written in.
  const Frame *Home;
};

} // namespace

/// The innermost loop, which copies the same data set in every iteration.
static const flow::Loop *copiesAgain(const Execution &Entry, const CallAt &At,
                                     const Expr *Named) {
  const auto Around = Entry.loopsAround(At.Point);
  if (Around.empty())
    return nullptr;
  const flow::Loop &L = *Around.back();
  return isUnconditional(Entry, At.Call, At.In, L) &&
                 SameObject(Entry, L).holds(Named, At.In)
             ? &L
             : nullptr;
}

static std::optional<DatasetCopied> copiedForWorkers(const Execution &Entry,
                                                     const CallAt &At) {
  const CXXRecordDecl *Dataset =
      torch::sourceDataset(torch::copiedDataset(At.Call));
  const FieldDecl *Data = dataOf(Dataset);
  const std::optional<int64_t> Count =
      Data ? Workers(Entry, At).get() : std::nullopt;
  if (Count.value_or(0) < Several)
    return std::nullopt;
  return DatasetCopied{&Entry, At.Call, At.In,   Dataset,
                       Data,   *Count,  nullptr, nullptr};
}

static std::optional<DatasetCopied> copiedInLoop(const Execution &Entry,
                                                 const CallAt &At) {
  const Expr *Named = torch::namedDataset(At.Call);
  const CXXRecordDecl *Dataset =
      Named ? torch::sourceDataset(Named->getType()) : nullptr;
  const FieldDecl *Data = dataOf(Dataset);
  const flow::Loop *L = Data ? copiesAgain(Entry, At, Named) : nullptr;
  if (!L)
    return std::nullopt;
  return DatasetCopied{&Entry, At.Call, At.In, Dataset, Data, 0, L, nullptr};
}

/// The function that is called runs a network, or makes tensors, in a loop over
/// what it was given: a data set.
static bool goesThrough(const Execution &Entry, const CallAt &At,
                        const ParmVarDecl *Parameter) {
  const auto Names = [&](const Stmt *S) {
    const auto *Ref = dyn_cast<DeclRefExpr>(S);
    return Ref && Ref->getDecl() == Parameter;
  };
  return llvm::any_of(Entry.loops().loops(), [&](const flow::Loop &L) {
    const Frame *Home = Entry.segment(L.Header).In;
    const Stmt *Statement = Entry.loopStatement(L);
    return Home->Site == At.Call && Home->Caller == At.In && Statement &&
           ast::anyStmt(Statement, Names, ast::Lambdas::Enter) &&
           llvm::any_of(Entry.events<ForwardEvent>(), [&](const Event &Pass) {
             return L.contains(Pass.Point);
           });
  });
}

/// Only methods that are const are called on it, it is given on as const, and
/// loops over it change no element.
static bool isTakenAsConst(const ParmVarDecl *P, const Stmt *Body) {
  const auto Mention = [&](const Expr *E) {
    const auto *Ref = E ? dyn_cast<DeclRefExpr>(ast::strip(E)) : nullptr;
    return Ref && Ref->getDecl() == P ? Ref : nullptr;
  };
  if (P->getType().isConstQualified())
    return true;
  llvm::DenseSet<const Stmt *> AsConst;
  ast::forEachStmt(
      Body,
      [&](const Stmt *S) {
        if (const auto *Cast = dyn_cast<ImplicitCastExpr>(S))
          if (Cast->getType().isConstQualified())
            AsConst.insert(Mention(Cast->getSubExpr()));
        if (const auto *Range = dyn_cast<CXXForRangeStmt>(S)) {
          const QualType Each = Range->getLoopVariable()->getType();
          if (!Each->isReferenceType() ||
              Each.getNonReferenceType().isConstQualified())
            AsConst.insert(Mention(Range->getRangeInit()));
        }
      },
      ast::Lambdas::Enter);
  return !ast::anyStmt(
      Body,
      [&](const Stmt *S) {
        const auto *Ref = dyn_cast<DeclRefExpr>(S);
        return Ref && Ref->getDecl() == P && !AsConst.count(Ref);
      },
      ast::Lambdas::Enter);
}

/// double validate(Scans scans): a copy for each call, which is only read.
static std::optional<DatasetCopied> passedByValue(const Execution &Entry,
                                                  const CallAt &At) {
  const FunctionDecl *Callee = At.Call->getDirectCallee();
  if (!Callee || isa<CXXOperatorCallExpr>(At.Call) ||
      !Callee->isDefined(Callee) || !Callee->getBody())
    return std::nullopt;
  const size_t Count =
      std::min<size_t>(At.Call->getNumArgs(), Callee->getNumParams());
  for (size_t I = 0; I < Count; ++I) {
    const ParmVarDecl *Parameter = Callee->getParamDecl(I);
    const auto *Copy =
        dyn_cast<CXXConstructExpr>(ast::strip(At.Call->getArg(unsigned(I))));
    const CXXRecordDecl *Class = Parameter->getType()->getAsCXXRecordDecl();
    if (!Class || torch::isStd(Class) || !Copy ||
        !Copy->getConstructor()->isCopyConstructor())
      continue;
    const FieldDecl *Data = dataOf(torch::sourceDataset(Parameter->getType()));
    const flow::Loop *L =
        Data ? copiesAgain(Entry, At, Copy->getArg(0)) : nullptr;
    if (L && isTakenAsConst(Parameter, Callee->getBody()) &&
        goesThrough(Entry, At, Parameter))
      return DatasetCopied{&Entry, At.Call, At.In, Class,
                           Data,   0,       L,     Parameter};
  }
  return std::nullopt;
}

static bool isWithin(const CallExpr *Call, const CallExpr *Other) {
  return ast::anyStmt(
      Other, [&](const Stmt *S) { return S == Call; }, ast::Lambdas::Skip);
}

std::vector<DatasetCopied> findDatasetCopied(Program &Program) {
  std::vector<DatasetCopied> Result;
  for (const Execution *Entry : Program.executionsThatCost()) {
    const std::vector<CallAt> Calls = callsOf(*Entry);
    for (const CallAt &At : Calls)
      if (const auto Found = copiedForWorkers(*Entry, At))
        Result.push_back(*Found);
    // A loader that is told already, and what is written in its call.
    const std::vector<DatasetCopied> Known = Result;
    for (const CallAt &At : Calls) {
      if (const auto Given = passedByValue(*Entry, At))
        Result.push_back(*Given);
      const auto Found = copiedInLoop(*Entry, At);
      if (Found && llvm::none_of(Known, [&](const DatasetCopied &Other) {
            return isWithin(At.Call, Other.Loader);
          }))
        Result.push_back(*Found);
    }
  }
  return Result;
}

} // namespace torchtidy::model
