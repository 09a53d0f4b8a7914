// What is told of an operation by what it is, beside the shapes that it has;
// see ToTell in Bridge.h.

#include "Tensors.h"

#include <ATen/core/Tensor.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace torchtidy::confirm::probe {
namespace {

using Arguments = c10::ArrayRef<const c10::IValue>;

/// Of what a place copies, beside what it copies to another type or device.
constexpr uint64_t OfLayout = 2ull << 32;

const at::Tensor *firstOf(const Arguments &All) {
  if (All.empty() || !All[0].isTensor() || !All[0].toTensor().defined() ||
      !All[0].toTensor().has_storage())
    return nullptr;
  return &All[0].toTensor();
}

bool hasPlainSizes(const at::Tensor &Of) {
  return Of.layout() == at::kStrided && !Of.is_nested() &&
         !Of.unsafeGetTensorImpl()->has_symbolic_sizes_strides();
}

/// contiguous() of what lies so already copies nothing.
bool isCopiedForOrder(const at::Tensor &Of, const Arguments &All) {
  if (All.size() > 1 && All[1].isInt())
    return !Of.is_contiguous(All[1].toMemoryFormat());
  return !Of.is_contiguous();
}

/// Whether the sizes of a tensor that is repeated so often each are not one.
bool repeatsMoreThanOne(const at::Tensor &Of, const Arguments &All) {
  if (All.size() < 2)
    return false;
  if (All[1].isInt()) {
    // repeat_interleave()
    const bool HasDimension = All.size() > 2 && All[2].isInt() && Of.dim() > 0;
    const int64_t At = HasDimension ? All[2].toInt() : 0;
    return All[1].toInt() > 1 && (HasDimension ? Of.size(At) : Of.numel()) != 1;
  }
  if (!All[1].isIntList())
    return false;
  const auto Times = All[1].toIntList();
  const auto Count = static_cast<int64_t>(Times.size());
  // What has more dimensions begins with ones.
  for (int64_t I = 0; I < std::min(Count, Of.dim()); ++I)
    if (Times.get(static_cast<size_t>(Count - 1 - I)) > 1 &&
        Of.size(Of.dim() - 1 - I) != 1)
      return true;
  return false;
}

} // namespace

void tellWanted(const ProbeSide &Probe, Begun Of, Arguments All) {
  const at::Tensor *First = firstOf(All);
  if (!First || !hasPlainSizes(*First))
    return;
  const void *Memory = First->storage().data();
  if (Of.Wants & WantsWritten) {
    const auto Bytes = static_cast<size_t>(First->numel()) *
                       static_cast<size_t>(First->element_size());
    Probe.writes(Of.Site, Memory, Bytes < First->storage().nbytes());
    keepWrite(*First, Of.Site);
  }
  if (Of.Wants & WantsViewed)
    Probe.views(Memory);
  if (Of.Wants & WantsSame && isCopiedForOrder(*First, All) &&
      isSameAsBefore(OfLayout | Of.Site, First))
    Probe.copiesAgain(Of.Site);
  if (Of.Wants & WantsStretched && repeatsMoreThanOne(*First, All))
    Probe.stretchesNot(Of.Site);
}

void tellAutocast(const ProbeSide &Probe, uint32_t Site, uint32_t Types,
                  Arguments All) {
  // Outside of it both are shut out.
  const bool IsUnder =
      !c10::impl::tls_local_dispatch_key_set().excluded_.has_all(
          c10::DispatchKeySet(
              {c10::DispatchKey::AutocastCPU, c10::DispatchKey::AutocastCUDA}));
  if (IsUnder) {
    Probe.runsUnderAutocast(Site);
    return;
  }
  const auto Has = [&](at::ScalarType Type) {
    return (Types >> static_cast<uint32_t>(Type) & 1) != 0;
  };
  if (!Has(at::kHalf) && !Has(at::kBFloat16))
    return;
  if (!Has(at::kFloat) && !Has(at::kDouble))
    return;
  forTensors(All, [&](const at::Tensor &Each) {
    if (Each.has_storage() && (Each.scalar_type() == at::kHalf ||
                               Each.scalar_type() == at::kBFloat16))
      Probe.givenHalf(Site, Each.storage().data());
  });
}

Operand operandOf(const Arguments &All, size_t I) {
  if (All.size() <= I || !All[I].isTensor())
    return {nullptr, false};
  const at::Tensor &Of = All[I].toTensor();
  if (!Of.defined() || !Of.has_storage() || !hasPlainSizes(Of))
    return {nullptr, false};
  const auto &Storage = Of.storage();
  return {Storage.data(), static_cast<size_t>(Of.numel()) *
                                  static_cast<size_t>(Of.element_size()) ==
                              Storage.nbytes()};
}

} // namespace torchtidy::confirm::probe
