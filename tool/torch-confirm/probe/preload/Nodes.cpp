// Nodes of autograd graphs. Each takes a sequence number when it is made, and
// most are given to torch::autograd::deleteNode; both are functions of LibTorch
// that its own code calls through the dynamic linker. The thread and the number
// name a node. AccumulateGrad takes no number and so is in no count.
//
// Some nodes are made by make_shared and die without deleteNode: the roots of a
// backward from several tensors, and what an in-place write on a view leaves
// (S: torch/csrc/autograd/variable.cpp, engine.cpp). For these the entry of the
// shared pointer's table of virtual functions is replaced.

#include "Nodes.h"

#include "KeyTable.h"
#include "Sites.h"
#include "Stacks.h"

#include <dlfcn.h>

#include <cstdio>
#include <initializer_list>

namespace torchtidy::confirm::probe {
namespace {

/// Size is the node's address, 0 where it is not known. Extra says by the
/// process's which backward the node was run last, 0 by none.
KeyTable Alive;
std::atomic<void *> NextNumber, NextDelete, NextSetEdge, NextRebase;
std::atomic<uint32_t> ThreadsWithBackwards;
SpinLock Sweeping;

using Number = uint64_t();
using Delete = void(void *);
using ThreadId = uint64_t();
std::atomic<void *> CurrentThreadId;

/// A sequence number counts a thread's nodes, a thread number the threads.
uint64_t keyOf(uint64_t ThreadNumber, uint64_t Sequence) {
  return (ThreadNumber << 44 ^ Sequence) + 1;
}

/// More nodes than that tell no more about who holds them.
constexpr uint32_t MostSwept = 1 << 14;
constexpr uint32_t MostSweptSites = 256;

/// When a site has 4, 8, ... of its nodes alive for the first time.
bool isTimeToSweep(uint64_t Alive) {
  constexpr uint64_t FewestNodes = 4;
  return Alive >= FewestNodes && (Alive & (Alive - 1)) == 0 && Torch;
}

void sweepGraphs() {
  // As many steps as nodes were made, by the number: what is found must not
  // depend on how fast the machine is. A step takes some nanoseconds, and
  // making a node some microseconds.
  constexpr uint64_t StepsForNode = 8;
  constexpr uint64_t FreeOfCharge = 1 << 22;
  static std::atomic<uint64_t> Spent;
  // Zeroed memory that is used again each time.
  static AliveNode *Nodes;
  static SweptSite Sites[MostSweptSites];
  if (Trace->NodesAlive.load(std::memory_order_relaxed) > MostSwept ||
      Spent.load(std::memory_order_relaxed) >
          FreeOfCharge +
              StepsForNode * Trace->NodesMade.load(std::memory_order_relaxed))
    return;
  Locked Lock(Sweeping);
  if (!Nodes)
    Nodes = static_cast<AliveNode *>(reserve(MostSwept * sizeof(AliveNode)));
  if (!Nodes)
    return;
  Busy Own;
  uint32_t Count = 0;
  uint64_t Visits = 0;
  // No node can go while the table is locked.
  Alive.lock();
  Alive.forEachLocked([&](const KeyTable::Row &Row) {
    if (Count < MostSwept)
      Nodes[Count++] = {
          Row.Key,
          reinterpret_cast<const void *>(static_cast<uintptr_t>(Row.Size)),
          Row.Site};
  });
  const uint32_t Told =
      Torch->sweep(Nodes, Count, keyOf, Sites, MostSweptSites, &Visits);
  Alive.unlock();
  for (uint32_t I = 0; I < Told; ++I) {
    trace::Site &Site = siteAt(Sites[I].Site);
    Site.SweptNodes.store(Sites[I].Nodes, std::memory_order_relaxed);
    Site.SweptRoots.store(Sites[I].Roots, std::memory_order_relaxed);
    Site.SweptChain.store(Sites[I].Chain, std::memory_order_relaxed);
  }
  Spent.fetch_add(Visits, std::memory_order_relaxed);
}

/// A site that makes nodes again after a backward ran some begins another
/// stretch.
void countStretch(trace::Site &Site) {
  if (Site.RunSince.load(std::memory_order_relaxed)) {
    const uint64_t Run = Site.RunSince.exchange(0, std::memory_order_relaxed);
    const uint64_t Made = Site.MadeSince.exchange(0, std::memory_order_relaxed);
    uint32_t Row = 0;
    while (Row + 1 < trace::MaxStretches && Made >> (Row + 1))
      ++Row;
    bump(Site.Stretches[Row].Number);
    bump(Site.Stretches[Row].NodesMade, Made);
    bump(Site.Stretches[Row].NodesRun, Run);
  }
  bump(Site.MadeSince);
}

void made(uint64_t Sequence) {
  auto *AskThread = next<ThreadId>(CurrentThreadId,
                                   "_ZN2at14RecordFunction15currentThreadIdEv");
  // Without the other half nobody could tell which node dies.
  if (!AskThread || !Torch)
    return;
  uint32_t At = Self.Site;
  if (!Self.Depth) {
    At = siteHere(trace::SiteKind::Operation, keepText("autograd::node"));
    hit(At);
  }
  Alive.put({keyOf(AskThread(), Sequence), 0, At, 0});
  bump(Trace->NodesMade);
  raise(Trace->PeakNodes, add(Trace->NodesAlive, 1));
  if (!At)
    return;
  trace::Site &Site = siteAt(At);
  bump(Site.NodesMade);
  countStretch(Site);
  const int64_t Now = add(Site.NodesAlive, 1);
  if (Now <= Site.MostNodesAlive.load(std::memory_order_relaxed))
    return;
  raise(Site.MostNodesAlive, Now);
  if (isTimeToSweep(static_cast<uint64_t>(Now)))
    sweepGraphs();
}

/// \returns 0 for a node that is in no count.
uint64_t keyOf(const void *Node) {
  if (!Torch)
    return 0;
  uint64_t ThreadNumber, Sequence;
  Torch->nodeKey(Node, &ThreadNumber, &Sequence);
  return Sequence == UINT64_MAX ? 0 : keyOf(ThreadNumber, Sequence);
}

/// The last backwards: their numbers, and their sites.
constexpr uint32_t BackwardCount = 1024;
std::atomic<uint64_t> LastBackwards[BackwardCount];

/// The site of a backward that has a number; 0 where it is too long ago.
uint32_t siteOfBackward(uint32_t NumberOf) {
  const uint64_t Known =
      LastBackwards[NumberOf % BackwardCount].load(std::memory_order_relaxed);
  return Known >> 32 == NumberOf ? static_cast<uint32_t>(Known) : 0;
}

/// \returns the backward that has run the node last, where the site that made
/// it has gone on to make others since: what goes now was kept beside these.
uint32_t dies(const void *Node) {
  const uint64_t Key = keyOf(Node);
  KeyTable::Row Row;
  if (!Key || !Alive.take(Key, Row))
    return 0;
  if (Current.load(std::memory_order_acquire) != Phase::On)
    return 0;
  add(Trace->NodesAlive, -1);
  if (!Row.Site)
    return 0;
  trace::Site &Site = siteAt(Row.Site);
  if (add(Site.NodesAlive, -1) == 0)
    bump(Site.NodesAllGone);
  if (!Row.Extra)
    return 0;
  bump(Site.NodesRunGone);
  // With several threads each goes on with its own graphs.
  const uint32_t Further =
      static_cast<uint32_t>(Trace->Backwards.load(std::memory_order_relaxed)) -
      Row.Extra;
  if (Further >= 2 * ThreadsWithBackwards.load(std::memory_order_relaxed))
    bump(Site.NodesStale);
  const bool IsBesideNext = Site.MadeSince.load(std::memory_order_relaxed) &&
                            !Site.RunSince.load(std::memory_order_relaxed);
  return IsBesideNext ? siteOfBackward(Row.Extra) : 0;
}

/// A tensor is given the edge to its node: the address is known now.
void edgeIsSet(const void *Edge) {
  if (!Torch || !isRecording())
    return;
  uint64_t ThreadNumber, Sequence;
  const void *Node = Torch->nodeOfEdge(Edge, &ThreadNumber, &Sequence);
  if (Node && Sequence != UINT64_MAX)
    Alive.update(keyOf(ThreadNumber, Sequence), [&](KeyTable::Row &Row) {
      Row.Size = static_cast<int64_t>(reinterpret_cast<uintptr_t>(Node));
    });
}

/// The kinds of nodes that LibTorch makes by make_shared.
constexpr const char *Shared[] = {"10CopySlices",
                                  "9GraphRoot",
                                  "13CopyBackwards",
                                  "21UndefinedGradBackward",
                                  "5Error",
                                  "12DelayedError",
                                  "8Identity",
                                  "7Scatter",
                                  "6Gather",
                                  "9generated13ViewBackward0",
                                  "9generated18AsStridedBackward0"};
constexpr uint32_t SharedCount = sizeof(Shared) / sizeof(*Shared);
void *NextDispose[SharedCount];

/// std::_Sp_counted_ptr_inplace<Node, ...>::_M_dispose: the object lies behind
/// the pointer to the functions and the two counts.
template <uint32_t I> void dispose(char *Counted) {
  dies(Counted + 16);
  reinterpret_cast<void (*)(char *)>(NextDispose[I])(Counted);
}

template <uint32_t I> uint32_t replaceFrom() {
  uint32_t Replaced = 0;
  if constexpr (I < SharedCount) {
    // The allocator's element type is void since GCC 11, and was the node's.
    for (const char *Allocator : {"SaIvE", "SaIS2_E", "SaIS3_E"}) {
      char Table[256];
      snprintf(Table, sizeof(Table),
               "_ZTVSt23_Sp_counted_ptr_inplaceIN5torch8autograd%sE%s"
               "LN9__gnu_cxx12_Lock_policyE2EE",
               Shared[I], Allocator);
      // After the two destructors.
      NextDispose[I] =
          replaceVirtual(Table, 2, reinterpret_cast<void *>(&dispose<I>));
      if (NextDispose[I]) {
        ++Replaced;
        break;
      }
    }
    Replaced += replaceFrom<I + 1>();
  }
  return Replaced;
}

} // namespace

#define NUMBER "_ZN2at15sequence_number17get_and_incrementEv"
#define DELETE "_ZN5torch8autograd10deleteNodeEPNS0_4NodeE"

TORCH_CONFIRM_HOOK uint64_t hookNumber() asm(NUMBER);
uint64_t hookNumber() {
  const uint64_t Sequence = next<Number>(NextNumber, NUMBER)();
  if (isRecording())
    made(Sequence);
  return Sequence;
}

TORCH_CONFIRM_HOOK void hookDeleteNode(void *Node) asm(DELETE);
void hookDeleteNode(void *Node) {
  const uint32_t Before = Self.Releasing;
  if (const uint32_t By = dies(Node))
    Self.Releasing = By;
  next<Delete>(NextDelete, DELETE)(Node);
  Self.Releasing = Before;
}

void nodeRuns(const void *Node) {
  bump(Trace->NodesRun);
  const uint64_t Key = keyOf(Node);
  KeyTable::Row Row;
  bool IsFirst = false;
  uint32_t Before = 0;
  const auto By =
      static_cast<uint32_t>(Trace->Backwards.load(std::memory_order_relaxed));
  if (!Key ||
      !Alive.update(Key,
                    [&](KeyTable::Row &Found) {
                      Before = Found.Extra;
                      IsFirst = !Before;
                      Found.Extra = By ? By : 1;
                      Row = Found;
                    }) ||
      !Row.Site)
    return;
  trace::Site &Site = siteAt(Row.Site);
  // Where it goes is the same most times.
  constexpr uint64_t Always = 256, Seldom = 16;
  const uint64_t Times = Site.NodesRun.load(std::memory_order_relaxed);
  {
    Busy Own;
    Torch->nodeReaches(Node, Row.Site, Times < Always || Times % Seldom == 0);
  }
  bump(Site.NodesRun);
  bump(Site.RunSince);
  if (IsFirst)
    bump(Site.NodesRunOnce);
  else if (const uint32_t First = Before == By ? 0 : siteOfBackward(Before))
    bump(siteAt(First).NodesRunAgain);
}

void flowsInto(uint32_t From, uint64_t ThreadNumber, uint64_t Sequence) {
  KeyTable::Row Row;
  if (Sequence == UINT64_MAX ||
      !Alive.look(keyOf(ThreadNumber, Sequence), Row) || !Row.Site ||
      Row.Site == From)
    return;
  for (auto &Each : siteAt(From).FlowsInto) {
    uint32_t Known = Each.load(std::memory_order_relaxed);
    if (!Known && Each.compare_exchange_strong(Known, Row.Site))
      return;
    if (Known == Row.Site)
      return;
  }
}

void backwardBegins(uint32_t Site) {
  const uint64_t NumberOf =
      Trace->Backwards.fetch_add(1, std::memory_order_relaxed) + 1;
  LastBackwards[NumberOf % BackwardCount].store(NumberOf << 32 | Site,
                                                std::memory_order_relaxed);
}

void threadRunsBackwards() {
  ThreadsWithBackwards.fetch_add(1, std::memory_order_relaxed);
}

#define SET_EDGE                                                               \
  "_ZN5torch8autograd4impl17set_gradient_edgeERKN2at6TensorENS0_4EdgeE"
#define REBASE                                                                 \
  "_ZN5torch8autograd4impl14rebase_historyERKN2at6TensorENS0_4EdgeE"
// An Edge is passed by the address of a copy, which the callee may empty.
using SetEdge = void(const void *, void *);

TORCH_CONFIRM_HOOK void hookSetEdge(const void *, void *) asm(SET_EDGE);
void hookSetEdge(const void *Tensor, void *Edge) {
  edgeIsSet(Edge);
  next<SetEdge>(NextSetEdge, SET_EDGE)(Tensor, Edge);
}

TORCH_CONFIRM_HOOK void hookRebase(const void *, void *) asm(REBASE);
void hookRebase(const void *Tensor, void *Edge) {
  edgeIsSet(Edge);
  next<SetEdge>(NextRebase, REBASE)(Tensor, Edge);
}

uint32_t replaceDisposers() { return replaceFrom<0>(); }

void lockNodes() { Alive.lock(); }
void unlockNodes() { Alive.unlock(); }
void resetNodeLocks() { Sweeping.reset(); }

Binding nodesBinding() {
  const Binding ByNumber = bindingOf("libtorch_cpu.so", NUMBER);
  return ByNumber == Binding::Hooked ? bindingOf("libtorch_cpu.so", DELETE)
                                     : ByNumber;
}

} // namespace torchtidy::confirm::probe
