// A recurrent network reads sequences: the state of each batch begins with zeros. It lies on
// an accelerator, one with the memory of the host (support/pretend.h): what is moved to it is
// counted.
// --size: that many times as many sequences in a batch.
#include "measure.h"
#include "pretend.h"

int main(int argc, char **argv) {
  measure::start(argc, argv);
  const torch::Device device = pretend::accelerator();
  double state = 0;
  {
    measure::Loop loop("batches");
    for (int64_t batch = 0; batch < 60; ++batch) {
      const int64_t sequences = (8 + batch % 4) * measure::size();
      const auto hidden = torch::zeros({sequences, 256}, device);
      state += hidden.const_data_ptr<float>()[batch] + static_cast<double>(hidden.size(0));
      loop.iteration();
    }
  }
  measure::value("state", state);
  return measure::finish();
}
