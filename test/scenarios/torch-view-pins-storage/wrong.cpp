// A recurrent network reads sequences. What it has come to at the last step of
// each is collected for a classifier, and one sequence goes to a file, as an
// example. Both are views: of the outputs of all steps, of all sequences.
// --size: that many times as many sequences.
//
// MEASURE reading bytes-per-iteration factor=10 grows=constant
// MEASURE reading bytes-kept factor=10 grows=linear
// MEASURE process file-bytes factor=10
// MEASURE process spread same
#include "measure.h"
#include <sstream>

namespace {

constexpr int64_t steps = 64, width = 32;

/// As large as a file would be.
double file_bytes(const torch::Tensor &sequences) {
  std::ostringstream file;
  torch::save(sequences[5], file); // BAD
  return static_cast<double>(file.str().size());
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  const int64_t count = 60 * measure::size();
  const auto sequences = torch::randn({count, steps, 8}, device);
  torch::nn::LSTM reader(torch::nn::LSTMOptions(8, width).batch_first(true));
  reader->to(device);
  std::vector<torch::Tensor> features;
  {
    const torch::NoGradGuard no_grad;
    measure::Loop loop("reading");
    for (int64_t i = 0; i < count; ++i) {
      const auto outputs =
          std::get<0>(reader->forward(sequences[i].unsqueeze(0)));
      features.push_back(outputs.select(1, -1)); // BAD
      loop.iteration();
    }
  }
  measure::value("spread", torch::cat(features).std(0).mean().item<double>());
  measure::value("file-bytes", file_bytes(sequences));
  return measure::finish();
}
