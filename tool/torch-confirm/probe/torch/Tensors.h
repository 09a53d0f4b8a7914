// The entries of TorchSide; see Bridge.h.
#ifndef TORCHTIDY_CONFIRM_PROBE_TENSORS_H
#define TORCHTIDY_CONFIRM_PROBE_TENSORS_H

#include "../Bridge.h"

#include <ATen/core/ivalue.h>

#include <cstring>
#include <functional>
#include <string>

namespace torch::nn {
class Module;
}
namespace torch::optim {
class Optimizer;
}

namespace torchtidy::confirm::probe {

/// The name of an operation behind "aten::"; empty for those of others.
inline const char *nameInAten(const char *Operation) {
  constexpr char Prefix[] = "aten::";
  constexpr size_t Length = sizeof(Prefix) - 1;
  return std::strncmp(Operation, Prefix, Length) == 0 ? Operation + Length : "";
}

/// Most names differ in the first letter, and no more is looked at of them:
/// this is asked of each operation, some ten times.
inline bool isSame(const char *Asked, const char *Name) {
  return *Asked == *Name && std::strcmp(Asked, Name) == 0;
}

CopyFacts copyFacts(const void *Self, const void *Source);
bool isIdleToCpu(const void *Self, uint64_t Dtype, uint64_t Layout,
                 uint64_t Device);

/// What the tensors among the arguments of an operation are like, or, where
/// there are none, the sizes that it is given; 0 where there is neither. Types:
/// a bit for each type of elements of the first ones that have dimensions.
uint64_t shapeHash(c10::ArrayRef<const c10::IValue> Arguments, uint32_t &Types);
/// Calls Do with the first tensors among the arguments.
void forTensors(c10::ArrayRef<const c10::IValue> Arguments,
                const std::function<void(const at::Tensor &)> &Do);
/// One argument; without memory where that is no tensor.
Operand operandOf(const c10::ArrayRef<const c10::IValue> &Arguments, size_t I);
void tellWanted(const ProbeSide &Probe, Begun Of,
                c10::ArrayRef<const c10::IValue> Arguments);
void tellAutocast(const ProbeSide &Probe, uint32_t Site, uint32_t Types,
                  c10::ArrayRef<const c10::IValue> Arguments);

void watchWrites(const ProbeSide &Probe);
void writesForked();
/// An operation of that site is about to write to the tensor in place.
void keepWrite(const at::Tensor &Of, uint32_t Site);
void modifiedThrown(const char *Message, const void *Node, uint32_t Site);
bool isHookedAgain(const void *Tensor, uint32_t Site);
std::string shapeText(c10::ArrayRef<const c10::IValue> Arguments);
/// Of a loss or a logarithm: on which scale its first argument is (InputScale).
uint32_t scaleOfInput(const char *NameInAten,
                      c10::ArrayRef<const c10::IValue> Arguments);
/// The memory of the first argument, where that is a tensor of one element in
/// larger memory; else null.
const void *memoryOfElement(c10::ArrayRef<const c10::IValue> Arguments);
/// The memory of the first tensors among the arguments.
void forMemory(c10::ArrayRef<const c10::IValue> Arguments,
               const std::function<void(const void *)> &Do);

/// The storages of the first tensors among the arguments.
void forStorages(c10::ArrayRef<const c10::IValue> Arguments,
                 void (*Do)(const void *Storage));

/// A tensor's place, sizes, type, version and some of its elements.
uint64_t contentsOf(const at::Tensor &Of);

bool wrapped(const void *Tensor, uint32_t Slot, WrappedFacts *Facts);
bool isWrapAlive(uint32_t Slot, uintptr_t Begin);
const void *storageOf(const void *Tensor);
const void *memoryOfTensor(const void *Tensor);

/// The step that has changed a parameter last; 0 for none.
uint32_t steppedAt(const at::Tensor &Of);
void tellCast(uint32_t Step, bool IsStale);
void castGiven(const void *Of, const void *Copy);

/// Whether to look the so manieth time: often at first, and then ever more
/// seldom.
inline bool isDue(uint32_t Times) {
  return Times <= 8 || (Times & (Times - 1)) == 0;
}

/// Tells what its parameters and buffers are, where somebody wants to know.
void tellNetwork(const torch::nn::Module &Root, const ProbeSide &Probe);
void watchMembers(const ProbeSide &Probe);
void moduleAsked(const void *Module);
void moduleCalled(const void *Module);
void parametersGiven(const void *Tensors);
void membersForked();

bool isSameAsBefore(uint64_t Key, const void *Tensor);

const void *nodeOfEdge(const void *Edge, uint64_t *Thread, uint64_t *Sequence);
uint32_t sweep(const AliveNode *Nodes, uint32_t Count,
               uint64_t (*KeyOf)(uint64_t, uint64_t), SweptSite *Into,
               uint32_t Room, uint64_t *Visits);

void watchGradients(const ProbeSide &Probe);
void nodeReaches(const void *Node, uint32_t Site, bool TellsNodes);
void gradientRead(const void *Impl);
void accumulateBegins(void *AccumulateGrad);
void accumulateEnds(void *AccumulateGrad);
void stepBegins(void *Optimizer);
void stepEnds(void *Optimizer, uint32_t Site);
/// What one of LibTorch's optimizers keeps for a parameter of its own.
int64_t bytesKeptFor(const at::Tensor &Parameter,
                     torch::optim::Optimizer &Optimizer);
/// Bytes that an optimizer was seen to keep for a parameter.
int64_t stateBytesOf(const at::Tensor &Of);
void groupAdded(void *Optimizer, uint32_t Site);
bool parameterWritten(const void *Tensor, uint32_t Site);
void gradientsForked();
void sameForked();

void messageOf(void *Exception, const void *TypeInfo, char *Into,
               uint32_t Room);

} // namespace torchtidy::confirm::probe

#endif
