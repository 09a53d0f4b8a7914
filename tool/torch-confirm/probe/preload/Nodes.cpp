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

KeyTable Alive;
std::atomic<void *> NextNumber, NextDelete;

using Number = uint64_t();
using Delete = void(void *);
using ThreadId = uint64_t();
std::atomic<void *> CurrentThreadId;

/// A sequence number counts a thread's nodes, a thread number the threads.
uint64_t keyOf(uint64_t ThreadNumber, uint64_t Sequence) {
  return (ThreadNumber << 44 ^ Sequence) + 1;
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
  raise(Site.MostNodesAlive, add(Site.NodesAlive, 1));
}

/// \returns 0 for a node that is in no count.
uint64_t keyOf(const void *Node) {
  if (!Torch)
    return 0;
  uint64_t ThreadNumber, Sequence;
  Torch->nodeKey(Node, &ThreadNumber, &Sequence);
  return Sequence == UINT64_MAX ? 0 : keyOf(ThreadNumber, Sequence);
}

void dies(const void *Node) {
  const uint64_t Key = keyOf(Node);
  KeyTable::Row Row;
  if (!Key || !Alive.take(Key, Row))
    return;
  if (Current.load(std::memory_order_acquire) != Phase::On)
    return;
  add(Trace->NodesAlive, -1);
  if (Row.Site)
    add(siteAt(Row.Site).NodesAlive, -1);
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
  dies(Node);
  next<Delete>(NextDelete, DELETE)(Node);
}

void nodeRuns(const void *Node) {
  bump(Trace->NodesRun);
  const uint64_t Key = keyOf(Node);
  KeyTable::Row Row;
  if (Key && Alive.look(Key, Row) && Row.Site)
    bump(siteAt(Row.Site).NodesRun);
}

uint32_t replaceDisposers() { return replaceFrom<0>(); }

void lockNodes() { Alive.lock(); }
void unlockNodes() { Alive.unlock(); }

Binding nodesBinding() {
  const Binding ByNumber = bindingOf("libtorch_cpu.so", NUMBER);
  return ByNumber == Binding::Hooked ? bindingOf("libtorch_cpu.so", DELETE)
                                     : ByNumber;
}

} // namespace torchtidy::confirm::probe
