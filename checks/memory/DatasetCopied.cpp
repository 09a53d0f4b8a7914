#include "memory/DatasetCopied.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "queries/memory/Numbers.h"
#include "queries/paths/Calls.h"
#include "torch/Loaders.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

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

std::vector<DatasetCopied> findDatasetCopied(Program &Program) {
  std::vector<DatasetCopied> Result;
  for (const Execution *Entry : Program.executionsThatCost())
    for (const CallAt &At : callsOf(*Entry)) {
      const CXXRecordDecl *Dataset =
          torch::sourceDataset(torch::copiedDataset(At.Call));
      const FieldDecl *Data = dataOf(Dataset);
      if (!Data)
        continue;
      const std::optional<int64_t> Count = Workers(*Entry, At).get();
      if (Count.value_or(0) >= Several)
        Result.push_back({Entry, At.Call, At.In, Dataset, Data, *Count});
    }
  return Result;
}

} // namespace torchtidy::model
