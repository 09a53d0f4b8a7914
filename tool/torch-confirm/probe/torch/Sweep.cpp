// Who holds the graphs that are alive. A node whose tensor is kept is led to by
// no other node; what a sum or a recurrent state has chained is led to by the
// newest node of its own place. A line that only builds graphs which another
// one keeps is neither.

#include "Tensors.h"

#include <torch/csrc/autograd/edge.h>
#include <torch/csrc/autograd/function.h>

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <vector>

namespace torchtidy::confirm::probe {
namespace {

using torch::autograd::Node;

constexpr uint32_t NoNode = UINT32_MAX;
/// The newest one may be on another way: that of a weight, in a layer.
constexpr size_t NewestTried = 8;

struct Graph {
  /// By the index of a node: where its edges begin; one more at the end.
  std::vector<uint32_t> Begin;
  std::vector<uint32_t> To;
  std::vector<bool> IsLedTo;
};

Graph graphOf(const std::vector<AliveNode> &Nodes,
              uint64_t (*KeyOf)(uint64_t, uint64_t)) {
  Graph Result;
  Result.IsLedTo.resize(Nodes.size());
  const auto IndexOf = [&](uint64_t Key) {
    const auto It = std::lower_bound(
        Nodes.begin(), Nodes.end(), Key,
        [](const AliveNode &Each, uint64_t K) { return Each.Key < K; });
    return It != Nodes.end() && It->Key == Key
               ? static_cast<uint32_t>(It - Nodes.begin())
               : NoNode;
  };
  for (const AliveNode &From : Nodes) {
    Result.Begin.push_back(static_cast<uint32_t>(Result.To.size()));
    if (!From.Node)
      continue;
    for (const auto &Edge : static_cast<const Node *>(From.Node)->next_edges())
      if (Edge.function && Edge.function->sequence_nr() != UINT64_MAX)
        if (const uint32_t To = IndexOf(KeyOf(Edge.function->thread_id(),
                                              Edge.function->sequence_nr()));
            To != NoNode) {
          Result.To.push_back(To);
          Result.IsLedTo[To] = true;
        }
  }
  Result.Begin.push_back(static_cast<uint32_t>(Result.To.size()));
  return Result;
}

/// How many nodes of their own site some nodes lead to.
uint32_t chainOf(const std::vector<AliveNode> &Nodes, const Graph &Of,
                 const std::vector<uint32_t> &From, std::vector<uint32_t> &Seen,
                 uint32_t Mark, uint64_t &Visits) {
  const uint32_t Own = Nodes[From.front()].Site;
  std::vector<uint32_t> Open;
  uint32_t Result = 0;
  const auto Leave = [&](uint32_t At) {
    ++Visits;
    for (uint32_t I = Of.Begin[At]; I < Of.Begin[At + 1]; ++I) {
      const uint32_t To = Of.To[I];
      if (Seen[To] == Mark)
        continue;
      Seen[To] = Mark;
      Result += Nodes[To].Site == Own;
      Open.push_back(To);
    }
  };
  for (const uint32_t Each : From) {
    Leave(Each);
    while (!Open.empty()) {
      const uint32_t At = Open.back();
      Open.pop_back();
      Leave(At);
    }
  }
  return Result;
}

} // namespace

const void *nodeOfEdge(const void *Edge, uint64_t *Thread, uint64_t *Sequence) {
  const auto &Of = *static_cast<const torch::autograd::Edge *>(Edge);
  if (!Of.function)
    return nullptr;
  // Only of these every end is seen: the probe stands in front of deleteNode().
  const auto *Deleter = std::get_deleter<void (*)(Node *)>(Of.function);
  if (!Deleter || *Deleter != &torch::autograd::deleteNode)
    return nullptr;
  *Thread = Of.function->thread_id();
  *Sequence = Of.function->sequence_nr();
  return Of.function.get();
}

uint32_t sweep(const AliveNode *First, uint32_t Count,
               uint64_t (*KeyOf)(uint64_t, uint64_t), SweptSite *Into,
               uint32_t Room, uint64_t *Visits) {
  std::vector<AliveNode> Nodes(First, First + Count);
  std::sort(
      Nodes.begin(), Nodes.end(),
      [](const AliveNode &A, const AliveNode &B) { return A.Key < B.Key; });
  const Graph Of = graphOf(Nodes, KeyOf);
  struct Found {
    SweptSite Told{};
    /// From old to new.
    std::vector<uint32_t> Newest;
  };
  std::unordered_map<uint32_t, Found> BySite;
  for (uint32_t I = 0; I < Nodes.size(); ++I) {
    if (!Nodes[I].Site || !Nodes[I].Node)
      continue;
    Found &At = BySite[Nodes[I].Site];
    At.Told.Site = Nodes[I].Site;
    ++At.Told.Nodes;
    At.Told.Roots += !Of.IsLedTo[I];
    // Sorted by key: of one thread the newest comes last.
    if (At.Newest.size() == NewestTried)
      At.Newest.erase(At.Newest.begin());
    At.Newest.push_back(I);
  }
  std::vector<Found> Order;
  for (const auto &[Site, Each] : BySite)
    Order.push_back(Each);
  std::sort(Order.begin(), Order.end(), [](const Found &A, const Found &B) {
    return A.Told.Nodes != B.Told.Nodes ? A.Told.Nodes > B.Told.Nodes
                                        : A.Told.Site < B.Told.Site;
  });
  std::vector<uint32_t> Seen(Nodes.size(), 0);
  *Visits = Nodes.size();
  uint32_t Told = 0, Mark = 0;
  for (Found &Each : Order) {
    if (Told == Room)
      break;
    Each.Told.Chain = chainOf(Nodes, Of, Each.Newest, Seen, ++Mark, *Visits);
    Into[Told++] = Each.Told;
  }
  return Told;
}

} // namespace torchtidy::confirm::probe
