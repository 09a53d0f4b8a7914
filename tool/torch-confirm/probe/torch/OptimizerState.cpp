// What LibTorch's optimizers keep for a parameter: momenta, averages, sums.

#include "Tensors.h"

#include <ATen/core/Tensor.h>
#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/optimizer.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

#include <initializer_list>
#include <type_traits>

namespace torchtidy::confirm::probe {
namespace {

int64_t bytesOf(std::initializer_list<const at::Tensor *> All) {
  int64_t Sum = 0;
  for (const at::Tensor *Each : All)
    if (Each->defined() && Each->has_storage())
      Sum += static_cast<int64_t>(Each->nbytes());
  return Sum;
}

/// The key was a text in LibTorch 1.13 and 2.0.
template <class Key> Key keyOf(void *Tensor) {
  if constexpr (std::is_same_v<Key, void *>)
    return Tensor;
  else
    return std::to_string(reinterpret_cast<uintptr_t>(Tensor));
}

template <class State> auto stateOf(State &All, void *Tensor) {
  const auto It = All.find(keyOf<typename State::key_type>(Tensor));
  return It == All.end() ? nullptr : It->second.get();
}

} // namespace

int64_t bytesKeptFor(const at::Tensor &Parameter,
                     torch::optim::Optimizer &Optimizer) {
  using namespace torch::optim;
  OptimizerParamState *Kept =
      stateOf(Optimizer.state(), Parameter.unsafeGetTensorImpl());
  if (!Kept)
    return 0;
  if (auto *Of = dynamic_cast<AdamParamState *>(Kept))
    return bytesOf({&Of->exp_avg(), &Of->exp_avg_sq(), &Of->max_exp_avg_sq()});
  if (auto *Of = dynamic_cast<AdamWParamState *>(Kept))
    return bytesOf({&Of->exp_avg(), &Of->exp_avg_sq(), &Of->max_exp_avg_sq()});
  if (auto *Of = dynamic_cast<SGDParamState *>(Kept))
    return bytesOf({&Of->momentum_buffer()});
  if (auto *Of = dynamic_cast<RMSpropParamState *>(Kept))
    return bytesOf(
        {&Of->square_avg(), &Of->momentum_buffer(), &Of->grad_avg()});
  if (auto *Of = dynamic_cast<AdagradParamState *>(Kept))
    return bytesOf({&Of->sum()});
  // What LBFGS keeps is for all parameters together.
  return 0;
}

} // namespace torchtidy::confirm::probe
