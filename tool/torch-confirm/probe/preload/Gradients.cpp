// Gradients that are accumulated, and the steps that apply them; what is made
// of it is in torch/Gradients.cpp.

#include "Gradients.h"

#include "Allocations.h"
#include "Sites.h"
#include "Stacks.h"
#include "Timeline.h"

namespace torchtidy::confirm::probe {
namespace {

using Apply = Returned(void *, void *);
using Step = Returned(void *, void *);

/// A std::function begins with 16 bytes of storage; then comes the pointer to
/// its manager, null when it is empty.
bool isEmpty(const void *StdFunction) {
  return !static_cast<void *const *>(StdFunction)[2];
}

/// Tells torch/ that the optimizer has done its step, unless it failed.
class StepOf {
public:
  StepOf(void *Optimizer, uint32_t Site)
      : Optimizer(Optimizer), Site(Site), Exceptions(uncaughtExceptions()) {
    Busy Own;
    Torch->stepBegins(Optimizer);
  }
  ~StepOf() {
    if (uncaughtExceptions() > Exceptions)
      return;
    Busy Own;
    Torch->stepEnds(Optimizer, Site);
  }

private:
  void *Optimizer;
  uint32_t Site;
  int Exceptions;
};

Returned step(Step *Next, const char *Name, void *Optimizer, void *Closure) {
  const uint32_t Site = siteHere(trace::SiteKind::Step, keepText(Name));
  bump(Trace->Steps);
  hit(Site);
  const TimedStep Timed(Site);
  if (isEmpty(Closure)) {
    Within Steps(Site);
    StepOf Telling(Optimizer, Site);
    // None of it is the user's code.
    Whole AllOfIt;
    return Next(Optimizer, Closure);
  }
  // The closure is the user's code, and its operations are their own sites.
  StepOf Telling(Optimizer, Site);
  return Next(Optimizer, Closure);
}

std::atomic<void *> NextApply;

} // namespace

void unclearedStep(uint32_t Site) {
  bump(Trace->UnclearedSteps);
  if (Site)
    bump(siteAt(Site).UnclearedSteps);
}

uint32_t leafTrained(const void *Memory) {
  const uint32_t Site = siteOfBlock(Memory);
  if (Site)
    bump(siteAt(Site).LeavesTrained);
  return Site;
}

void leafStepped(uint32_t MadeAt) {
  if (MadeAt)
    bump(siteAt(MadeAt).LeavesStepped);
}

void gradientEnds(uint32_t Site, GradientEnd How) {
  if (!Site)
    return;
  trace::Site &At = siteAt(Site);
  bump(How == GradientEnd::Applied   ? At.GradientsApplied
       : How == GradientEnd::Dropped ? At.GradientsDropped
                                     : At.GradientsRead);
}

void optimizerMadeAgain(uint32_t Site) {
  if (Site)
    bump(siteAt(Site).MadeAgain);
}

#define APPLY                                                                  \
  "_ZN5torch8autograd14AccumulateGrad5applyEOSt6vectorIN2at6TensorESaIS4_EE"

TORCH_CONFIRM_HOOK Returned hookApply(void *Node, void *Gradients) asm(APPLY);
Returned hookApply(void *Node, void *Gradients) {
  auto *Next = next<Apply>(NextApply, APPLY);
  if (!isRecording() || !Torch)
    return Next(Node, Gradients);
  {
    Busy Own;
    Torch->accumulateBegins(Node);
  }
  struct Telling {
    void *Node;
    ~Telling() {
      Busy Own;
      Torch->accumulateEnds(Node);
    }
  } Tell{Node};
  return Next(Node, Gradients);
}

#define STEP(Class, Length)                                                    \
  "_ZN5torch5optim" #Length #Class "4stepESt8functionIFN2at6TensorEvEE"

// Steps are virtual; the entries of the tables of virtual functions are bound
// by name, so they reach these, too.
#define HOOK_STEP(Class, Length)                                               \
  static std::atomic<void *> Next##Class;                                      \
  TORCH_CONFIRM_HOOK Returned hook##Class(void *,                              \
                                          void *) asm(STEP(Class, Length));    \
  Returned hook##Class(void *Optimizer, void *Closure) {                       \
    auto *Next = next<Step>(Next##Class, STEP(Class, Length));                 \
    if (!isRecording() || !Torch)                                              \
      return Next(Optimizer, Closure);                                         \
    return step(Next, "step:" #Class, Optimizer, Closure);                     \
  }

HOOK_STEP(SGD, 3)
HOOK_STEP(Adam, 4)
HOOK_STEP(AdamW, 5)
HOOK_STEP(Adagrad, 7)
HOOK_STEP(RMSprop, 7)
HOOK_STEP(LBFGS, 5)

// Called by the constructor of each optimizer, LibTorch's or the user's.
#define ADD_GROUP                                                              \
  "_ZN5torch5optim9Optimizer15add_param_groupERKNS0_19OptimizerParamGroupE"

TORCH_CONFIRM_HOOK void hookAddGroup(void *Optimizer,
                                     const void *Group) asm(ADD_GROUP);
void hookAddGroup(void *Optimizer, const void *Group) {
  using AddGroup = void(void *, const void *);
  static std::atomic<void *> NextAddGroup;
  next<AddGroup>(NextAddGroup, ADD_GROUP)(Optimizer, Group);
  if (!isRecording() || !Torch)
    return;
  const uint32_t Site =
      siteHere(trace::SiteKind::Optimizer, keepText("optimizer"));
  hit(Site);
  Busy Own;
  Torch->groupAdded(Optimizer, Site);
}

Binding gradientsBinding() {
  const Binding ByApply = bindingOf("libtorch_cpu.so", APPLY);
  return ByApply == Binding::Hooked ? bindingOf("libtorch_cpu.so", STEP(SGD, 3))
                                    : ByApply;
}

// Steps by hand write to the parameter itself. Only operations that the user
// calls count, and those that a step is made of.
static void written(const void *Tensor, bool IsOutermost) {
  if (!IsOutermost || !Torch || !isRecording())
    return;
  Busy Own;
  Torch->parameterWritten(Tensor, Self.LastSite);
  isWrittenThrough(Tensor, Torch->memoryOfTensor(Tensor));
}

/// What is no step, but writes to a tensor through a handle.
static void handled(const void *Tensor, bool IsOutermost) {
  if (!IsOutermost || !Torch || !isRecording())
    return;
  Busy Own;
  isWrittenThrough(Tensor, Torch->memoryOfTensor(Tensor));
}

#define WRITE(Name, Length, Arguments)                                         \
  "_ZN2at4_ops" #Length #Name "4callERNS_6TensorE" Arguments

using Ternary = void *(void *, const void *, const void *);
using Quaternary = void *(void *, const void *, const void *, const void *);

// set_data() is no operation, but asks one first whether it may.
#define MAY_SET_DATA                                                           \
  "_ZN2at4_ops33_has_compatible_shallow_copy_type4callERKNS_6TensorES4_"

TORCH_CONFIRM_HOOK bool hookMaySetData(const void *,
                                       const void *) asm(MAY_SET_DATA);
bool hookMaySetData(const void *To, const void *Data) {
  using MaySetData = bool(const void *, const void *);
  static std::atomic<void *> NextMaySetData;
  const bool IsOutermost = !Self.Depth && !Self.Busy;
  const bool Result = next<MaySetData>(NextMaySetData, MAY_SET_DATA)(To, Data);
  if (Result)
    written(To, IsOutermost);
  return Result;
}

#define HOOK_TERNARY(Tells, Name, Length, Arguments)                           \
  static std::atomic<void *> Next##Name;                                       \
  TORCH_CONFIRM_HOOK void *hook##Name(void *, const void *, const void *) asm( \
      WRITE(Name, Length, Arguments));                                         \
  void *hook##Name(void *To, const void *A, const void *B) {                   \
    auto *Next = next<Ternary>(Next##Name, WRITE(Name, Length, Arguments));    \
    const bool IsOutermost = !Self.Depth && !Self.Busy;                        \
    void *Result = Next(To, A, B);                                             \
    Tells(To, IsOutermost);                                                    \
    return Result;                                                             \
  }
#define HOOK_QUATERNARY(Name, Length, Arguments)                               \
  static std::atomic<void *> Next##Name;                                       \
  TORCH_CONFIRM_HOOK void *hook##Name(                                         \
      void *, const void *, const void *,                                      \
      const void *) asm(WRITE(Name, Length, Arguments));                       \
  void *hook##Name(void *To, const void *A, const void *B, const void *C) {    \
    auto *Next = next<Quaternary>(Next##Name, WRITE(Name, Length, Arguments)); \
    const bool IsOutermost = !Self.Depth && !Self.Busy;                        \
    void *Result = Next(To, A, B, C);                                          \
    written(To, IsOutermost);                                                  \
    return Result;                                                             \
  }

HOOK_TERNARY(handled, add__Scalar, 11, "RKN3c106ScalarES7_")
HOOK_TERNARY(handled, mul__Tensor, 11, "RKS2_")
HOOK_TERNARY(handled, mul__Scalar, 11, "RKN3c106ScalarE")
HOOK_TERNARY(handled, fill__Scalar, 12, "RKN3c106ScalarE")
HOOK_TERNARY(handled, zero_, 5, "")

HOOK_TERNARY(written, add__Tensor, 11, "RKS2_RKN3c106ScalarE")
HOOK_TERNARY(written, sub__Tensor, 11, "RKS2_RKN3c106ScalarE")
HOOK_QUATERNARY(addcmul_, 8, "RKS2_S5_RKN3c106ScalarE")
HOOK_QUATERNARY(addcdiv_, 8, "RKS2_S5_RKN3c106ScalarE")

} // namespace torchtidy::confirm::probe
