#include "transfer/TransferForMetadata.h"
#include "ast/Calls.h"
#include "ast/Expressions.h"
#include "queries/devices/DeviceUse.h"
#include "queries/devices/Transfers.h"
#include "queries/loops/Once.h"
#include "queries/memory/Sizes.h"
#include "queries/paths/Uses.h"
#include "torch/Members.h"
#include "torch/Types.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;

namespace torchtidy::model {

/// The original has the same answer.
static bool isSameOfOriginal(const CXXMemberCallExpr *Question,
                             bool IsConverted) {
  const CXXMethodDecl *Member = Question->getMethodDecl();
  return Member && torch::isLibTorch(Member) &&
         (torch::saysShape(Member) ||
          (!IsConverted && torch::saysElementType(Member)));
}

namespace {

/// What a copy is asked for, here and in the functions that get it.
class Asked {
public:
  Asked(const Execution &Entry, bool IsConverted)
      : Entry(Entry), IsConverted(IsConverted) {}

  /// Nothing else becomes of what E is.
  bool isAll(const flow::ControlFlow &Flow, const Expr *E) {
    if (const CXXMemberCallExpr *Question = calledOn(Flow, E)) {
      Questions.push_back(Question);
      return isSameOfOriginal(Question, IsConverted);
    }
    const ParmVarDecl *Parameter = givenTo(Flow, E);
    const flow::ControlFlow *Into =
        Parameter ? Entry.code().controlFlow(
                        cast<FunctionDecl>(Parameter->getDeclContext()))
                  : nullptr;
    return Into && isAllOf(*Into, Parameter);
  }

  bool isAllOf(const flow::ControlFlow &Flow, const VarDecl *V) {
    if (!Seen.insert(V).second)
      return true;
    return !isNamedInLostCode(Flow, V) &&
           llvm::all_of(mentionsOf(Flow, V), [&](const DeclRefExpr *Ref) {
             return isAll(Flow, Ref);
           });
  }

  llvm::SmallVector<const CXXMemberCallExpr *, 2> Questions;

private:
  /// The parameter of a function of the file that is given E itself, and that
  /// takes any other tensor as well: no rvalue reference. A virtual method may
  /// be another one.
  const ParmVarDecl *givenTo(const flow::ControlFlow &Flow,
                             const Expr *E) const {
    const Stmt *Taker = taker(Flow, E);
    while (isa_and_nonnull<CXXConstructExpr>(Taker) &&
           ast::stripCopies(cast<Expr>(Taker)) == ast::stripCopies(E))
      Taker = taker(Flow, cast<Expr>(Taker));
    const auto *Call = dyn_cast_or_null<CallExpr>(Taker);
    const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Callee);
    if (!Callee || (Method && Method->isVirtual()))
      return nullptr;
    const FunctionDecl *Definition =
        Entry.code().functions().definition(Callee);
    const ParmVarDecl *Result =
        Definition ? ast::parameterFor(Call, Definition,
                                       [&](const Expr *Argument) {
                                         return ast::stripCopies(Argument) ==
                                                ast::stripCopies(E);
                                       })
                   : nullptr;
    const QualType Type = Result ? Result->getType() : QualType();
    return Result && torch::isTensor(Type.getNonReferenceType()) &&
                   !Type->isRValueReferenceType()
               ? Result
               : nullptr;
  }

  const Execution &Entry;
  bool IsConverted;
  llvm::SmallPtrSet<const VarDecl *, 4> Seen;
};

} // namespace

static std::optional<MetadataTransfer>
metadataTransferAt(const Execution &Entry, const TransferEvent &Transfer) {
  const auto *Call = dyn_cast<CXXMemberCallExpr>(Transfer.Site);
  const flow::ControlFlow *Flow = Transfer.In->Flow;
  if (!Call || !Flow || isThereAlready(Transfer) ||
      happensOnce(Entry, Transfer) || isKnownBelow(Entry, Transfer.Input, 1))
    return std::nullopt;
  MetadataTransfer Result;
  Result.Entry = &Entry;
  Result.Transfer = &Transfer;
  Result.Call = Call;
  Result.IsDirect = calledOn(*Flow, Call) != nullptr;
  Result.Variable = declaredWith(*Flow, Call);
  Asked What(Entry, mayConvert(Call));
  const bool IsAll = Result.Variable ? What.isAllOf(*Flow, Result.Variable)
                                     : What.isAll(*Flow, Call);
  if (!IsAll || What.Questions.empty())
    return std::nullopt;
  Result.Questions = std::move(What.Questions);
  return Result;
}

std::vector<MetadataTransfer> metadataTransfers(Program &Program) {
  std::vector<MetadataTransfer> Result;
  const bool HasDevice = mayUseDevice(Program);
  for (const Execution *Entry : Program.executionsThatCost())
    for (const TransferEvent &Transfer : Entry->events<TransferEvent>())
      if (HasDevice || Transfer.ConvertsType)
        if (auto Found = metadataTransferAt(*Entry, Transfer))
          Result.push_back(*Found);
  return Result;
}

} // namespace torchtidy::model
