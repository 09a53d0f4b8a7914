#include "flow/Ahead.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;

namespace torchtidy::flow {

bool isElement(const ControlFlow &Flow, const Stmt *S) {
  for (const CFGBlock *Block : Flow.cfg())
    for (const CFGElement &Each : *Block) {
      const std::optional<CFGStmt> Element = Each.getAs<CFGStmt>();
      if (Element && Element->getStmt() == S)
        return true;
    }
  return false;
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
  /// path goes on behind it, its successors are noted.
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
  for (const CFGBlock *Block : Graph)
    for (unsigned I = 0; I < Block->size(); ++I) {
      const std::optional<CFGStmt> Element = (*Block)[I].getAs<CFGStmt>();
      if (Element && Element->getStmt() == From && Walk(Block, I + 1))
        return true;
    }
  while (!Work.empty()) {
    const CFGBlock *Block = Work.pop_back_val();
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
