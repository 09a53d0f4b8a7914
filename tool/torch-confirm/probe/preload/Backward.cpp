// A backward is one site, at the line that asks for it; what its nodes do
// belongs to it. On the CPU they run on the thread that asked. For each CUDA
// device they run on a thread of LibTorch's own, and are led back by their
// graph task. Where a node may run the user's code (its own autograd function,
// a hook), that code's operations are sites of their own.

#include "Backward.h"

#include "KeyTable.h"
#include "Modules.h"
#include "Nodes.h"
#include "Sites.h"
#include "Stacks.h"
#include "Timeline.h"

namespace torchtidy::confirm::probe {
namespace {

/// From a graph task to the site of its backward.
KeyTable Tasks;
std::atomic<void *> NextExecute, NextExecuteTask, NextEvaluate;

using Execute = Returned(void *, const void *, const void *, uint64_t, uint64_t,
                         uint64_t, const void *);
using ExecuteTask = Returned(void *, const void *, void *, void *);
using Evaluate = void(void *, void **, void *, void *, const void *);

uint64_t keyOf(const void *Task) { return reinterpret_cast<uintptr_t>(Task); }

/// Keeps the way from a task to its site while it runs.
class TaskOf {
public:
  TaskOf(const void *Task, uint32_t Site) : Key(keyOf(Task)) {
    Tasks.put({Key, 0, Site, 0});
  }
  ~TaskOf() {
    KeyTable::Row Row;
    Tasks.take(Key, Row);
  }

private:
  uint64_t Key;
};

/// For what is thrown meanwhile.
class Running {
public:
  explicit Running(const void *Node) : Before(Self.Node) { Self.Node = Node; }
  ~Running() { Self.Node = Before; }

private:
  const void *Before;
};

bool mayRunUserCode(const void *Node) {
  // The table of its functions lies with the code of its class. What was seen
  // last is kept, since a graph has few classes of nodes.
  struct Seen {
    uintptr_t Table;
    bool IsUser;
  };
  static TORCH_CONFIRM_TLS Seen Recent[64];
  const uintptr_t Table = *static_cast<const uintptr_t *>(Node);
  Seen &Last = Recent[(Table >> 4) % 64];
  if (Last.Table != Table)
    // Its destructor is the first function.
    Last = {Table, isUserCode(*reinterpret_cast<const uintptr_t *>(Table))};
  return Last.IsUser || (Torch && Torch->nodeHasHooks(Node));
}

} // namespace

#define EXECUTE                                                                \
  "_ZN5torch8autograd6Engine7executeERKSt6vectorINS0_4EdgeESaIS3_EERKS2_IN2at" \
  "6TensorESaIS9_EEbbbS7_"
#define EXECUTE_TASK                                                           \
  "_ZN5torch8autograd6Engine23execute_with_graph_taskERKSt10shared_ptrINS0_"   \
  "9GraphTaskEES2_INS0_4NodeEEONS0_11InputBufferE"
#define EVALUATE                                                               \
  "_ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_"          \
  "9GraphTaskEEPNS0_4NodeERNS0_11InputBufferERKS2_INS0_10ReadyQueueEE"

TORCH_CONFIRM_HOOK Returned hookExecute(void *Engine, const void *Roots,
                                        const void *Inputs, uint64_t Keep,
                                        uint64_t Create, uint64_t Accumulate,
                                        const void *Outputs) asm(EXECUTE);
Returned hookExecute(void *Engine, const void *Roots, const void *Inputs,
                     uint64_t Keep, uint64_t Create, uint64_t Accumulate,
                     const void *Outputs) {
  auto *Next = next<Execute>(NextExecute, EXECUTE);
  if (!isRecording())
    return Next(Engine, Roots, Inputs, Keep, Create, Accumulate, Outputs);
  const uint32_t Site =
      siteHere(trace::SiteKind::Backward, keepText("backward"));
  backwardBegins(Keep & 0xff ? Site : 0);
  if (!Self.HasBackward) {
    Self.HasBackward = true;
    threadRunsBackwards();
  }
  hit(Site);
  const TimedBackward Timed(Site);
  Within Backward(Site);
  return Next(Engine, Roots, Inputs, Keep, Create, Accumulate, Outputs);
}

TORCH_CONFIRM_HOOK Returned hookExecuteTask(void *Engine, const void *Task,
                                            void *Root,
                                            void *Buffer) asm(EXECUTE_TASK);
Returned hookExecuteTask(void *Engine, const void *Task, void *Root,
                         void *Buffer) {
  auto *Next = next<ExecuteTask>(NextExecuteTask, EXECUTE_TASK);
  if (!isRecording() || !Self.Depth)
    return Next(Engine, Task, Root, Buffer);
  // A shared pointer begins with the pointer.
  TaskOf Known(*static_cast<void *const *>(Task), Self.Site);
  return Next(Engine, Task, Root, Buffer);
}

TORCH_CONFIRM_HOOK void hookEvaluate(void *Engine, void **Task, void *Node,
                                     void *Inputs,
                                     const void *Queue) asm(EVALUATE);
void hookEvaluate(void *Engine, void **Task, void *Node, void *Inputs,
                  const void *Queue) {
  auto *Next = next<Evaluate>(NextEvaluate, EVALUATE);
  if (!isRecording() || !Node) {
    Next(Engine, Task, Node, Inputs, Queue);
    return;
  }
  nodeRuns(Node);
  const Running Now(Node);
  KeyTable::Row Row;
  if (mayRunUserCode(Node)) {
    Within Users(0);
    Next(Engine, Task, Node, Inputs, Queue);
  } else if (!Self.Depth && Tasks.look(keyOf(*Task), Row)) {
    Within Backward(Row.Site);
    Whole AllOfIt;
    Next(Engine, Task, Node, Inputs, Queue);
  } else {
    Whole AllOfIt;
    Next(Engine, Task, Node, Inputs, Queue);
  }
}

Binding backwardBinding() { return bindingOf("libtorch_cpu.so", EXECUTE); }
Binding nodeRunBinding() { return bindingOf("libtorch_cpu.so", EVALUATE); }

void lockBackwards() { Tasks.lock(); }
void unlockBackwards() { Tasks.unlock(); }

} // namespace torchtidy::confirm::probe
