// Which of the user's functions call which: for the order of work and to find
// the functions whose callers lie elsewhere.
#ifndef TORCHTIDY_FLOW_CALLGRAPH_H
#define TORCHTIDY_FLOW_CALLGRAPH_H

#include "flow/Digraph.h"
#include "flow/Functions.h"
#include "flow/Overriders.h"
#include "llvm/ADT/DenseMap.h"

namespace torchtidy::flow {

/// Tells what a call may run though the code does not name it there.
using IndirectCallees = llvm::function_ref<void(
    const clang::CallExpr *Call,
    llvm::function_ref<void(const clang::FunctionDecl *)> Found)>;

/// Edges are direct calls, constructions, calls of a lambda, and functions or
/// lambdas that are passed on (to a thread, to an algorithm): what gets them
/// may call them. A call of a virtual method may run what overrides it.
class CallGraph {
public:
  explicit CallGraph(const UserFunctions &Functions,
                     IndirectCallees Indirect = nullptr);

  /// A function before its callers; members of a recursion in source order.
  std::vector<const clang::FunctionDecl *> bottomUp() const;
  /// Functions that nothing in this file calls or hands on. main is one.
  std::vector<const clang::FunctionDecl *> roots() const;
  const Overriders &overriders() const { return Overriding; }
  bool isRecursive(const clang::FunctionDecl *F) const;
  llvm::SmallVector<const clang::FunctionDecl *, 4>
  callers(const clang::FunctionDecl *F) const;
  llvm::SmallVector<const clang::FunctionDecl *, 4>
  callees(const clang::FunctionDecl *F) const;

private:
  std::optional<Digraph::Node> node(const clang::FunctionDecl *F) const;

  const UserFunctions &Functions;
  Overriders Overriding;
  Digraph Graph;
  llvm::DenseMap<const clang::FunctionDecl *, Digraph::Node> Nodes;
  llvm::BitVector SelfCalls;
  std::vector<std::vector<Digraph::Node>> Components;
};

} // namespace torchtidy::flow

#endif
