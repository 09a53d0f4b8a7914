#include "transfer/TransferForMetadata.h"
#include "ast/Expressions.h"
#include "queries/devices/DeviceUse.h"
#include "queries/devices/Transfers.h"
#include "queries/loops/Once.h"
#include "queries/memory/Sizes.h"
#include "queries/paths/Uses.h"
#include "torch/Members.h"
#include "torch/Types.h"

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
  const bool IsConverted = mayConvert(Call);
  if (const CXXMemberCallExpr *Question = calledOn(*Flow, Call)) {
    if (!isSameOfOriginal(Question, IsConverted))
      return std::nullopt;
    Result.Questions.push_back(Question);
    return Result;
  }
  Result.Variable = declaredWith(*Flow, Call);
  if (!Result.Variable || isNamedInLostCode(*Flow, Result.Variable))
    return std::nullopt;
  for (const DeclRefExpr *Ref : mentionsOf(*Flow, Result.Variable)) {
    const CXXMemberCallExpr *Question = calledOn(*Flow, Ref);
    if (!Question || !isSameOfOriginal(Question, IsConverted))
      return std::nullopt;
    Result.Questions.push_back(Question);
  }
  if (Result.Questions.empty())
    return std::nullopt;
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
