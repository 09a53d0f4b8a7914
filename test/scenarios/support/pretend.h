// An accelerator that is none: the device PrivateUse1 with the memory of the host. For what
// tells a device from the CPU and needs none to be seen: a tensor on it has a device with an
// index, and what goes to it is a copy that the probe counts. It can be filled with zeros,
// sliced, and copied to, from and on, as bytes, int64_t, float and double; nothing else. Memory
// that is freed is kept for the next tensor of that size, until the cache is emptied.
// As CUDA does, it makes copies to the host that nobody has to wait for (non_blocking) later:
// before the next copy of another kind, or when it is synchronized. Until then pinned memory
// that is new holds zeros. What is pinned (pin_memory()) says so, and the probe counts a copy from
// other memory as one that the host waits for, whatever it was asked.
#ifndef TORCH_TIDY_SCENARIOS_PRETEND_H
#define TORCH_TIDY_SCENARIOS_PRETEND_H

#include <torch/torch.h>

namespace pretend {

// To be called first: without that the device may not be there.
torch::Device accelerator();

// What torch::cuda::synchronize() is for CUDA.
void synchronize();

// How many copies it has not made yet.
int64_t pending();

// How often memory had to come from the system so far, because the cache had none.
int64_t memory_requests();

} // namespace pretend

#endif
