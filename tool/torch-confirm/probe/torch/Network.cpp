// What the tensors of a network are: names, types, devices.

#include "Tensors.h"

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

namespace torchtidy::confirm::probe {
namespace {

std::string sizesOf(const at::Tensor &Of) {
  std::string Result = "[";
  for (int64_t I = 0; I < Of.dim(); ++I)
    Result += (I ? "," : "") + std::to_string(Of.size(I));
  return Result + "]";
}

void tellTensor(const std::string &Name, const at::Tensor &Of, uint32_t Flags,
                const ProbeSide &Probe) {
  if (!Of.defined() || Of.layout() != at::kStrided || !Of.has_storage() ||
      Of.unsafeGetTensorImpl()->has_symbolic_sizes_strides())
    return;
  if (Of.requires_grad())
    Flags |= NeedsGradient;
  if (Of.is_leaf() && Of.grad().defined())
    Flags |= HasGradient;
  Probe.networkTensor(Name.c_str(), c10::toString(Of.scalar_type()),
                      Of.device().str().c_str(), sizesOf(Of).c_str(),
                      static_cast<int64_t>(Of.nbytes()), Of.storage().data(),
                      Flags, stateBytesOf(Of));
}

} // namespace

void tellNetwork(const torch::nn::Module &Root, const ProbeSide &Probe) {
  // The one with the most tensors is the network, and what it is a part of, or
  // what is a part of it, is not asked for more.
  static size_t Most;
  if (!Probe.networkBegins())
    return;
  const auto Parameters = Root.named_parameters();
  const auto Buffers = Root.named_buffers();
  if (const size_t All = Parameters.size() + Buffers.size();
      All && All >= Most) {
    Most = All;
    Probe.networkStarts();
    for (const auto &Each : Parameters)
      tellTensor(Each.key(), Each.value(), 0, Probe);
    for (const auto &Each : Buffers)
      tellTensor(Each.key(), Each.value(), IsBuffer, Probe);
  }
  Probe.networkEnds();
}

} // namespace torchtidy::confirm::probe
