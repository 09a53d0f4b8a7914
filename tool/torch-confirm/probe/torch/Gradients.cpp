// Gradients that are applied twice: a step applied them, nothing cleared them,
// a backward added to them, and a later step applied the sum.
//
// What is known of a parameter is which object its gradient is and how often it
// was written to, as its version counter says. zero_grad, a new gradient and
// writes by hand all change one of the two; p.grad().data().zero_() does not,
// so a gradient that seems to be the old one is looked at, too: one of zeros
// was cleared.

#include "Tensors.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/optim/optimizer.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace torchtidy::confirm::probe {
namespace {

const ProbeSide *Probe;

/// Of the nodes that accumulate, the table of their functions; null until one
/// has run.
std::atomic<const void *> AccumulateTable;
/// A weight may be used at many places.
constexpr size_t MostReaching = 16;

/// A gradient as it was at some time.
struct Version {
  const void *Gradient = nullptr;
  uint64_t Number = 0;

  bool operator==(const Version &Other) const {
    return Gradient == Other.Gradient && Number == Other.Number;
  }
};

struct Parameter {
  explicit Parameter(
      const c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl> &Of)
      : Tensor(Of) {}

  /// A weak one: neither its memory nor that of its gradient is kept alive.
  c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl> Tensor;
  const void *Memory = nullptr;
  /// Of the step that applied the gradient last; 0 when something has happened
  /// to the gradient since.
  uint64_t AppliedBy = 0;
  uint32_t AppliedAt = 0;
  Version AtStep;
  /// Of the step that the gradient contains one that was applied by; 0 for
  /// none.
  uint64_t Contains = 0;
  uint32_t ContainsAt = 0;
  Version AtAccumulation;
  /// Where its memory was taken, 0 where that is not known.
  uint32_t MadeAt = 0;
  bool WasStepped = false;
  /// The site of the step that has changed it last; 0 for none.
  uint32_t SteppedAt = 0;
  /// It was written to by hand since an optimizer has stepped it.
  bool IsWrittenSince = false;
  /// Where the nodes were made through which backwards reach it now, and those
  /// of the gradient that it has.
  std::vector<uint32_t> Reaching, ReachedBy;
  /// The optimizer that has stepped it last, by its number, and where that was
  /// made; 0 for none.
  uint64_t Optimizer = 0;
  uint32_t OptimizerMadeAt = 0;
  /// What that keeps for it, as it was last looked at.
  int64_t StateBytes = 0;
  /// Looks at values that wait for the device are not taken for ever.
  uint32_t Looks = 0;
};

/// Never destroyed: backwards may run while the program ends.
struct Parameters {
  std::mutex Mutex;
  std::unordered_map<const void *, Parameter> ByTensor;
  /// From memory to the parameter that has it.
  std::unordered_map<const void *, const void *> ByMemory;
  uint64_t Steps = 0;
  /// Optimizers by their addresses: what they are numbered, from 1, and where
  /// they were made. One that is made takes the place of a dead one.
  struct Maker {
    uint64_t Number = 0;
    uint32_t MadeAt = 0;
    uint32_t Steps = 0;
  };
  std::unordered_map<const void *, Maker> Optimizers;
  uint64_t OptimizersMade = 0;
  /// As many entries may there be before those of dead parameters are dropped.
  size_t Room = 1024;

  void dropDead();
};
Parameters *All;

void Parameters::dropDead() {
  for (auto Each = ByMemory.begin(); Each != ByMemory.end();) {
    auto Owner = ByTensor.find(Each->second);
    Each = Owner == ByTensor.end() || Owner->second.Tensor.expired()
               ? ByMemory.erase(Each)
               : std::next(Each);
  }
  for (auto Each = ByTensor.begin(); Each != ByTensor.end();)
    Each =
        Each->second.Tensor.expired() ? ByTensor.erase(Each) : std::next(Each);
  Room = std::max<size_t>(1024, 2 * ByTensor.size());
}

template <typename Word>
bool hasOnlyZeros(const at::Tensor &Of, Word WithoutSign) {
  const auto *At = static_cast<const char *>(Of.data_ptr());
  const int64_t Count = Of.numel();
  for (int64_t I = 0; I < Count; ++I) {
    Word Value;
    std::memcpy(&Value, At + I * static_cast<int64_t>(sizeof(Word)),
                sizeof(Word));
    if (Value & WithoutSign)
      return false;
  }
  return true;
}

/// Whether all elements are zero; false where that cannot be known cheaply.
bool isZero(const at::Tensor &Gradient, Parameter &Of) {
  if (Gradient.layout() != at::kStrided || Gradient.is_complex())
    return false;
  if (Gradient.device().is_cpu()) {
    // Most gradients differ from zero at their first elements.
    if (!Gradient.is_non_overlapping_and_dense())
      return false;
    switch (Gradient.element_size()) {
    case 2:
      return hasOnlyZeros<uint16_t>(Gradient, 0x7fff);
    case 4:
      return hasOnlyZeros<uint32_t>(Gradient, 0x7fffffff);
    case 8:
      return hasOnlyZeros<uint64_t>(Gradient, 0x7fffffffffffffff);
    default:
      return false;
    }
  }
  if (Of.Looks >= 3)
    return false;
  ++Of.Looks;
  try {
    at::NoGradGuard NoGrad;
    return Gradient.abs().max().item().toDouble() == 0;
  } catch (...) {
    return false;
  }
}

Version versionOf(const at::Tensor &Gradient) {
  if (!Gradient.defined() || Gradient.is_inference())
    return {};
  return {Gradient.unsafeGetTensorImpl(),
          static_cast<uint64_t>(Gradient._version())};
}

Parameter *find(const at::Tensor &Of) {
  auto Found = All->ByTensor.find(Of.unsafeGetTensorImpl());
  return Found == All->ByTensor.end() ? nullptr : &Found->second;
}

const void *memoryOf(const at::Tensor &Of) {
  return Of.has_storage() ? Of.storage().data() : nullptr;
}

/// Before a step applies the gradient. Several parameters belong to one step,
/// which is counted once.
void isApplied(const at::Tensor &Of, Parameter &To,
               std::vector<uint64_t> &Counted) {
  if (!To.Contains)
    return;
  const at::Tensor &Gradient = Of.grad();
  const bool IsSame = Gradient.defined() && Gradient.unsafeGetTensorImpl() ==
                                                To.AtAccumulation.Gradient;
  // Written to since, it may have been clipped or cleared.
  if (IsSame && !isZero(Gradient, To) &&
      std::find(Counted.begin(), Counted.end(), To.Contains) == Counted.end()) {
    Counted.push_back(To.Contains);
    Probe->unclearedStep(To.ContainsAt);
  }
  To.Contains = 0;
}

void wasApplied(const at::Tensor &Of, Parameter &To, uint64_t Step,
                uint32_t Site) {
  for (const uint32_t By : To.ReachedBy)
    Probe->gradientEnds(By, GradientEnd::Applied);
  To.ReachedBy.clear();
  To.SteppedAt = Site;
  if (!To.WasStepped) {
    To.WasStepped = true;
    Probe->leafStepped(To.MadeAt);
  }
  const at::Tensor &Gradient = Of.grad();
  if (!Gradient.defined()) {
    To.AppliedBy = 0;
    return;
  }
  To.AppliedBy = Step;
  To.AppliedAt = Site;
  To.AtStep = versionOf(Gradient);
}

template <typename Action>
void forParametersOf(void *Optimizer, const Action &Do) {
  auto &Of = *static_cast<torch::optim::Optimizer *>(Optimizer);
  for (auto &Group : Of.param_groups())
    for (const at::Tensor &Each : Group.params())
      if (Each.defined())
        if (Parameter *Known = find(Each))
          Do(Each, *Known);
}

/// A node locks itself while it accumulates; so must code that reads the
/// gradient beside it.
struct Opened : torch::autograd::Node {
  static std::mutex &mutexOf(torch::autograd::Node &Of) {
    return Of.*&Opened::mutex_;
  }
};

} // namespace

void watchGradients(const ProbeSide &Side) {
  Probe = &Side;
  All = new Parameters;
}

void gradientsForked() {
  // Another thread of the parent may have been in here.
  if (All)
    All = new Parameters;
}

void nodeReaches(const void *Node, uint32_t Site, bool TellsNodes) {
  const void *Table = AccumulateTable.load(std::memory_order_relaxed);
  if (!Table && !TellsNodes)
    return;
  for (const auto &Edge :
       static_cast<const torch::autograd::Node *>(Node)->next_edges()) {
    // Asking for its type would cost more than all the rest.
    const auto *Next = Edge.function.get();
    if (!Next)
      continue;
    if (*reinterpret_cast<const void *const *>(Next) != Table) {
      if (TellsNodes)
        Probe->flowsInto(Site, Next->thread_id(), Next->sequence_nr());
      continue;
    }
    const at::Tensor &Of =
        static_cast<const torch::autograd::AccumulateGrad *>(Next)->variable;
    if (!Of.defined())
      continue;
    std::lock_guard<std::mutex> Lock(All->Mutex);
    Parameter *Known = find(Of);
    if (Known && Known->Reaching.size() < MostReaching &&
        std::find(Known->Reaching.begin(), Known->Reaching.end(), Site) ==
            Known->Reaching.end())
      Known->Reaching.push_back(Site);
  }
}

void gradientRead(const void *Impl) {
  std::lock_guard<std::mutex> Lock(All->Mutex);
  const auto Found = All->ByTensor.find(Impl);
  if (Found == All->ByTensor.end())
    return;
  for (const uint32_t By : Found->second.ReachedBy)
    Probe->gradientEnds(By, GradientEnd::Read);
}

void accumulateBegins(void *Node) {
  AccumulateTable.store(*static_cast<const void *const *>(Node),
                        std::memory_order_relaxed);
  auto &Accumulate = *static_cast<torch::autograd::AccumulateGrad *>(Node);
  const at::Tensor &Of = Accumulate.variable;
  if (!Of.defined())
    return;
  std::lock_guard<std::mutex> Own(Opened::mutexOf(Accumulate));
  std::lock_guard<std::mutex> Lock(All->Mutex);
  Parameter *Known = find(Of);
  if (!Known)
    return;
  const at::Tensor &Gradient = Of.grad();
  const Version Now = versionOf(Gradient);
  // What is there is added to, unless it was cleared.
  if (!Gradient.defined() || isZero(Gradient, *Known)) {
    for (const uint32_t By : Known->ReachedBy)
      Probe->gradientEnds(By, GradientEnd::Dropped);
    Known->ReachedBy.clear();
  }
  for (const uint32_t By : Known->Reaching)
    if (std::find(Known->ReachedBy.begin(), Known->ReachedBy.end(), By) ==
        Known->ReachedBy.end())
      Known->ReachedBy.push_back(By);
  Known->Reaching.clear();
  const bool WasApplied = Known->AppliedBy && Gradient.defined() &&
                          Now == Known->AtStep && !isZero(Gradient, *Known);
  if (WasApplied) {
    Known->Contains = Known->AppliedBy;
    Known->ContainsAt = Known->AppliedAt;
  } else if (!(Known->Contains && Gradient.defined() &&
               Now == Known->AtAccumulation)) {
    Known->Contains = 0;
  }
  Known->AppliedBy = 0;
}

void accumulateEnds(void *Node) {
  auto &Accumulate = *static_cast<torch::autograd::AccumulateGrad *>(Node);
  const at::Tensor &Of = Accumulate.variable;
  if (!Of.defined())
    return;
  std::lock_guard<std::mutex> Own(Opened::mutexOf(Accumulate));
  std::lock_guard<std::mutex> Lock(All->Mutex);
  // New leaves may be made for ever.
  if (All->ByTensor.size() >= All->Room)
    All->dropDead();
  auto [Entry, IsNew] =
      All->ByTensor.try_emplace(Of.unsafeGetTensorImpl(), Of.getIntrusivePtr());
  Entry->second.AtAccumulation = versionOf(Of.grad());
  const void *Memory = memoryOf(Of);
  if (IsNew)
    Entry->second.MadeAt = Probe->leafTrained(Memory);
  if (Memory && (IsNew || Memory != Entry->second.Memory)) {
    Entry->second.Memory = Memory;
    All->ByMemory[Memory] = Of.unsafeGetTensorImpl();
  }
}

void stepBegins(void *Optimizer) {
  std::lock_guard<std::mutex> Lock(All->Mutex);
  ++All->Steps;
  std::vector<uint64_t> Counted;
  forParametersOf(Optimizer, [&](const at::Tensor &Of, Parameter &Known) {
    isApplied(Of, Known, Counted);
  });
}

void stepEnds(void *Optimizer, uint32_t Site) {
  std::lock_guard<std::mutex> Lock(All->Mutex);
  const uint64_t Step = All->Steps;
  const auto By = All->Optimizers.find(Optimizer);
  // What it keeps is made by the first step, and rarely changes afterwards.
  const bool IsLooking =
      By != All->Optimizers.end() && isDue(++By->second.Steps);
  forParametersOf(Optimizer, [&](const at::Tensor &Of, Parameter &Known) {
    if (IsLooking) {
      Known.StateBytes =
          bytesKeptFor(Of, *static_cast<torch::optim::Optimizer *>(Optimizer));
      if (Of.has_storage())
        Probe->networkStepped(Of.storage().data(), Of.grad().defined(),
                              Known.StateBytes);
    }
    wasApplied(Of, Known, Step, Site);
    if (By != All->Optimizers.end()) {
      Known.IsWrittenSince = false;
      Known.Optimizer = By->second.Number;
      Known.OptimizerMadeAt = By->second.MadeAt;
    }
  });
}

void groupAdded(void *Optimizer, uint32_t Site) {
  std::lock_guard<std::mutex> Lock(All->Mutex);
  auto &Of = *static_cast<torch::optim::Optimizer *>(Optimizer);
  // Its later groups belong to it.
  if (Of.param_groups().size() != 1)
    return;
  bool IsAgain = false;
  forParametersOf(Optimizer, [&](const at::Tensor &, Parameter &Known) {
    // What was given other values begins anew, and so may its optimizer.
    IsAgain |= Known.Optimizer && Known.OptimizerMadeAt == Site &&
               !Known.IsWrittenSince;
  });
  if (IsAgain)
    Probe->optimizerMadeAgain(Site);
  All->Optimizers[Optimizer] = {++All->OptimizersMade, Site, 0};
}

int64_t stateBytesOf(const at::Tensor &Of) {
  std::lock_guard<std::mutex> Lock(All->Mutex);
  const Parameter *Known = find(Of);
  return Known ? Known->StateBytes : 0;
}

uint32_t steppedAt(const at::Tensor &Of) {
  std::lock_guard<std::mutex> Lock(All->Mutex);
  const Parameter *Known = find(Of);
  return Known ? Known->SteppedAt : 0;
}

void tellCast(uint32_t Step, bool IsStale) { Probe->castTaken(Step, IsStale); }

bool parameterWritten(const void *Tensor, uint32_t Site) {
  const at::Tensor &Written = *static_cast<const at::Tensor *>(Tensor);
  if (!Written.defined() || !Written.has_storage())
    return false;
  std::lock_guard<std::mutex> Lock(All->Mutex);
  if (All->ByMemory.empty())
    return false;
  auto Found = All->ByTensor.find(Written.unsafeGetTensorImpl());
  if (Found == All->ByTensor.end()) {
    const auto Owner = All->ByMemory.find(memoryOf(Written));
    if (Owner == All->ByMemory.end())
      return false;
    Found = All->ByTensor.find(Owner->second);
    if (Found == All->ByTensor.end())
      return false;
  }
  Parameter &Known = Found->second;
  // What was written to may be its data().
  const at::Tensor Of(Known.Tensor.lock());
  if (!Of.defined() || (memoryOf(Of) != Known.Memory && !Of.is_same(Written)))
    return false;
  std::vector<uint64_t> Counted;
  isApplied(Of, Known, Counted);
  wasApplied(Of, Known, ++All->Steps, Site);
  Known.IsWrittenSince = true;
  return true;
}

} // namespace torchtidy::confirm::probe
