#include "transfer/UnsynchronizedCopy.h"
#include "ast/Locations.h"
#include "ast/Walk.h"
#include "queries/devices/DeviceUse.h"
#include "queries/devices/UnseenWaits.h"
#include "torch/Api.h"
#include "torch/Options.h"
#include "torch/Waiting.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;

namespace torchtidy::model {

/// The event of the copy that fills Memory; null where it is not seen.
static const Event *copyInto(const Execution &Entry, AllocationId Memory) {
  for (const TransferEvent &Each : Entry.events<TransferEvent>())
    if (Each.Memory == Memory)
      return Each.IsNonBlocking ? &Each : nullptr;
  for (const WriteEvent &Each : Entry.events<WriteEvent>()) {
    const auto *Call = dyn_cast<CallExpr>(Each.Site);
    const torch::Operation *Op = Call ? torch::classify(Call).Op : nullptr;
    if (Op && torch::copiesInto(*Op) && Each.Before.uses(Memory) &&
        torch::nonBlockingArgument(Call))
      return &Each;
  }
  return nullptr;
}

/// A call after Site, in the order of the text, waits for the device, or is not
/// known not to: a pointer that is taken now may be read then.
static bool mayWaitLater(const Event &Taken, UnseenWaits &Unseen) {
  const SourceManager &SM =
      Taken.In->Function->getASTContext().getSourceManager();
  return ast::anyStmt(
      Taken.In->Function->getBody(),
      [&](const Stmt *S) {
        const auto *Call = dyn_cast<CallExpr>(S);
        const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
        return Call &&
               SM.isBeforeInTranslationUnit(Taken.Site->getEndLoc(),
                                            ast::endLoc(Call)) &&
               (!Callee || torch::waitOf(Call) == torch::Wait::Device ||
                torch::asksWhetherDone(Callee) ||
                (torch::classify(Call).Kind == torch::Api::Foreign &&
                 Unseen.mayWait(Call)));
      },
      ast::Lambdas::Skip);
}

std::vector<UnsynchronizedCopy> unsynchronizedCopies(Program &Program) {
  std::vector<UnsynchronizedCopy> Result;
  if (!mayUseDevice(Program))
    return Result;
  UnseenWaits Unseen(Program.context());
  for (const auto &Entry : Program.executions()) {
    llvm::SmallPtrSet<const Event *, 4> Told;
    for (const ReadUnwaitedEvent &Read : Entry->events<ReadUnwaitedEvent>())
      for (AllocationId Memory : Read.Memory) {
        const Event *Copy = copyInto(*Entry, Memory);
        if (!Copy || (Read.IsPointer && mayWaitLater(Read, Unseen)) ||
            !Told.insert(Copy).second)
          continue;
        Result.push_back(
            {Entry.get(), cast<CallExpr>(Copy->Site), Copy->In, &Read});
      }
  }
  return Result;
}

} // namespace torchtidy::model
