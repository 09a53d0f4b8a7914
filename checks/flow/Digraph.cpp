#include "flow/Digraph.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace torchtidy::flow {

using Node = Digraph::Node;

void Digraph::addEdge(Node From, Node To) {
  if (llvm::is_contained(Successors[From], To))
    return;
  Successors[From].push_back(To);
  Predecessors[To].push_back(From);
}

std::vector<Node> reversePostOrder(const Digraph &Graph, Node Entry) {
  std::vector<Node> PostOrder;
  if (Graph.size() == 0)
    return PostOrder;
  llvm::BitVector Seen(Graph.size());
  // Explicit stack: generated functions can be very long.
  std::vector<std::pair<Node, unsigned>> Stack = {{Entry, 0}};
  Seen.set(Entry);
  while (!Stack.empty()) {
    auto &[N, Next] = Stack.back();
    llvm::ArrayRef<Node> Successors = Graph.successors(N);
    if (Next == Successors.size()) {
      PostOrder.push_back(N);
      Stack.pop_back();
      continue;
    }
    // Last to first: the body of a loop, its first successor, then comes before
    // what is behind the loop.
    Node Successor = Successors[Successors.size() - 1 - Next++];
    if (!Seen.test(Successor)) {
      Seen.set(Successor);
      Stack.emplace_back(Successor, 0);
    }
  }
  std::reverse(PostOrder.begin(), PostOrder.end());
  return PostOrder;
}

std::vector<std::vector<Node>>
stronglyConnectedComponents(const Digraph &Graph) {
  // Tarjan, with an explicit stack.
  constexpr unsigned Unvisited = ~0u;
  unsigned Size = Graph.size(), Counter = 0;
  std::vector<unsigned> Index(Size, Unvisited), Low(Size, 0);
  llvm::BitVector OnStack(Size);
  std::vector<Node> Stack;
  std::vector<std::vector<Node>> Components;
  std::vector<std::pair<Node, unsigned>> Work;
  for (Node Root = 0; Root < Size; ++Root) {
    if (Index[Root] != Unvisited)
      continue;
    Work.emplace_back(Root, 0);
    while (!Work.empty()) {
      auto &[N, Next] = Work.back();
      if (Next == 0) {
        Index[N] = Low[N] = Counter++;
        Stack.push_back(N);
        OnStack.set(N);
      }
      if (Next < Graph.successors(N).size()) {
        Node Successor = Graph.successors(N)[Next++];
        if (Index[Successor] == Unvisited)
          Work.emplace_back(Successor, 0);
        else if (OnStack.test(Successor))
          Low[N] = std::min(Low[N], Index[Successor]);
        continue;
      }
      Node Done = N;
      if (Low[Done] == Index[Done]) {
        std::vector<Node> Component;
        Node Member;
        do {
          Member = Stack.back();
          Stack.pop_back();
          OnStack.reset(Member);
          Component.push_back(Member);
        } while (Member != Done);
        Components.push_back(std::move(Component));
      }
      Work.pop_back();
      if (!Work.empty())
        Low[Work.back().first] = std::min(Low[Work.back().first], Low[Done]);
    }
  }
  return Components;
}

Dominators::Dominators(const Digraph &Graph, Node Entry)
    : Immediate(Graph.size(), None), Order(Graph.size(), None) {
  std::vector<Node> Sorted = reversePostOrder(Graph, Entry);
  for (unsigned I = 0; I < Sorted.size(); ++I)
    Order[Sorted[I]] = I;
  if (Sorted.empty())
    return;
  Immediate[Entry] = Entry;
  auto Intersect = [&](Node A, Node B) {
    while (A != B) {
      while (Order[A] > Order[B])
        A = Immediate[A];
      while (Order[B] > Order[A])
        B = Immediate[B];
    }
    return A;
  };
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (Node N : Sorted) {
      if (N == Entry)
        continue;
      unsigned New = None;
      for (Node Predecessor : Graph.predecessors(N)) {
        if (Immediate[Predecessor] == None)
          continue;
        New = New == None ? Predecessor : Intersect(Predecessor, New);
      }
      if (New != None && Immediate[N] != New) {
        Immediate[N] = New;
        Changed = true;
      }
    }
  }
}

bool Dominators::dominates(Node A, Node B) const {
  if (Immediate[A] == None || Immediate[B] == None)
    return false;
  while (Order[B] > Order[A])
    B = Immediate[B];
  return A == B;
}

LoopForest::LoopForest(const Digraph &Graph, Node Entry)
    : Innermost(Graph.size(), -1) {
  std::vector<Node> Sorted = reversePostOrder(Graph, Entry);
  std::vector<unsigned> Order(Graph.size(), ~0u);
  for (unsigned I = 0; I < Sorted.size(); ++I)
    Order[Sorted[I]] = I;
  std::vector<unsigned> Component(Graph.size());
  unsigned Number = 0;
  for (const auto &Members : stronglyConnectedComponents(Graph)) {
    for (Node N : Members)
      Component[N] = Number;
    ++Number;
  }
  // Outer headers come first in reverse post-order.
  for (Node Header : Sorted) {
    llvm::BitVector Body(Graph.size());
    std::vector<Node> Work;
    for (Node Predecessor : Graph.predecessors(Header)) {
      bool IsBackEdge = Order[Predecessor] != ~0u &&
                        Order[Predecessor] >= Order[Header] &&
                        Component[Predecessor] == Component[Header];
      if (IsBackEdge && !Body.test(Predecessor)) {
        Body.set(Predecessor);
        Work.push_back(Predecessor);
      }
    }
    if (Work.empty())
      continue;
    Body.set(Header);
    while (!Work.empty()) {
      Node N = Work.back();
      Work.pop_back();
      if (N == Header)
        continue;
      for (Node Predecessor : Graph.predecessors(N)) {
        // A body of an irreducible cycle stays inside its component and does
        // not go back over nodes that come before the header.
        if (Body.test(Predecessor) || Order[Predecessor] == ~0u ||
            Component[Predecessor] != Component[Header] ||
            Order[Predecessor] < Order[Header])
          continue;
        Body.set(Predecessor);
        Work.push_back(Predecessor);
      }
    }
    Loop L;
    L.Header = Header;
    L.Body = std::move(Body);
    Loops.push_back(std::move(L));
  }
  for (unsigned I = 0; I < Loops.size(); ++I) {
    for (unsigned J = 0; J < Loops.size(); ++J) {
      if (I == J || !Loops[J].contains(Loops[I].Header))
        continue;
      int &Parent = Loops[I].Parent;
      if (Parent < 0 || Loops[J].Body.count() < Loops[Parent].Body.count())
        Parent = J;
    }
  }
  for (Loop &L : Loops)
    for (int P = L.Parent; P >= 0; P = Loops[P].Parent)
      ++L.Depth;
  for (unsigned I = 0; I < Loops.size(); ++I)
    for (unsigned N : Loops[I].Body.set_bits())
      if (Innermost[N] < 0 || Loops[Innermost[N]].Depth < Loops[I].Depth)
        Innermost[N] = I;
}

llvm::SmallVector<const Loop *, 4> LoopForest::around(Node N) const {
  llvm::SmallVector<const Loop *, 4> Result;
  for (int I = Innermost[N]; I >= 0; I = Loops[I].Parent)
    Result.push_back(&Loops[I]);
  return Result;
}

} // namespace torchtidy::flow
