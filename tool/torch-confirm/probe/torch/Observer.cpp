// The half of the probe that is compiled against the user's LibTorch: what it
// observes by LibTorch's own means, and what it can tell of tensors and nodes.

// at::RecordFunction has one more member without NDEBUG, and LibTorch's
// libraries are built with it.
#ifndef NDEBUG
#error "compile with -DNDEBUG, as LibTorch is"
#endif

#ifndef TORCH_CONFIRM_LIBRARY_SIZE
#define TORCH_CONFIRM_LIBRARY_SIZE 0
#endif

#include "Tensors.h"

#include <ATen/Context.h>
#include <ATen/record_function.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/version.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <string>

namespace torchtidy::confirm::probe {
namespace {

const ProbeSide *Listener;

/// Whether an operation with two modes is to run as in training
/// (S: native_functions.yaml); nothing for one that has none. Name: in aten.
std::optional<bool> modeOf(const char *Name,
                           c10::ArrayRef<const c10::IValue> Inputs) {
  constexpr struct {
    const char *Name;
    size_t Argument;
  } All[] = {{"dropout", 2},
             {"batch_norm", 5},
             {"feature_dropout", 2},
             {"alpha_dropout", 2},
             {"feature_alpha_dropout", 2}};
  for (const auto &Each : All)
    if (isSame(Name, Each.Name) && Inputs.size() > Each.Argument &&
        Inputs[Each.Argument].isBool())
      return Inputs[Each.Argument].toBool();
  return std::nullopt;
}

/// Lives as long as the operation, whichever way that is left. Kernels ask for
/// the mode after this: it is not among what chooses them.
struct WithoutGrad : at::ObserverContext {
  c10::AutoGradMode Mode{false};
};

std::unique_ptr<at::ObserverContext>
begins(const at::RecordFunction &Function) {
  const Begun Own = Listener->operationBegins(Function.name());
  const uint32_t Site = Own.Site;
  if (Listener->isWatchingStorages())
    forStorages(Function.inputs(), Listener->usesStorage);
  if (!Site)
    return nullptr;
  uint32_t Types = 0;
  if (const uint64_t Hash = shapeHash(Function.inputs(), Types))
    if (!Listener->countShape(Site, Hash))
      Listener->keepShape(Site, Hash, shapeText(Function.inputs()).c_str());
  const char *Name = nameInAten(Function.name());
  if (const auto IsTraining = modeOf(Name, Function.inputs()))
    Listener->runsInMode(Site, *IsTraining);
  if (const uint32_t Scale = scaleOfInput(Name, Function.inputs()))
    Listener->takesScale(Site, Scale);
  if (const void *Memory = memoryOfElement(Function.inputs()))
    Listener->isOfOneElement(Site, Memory);
  if (!c10::GradMode::is_enabled())
    Listener->runsUnrecorded(Site);
  tellAutocast(*Listener, Site, Types, Function.inputs());
  if (Own.Wants)
    tellWanted(*Listener, Own, Function.inputs());
  if (Listener->operandsAre(operandOf(Function.inputs(), 0),
                            operandOf(Function.inputs(), 1)))
    forMemory(Function.inputs(),
              [&](const void *Memory) { Listener->wasGiven(Site, Memory); });
  if (Listener->runsWithoutGrad(Site))
    return std::make_unique<WithoutGrad>();
  return nullptr;
}

void ends(const at::RecordFunction &Function, at::ObserverContext *) {
  Listener->operationEnds(Function.name());
}

// LibTorch 2.2 and later write to memory that nobody has initialized when their
// algorithms are to be deterministic, which would be counted.
template <typename Context>
auto keepUninitialized(Context &Of, int)
    -> decltype(Of.setDeterministicFillUninitializedMemory(false)) {
  Of.setDeterministicFillUninitializedMemory(false);
}
template <typename Context> void keepUninitialized(Context &, long) {}

/// Where there is no such algorithm, LibTorch warns.
void beDeterministic() {
  const char *Wish = std::getenv("TORCH_CONFIRM_DETERMINISTIC");
  if (!Wish || !*Wish || std::strcmp(Wish, "0") == 0)
    return;
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
  keepUninitialized(at::globalContext(), 0);
}

const char *observe(const ProbeSide *Side) {
  Listener = Side;
  beDeterministic();
  watchGradients(*Side);
  watchMembers(*Side);
  watchWrites(*Side);
  try {
    at::addGlobalCallback(at::RecordFunctionCallback(begins, ends)
                              .needsInputs(true)
                              .scopes({at::RecordScope::FUNCTION}));
  } catch (const std::exception &Error) {
    static const std::string Wrong =
        std::string("LibTorch's observer does not start: ") + Error.what();
    return Wrong.c_str();
  }
  return nullptr;
}

void makeNoCallbacks(void *Into) {
  new (Into) decltype(at::getStepCallbacksUnlessEmpty(
      at::RecordScope::FUNCTION))();
}

void makeEmptyCallbacks(void *Into) { new (Into) at::StepCallbacks(); }

void nodeKey(const void *Node, uint64_t *Thread, uint64_t *Sequence) {
  const auto &Of = *static_cast<const torch::autograd::Node *>(Node);
  *Thread = Of.thread_id();
  *Sequence = Of.sequence_nr();
}

// Hooks on tensors have a list of their own since 2.0.
template <typename Node>
auto hasTensorHooks(Node &Of, int) -> decltype(Of.tensor_pre_hooks().empty()) {
  return !Of.tensor_pre_hooks().empty() || !Of.retains_grad_hooks().empty();
}
template <typename Node> bool hasTensorHooks(Node &, long) { return false; }

bool nodeHasHooks(const void *Node) {
  auto &Of = *const_cast<torch::autograd::Node *>(
      static_cast<const torch::autograd::Node *>(Node));
  return !Of.pre_hooks().empty() || !Of.post_hooks().empty() ||
         hasTensorHooks(Of, 0);
}

void forked() {
  gradientsForked();
  sameForked();
  membersForked();
  writesForked();
}

const TorchSide Side = {TORCH_VERSION,
                        TORCH_CONFIRM_LIBRARY_SIZE,
                        observe,
                        nodeKey,
                        nodeOfEdge,
                        sweep,
                        nodeReaches,
                        nodeHasHooks,
                        copyFacts,
                        isIdleToCpu,
                        isSameAsBefore,
                        accumulateBegins,
                        accumulateEnds,
                        stepBegins,
                        stepEnds,
                        makeNoCallbacks,
                        makeEmptyCallbacks,
                        groupAdded,
                        parameterWritten,
                        wrapped,
                        isWrapAlive,
                        storageOf,
                        memoryOfTensor,
                        castGiven,
                        moduleAsked,
                        moduleCalled,
                        parametersGiven,
                        messageOf,
                        modifiedThrown,
                        gradientRead,
                        isHookedAgain,
                        forked};

} // namespace
} // namespace torchtidy::confirm::probe

extern "C" __attribute__((visibility("default")))
const torchtidy::confirm::probe::TorchSide *
torch_confirm_torch_side(uint32_t Version) {
  using namespace torchtidy::confirm::probe;
  return Version == BridgeVersion ? &Side : nullptr;
}
