// On which scale the numbers are that a loss, or a logarithm, is given.

#include "Tensors.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cmath>

namespace torchtidy::confirm::probe {
namespace {

/// A few rows say it; more would take time.
constexpr int64_t MostRows = 8, MostClasses = 4096;
/// Of the sum of a row of shares: softmax() of a thousand floats is within it.
constexpr double SumTolerance = 1e-3;

bool isAsked(const char *Name) {
  constexpr const char *All[] = {"cross_entropy_loss",
                                 "nll_loss_nd",
                                 "nll_loss",
                                 "nll_loss2d",
                                 "kl_div",
                                 "binary_cross_entropy",
                                 "binary_cross_entropy_with_logits",
                                 "log"};
  return std::any_of(std::begin(All), std::end(All),
                     [&](const char *Each) { return isSame(Name, Each); });
}

/// The numbers of some rows, seen so far.
class RowsSeen {
public:
  template <typename T>
  void row(const T *First, int64_t Count, int64_t Stride) {
    double Sum = 0, SumOfExponentials = 0;
    for (int64_t I = 0; I < Count; ++I) {
      const auto Number = static_cast<double>(First[I * Stride]);
      Least = std::min(Least, Number);
      Most = std::max(Most, Number);
      Sum += Number;
      SumOfExponentials += std::exp(Number);
      IsNumber &= !std::isnan(Number);
    }
    AreShares &= Count > 1 && std::abs(Sum - 1) < SumTolerance;
    AreLogarithms &=
        Count > 1 && std::abs(SumOfExponentials - 1) < SumTolerance;
    AreParts &= Count > 1 && SumOfExponentials < 1 + SumTolerance;
  }

  uint32_t scale() const {
    if (!IsNumber || Least > Most)
      return UnknownScale;
    if (Least >= 0 && Most <= 1)
      return AreShares ? Shares : Fractions;
    if (AreLogarithms)
      return Logarithms;
    return AreParts && Most <= 0 ? Parts : AnyNumbers;
  }

private:
  double Least = HUGE_VAL, Most = -HUGE_VAL;
  bool IsNumber = true, AreShares = true, AreLogarithms = true, AreParts = true;
};

/// Of more than two dimensions the first row of each sample is read.
template <typename T>
uint32_t scaleOfRows(const at::Tensor &Of, int64_t Classes) {
  // data_ptr() would give a lazy copy memory of its own.
  const T *First =
      static_cast<const T *>(Of.storage().data()) + Of.storage_offset();
  const int64_t Rows = Classes > 0 ? Of.size(0) : 1;
  RowsSeen Numbers;
  for (int64_t I = 0; I < std::min(Rows, MostRows); ++I)
    Numbers.row(First + (Classes > 0 ? I * Of.stride(0) : 0), Of.size(Classes),
                Of.stride(Classes));
  return Numbers.scale();
}

/// Losses have the classes in the second dimension, or in the only one;
/// softmax() has them last.
int64_t dimensionOfClasses(const char *Name, const at::Tensor &Of) {
  const int64_t Last = Of.dim() - 1;
  return isSame(Name, "log") ? Last : std::min<int64_t>(1, Last);
}

} // namespace

uint32_t scaleOfInput(const char *Name,
                      c10::ArrayRef<const c10::IValue> Inputs) {
  if (!isAsked(Name) || Inputs.empty() || !Inputs[0].isTensor())
    return UnknownScale;
  const at::Tensor &Of = Inputs[0].toTensor();
  if (!Of.defined() || !Of.device().is_cpu() || Of.layout() != at::kStrided ||
      Of.dim() == 0 || Of.numel() == 0 || !Of.has_storage())
    return UnknownScale;
  const int64_t Classes = dimensionOfClasses(Name, Of);
  if (Of.size(Classes) > MostClasses)
    return UnknownScale;
  if (Of.scalar_type() == at::kFloat)
    return scaleOfRows<float>(Of, Classes);
  if (Of.scalar_type() == at::kDouble)
    return scaleOfRows<double>(Of, Classes);
  return UnknownScale;
}

} // namespace torchtidy::confirm::probe
