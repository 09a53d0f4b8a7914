// RUN: %check_torch %s torch-pageable-transfer %t
//
// A program that pins the memory that it has.

#include <torch/torch.h>

extern "C" int cudaHostRegister(void *pointer, size_t bytes, unsigned flags);

void feed(torch::Device device) {
  auto x = torch::empty({256, 256});
  cudaHostRegister(x.data_ptr(), x.nbytes(), 0);
  for (int i = 0; i < 10; ++i)
    x.to(device, true);
}
