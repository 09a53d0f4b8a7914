#include "flow/Ahead.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;

namespace torchtidy::flow {

bool isElement(const ControlFlow &Flow, const Stmt *S) {
  return !Flow.positions(S).empty();
}

bool mayMeet(const ControlFlow &Flow, const Stmt *From,
             llvm::function_ref<Met(const CFGElement &)> Look,
             bool IsExitFound) {
  const CFG &Graph = Flow.cfg();
  llvm::SmallPtrSet<const CFGBlock *, 16> Entered;
  llvm::SmallVector<const CFGBlock *, 16> Work;
  // A branch that a constant rules out is followed as well: with another
  // constant it is taken.
  auto Follow = [&](const CFGBlock *Block) {
    for (const CFGBlock::AdjacentBlock &Edge : Block->succs()) {
      const CFGBlock *Next = Edge.getReachableBlock()
                                 ? Edge.getReachableBlock()
                                 : Edge.getPossiblyUnreachableBlock();
      if (Next && Entered.insert(Next).second)
        Work.push_back(Next);
    }
  };
  /// Whether something was found in Block from its element First on; where the
  /// path goes on after it, its successors are noted.
  auto Walk = [&](const CFGBlock *Block, unsigned First) {
    for (unsigned I = First; I < Block->size(); ++I)
      switch (Look((*Block)[I])) {
      case Met::Passed:
        break;
      case Met::Stop:
        return false;
      case Met::Found:
        return true;
      }
    Follow(Block);
    return false;
  };
  for (const ControlFlow::Position &At : Flow.positions(From))
    if (Walk(At.Block, At.Index + 1))
      return true;
  // What is near first: as a rule that is where it is found, and a function may
  // be very long.
  for (size_t Next = 0; Next < Work.size(); ++Next) {
    const CFGBlock *Block = Work[Next];
    if (Block == &Graph.getExit()) {
      if (IsExitFound)
        return true;
    } else if (Walk(Block, 0)) {
      return true;
    }
  }
  return false;
}

} // namespace torchtidy::flow
