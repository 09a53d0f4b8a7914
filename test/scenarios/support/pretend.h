// An accelerator that is none: the device PrivateUse1 with the memory of the host. For what
// tells a device from the CPU and needs none to be seen: a tensor on it has a device with an
// index, and what goes to it is a copy that the probe counts. It can be filled with zeros,
// sliced, and copied to, from and on, as bytes, int64_t, float and double; nothing else.
#ifndef TORCH_TIDY_SCENARIOS_PRETEND_H
#define TORCH_TIDY_SCENARIOS_PRETEND_H

#include <torch/torch.h>

namespace pretend {

// To be called first: without that the device may not be there.
torch::Device accelerator();

} // namespace pretend

#endif
