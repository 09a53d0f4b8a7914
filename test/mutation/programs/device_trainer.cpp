// Trains on images of bytes, as a camera gives them; where everything lies is decided
// once, in the options of the program.
#include <torch/torch.h>

#include <cstdint>
#include <iostream>
#include <vector>

struct Options {
  torch::Device device = torch::cuda::is_available() ? torch::Device(torch::kCUDA, 0)
                                                     : torch::Device(torch::kCPU);
  int64_t batch = 32;
  int64_t steps = 6;
  int64_t layers = 2;
  int64_t hidden = 64;
  double rate = 1e-3;
};

struct Camera {
  std::vector<uint8_t> frame = std::vector<uint8_t>(32 * 24 * 24);
  unsigned random = 1;

  void shoot() {
    for (auto& pixel : frame)
      pixel = static_cast<uint8_t>((random = random * 1664525 + 1013904223) >> 24);
  }
};

class ReaderImpl : public torch::nn::Module {
 public:
  explicit ReaderImpl(const Options& options)
      : gru(torch::nn::GRUOptions(24, options.hidden).num_layers(options.layers)),
        out(options.hidden, 10) {
    register_module("gru", gru);
    register_module("out", out);
  }

  torch::Tensor forward(const torch::Tensor& rows, const torch::Tensor& h) {
    return out(std::get<0>(gru(rows, h))[-1]);
  }

 private:
  torch::nn::GRU gru;
  torch::nn::Linear out;
};
TORCH_MODULE(Reader);

// Smooth targets: most on the class itself, the rest on all.
torch::Tensor smooth(const torch::Tensor& labels, int64_t classes) {
  auto wanted = torch::full({labels.size(0), classes}, 0.1 / classes,
                            torch::TensorOptions().dtype(torch::kFloat).device(labels.device()));
  return wanted.scatter_(1, labels.unsqueeze(1), 0.9);
}

double train(Reader& net, const Options& options, Camera& camera) {
  torch::optim::Adam adam(net->parameters(), torch::optim::AdamOptions(options.rate));
  const auto on_device = torch::TensorOptions().dtype(torch::kFloat).device(options.device);
  auto total = torch::zeros({}, on_device);
  int64_t seen = 0;
  net->train();
  for (int64_t step = 0; step < options.steps; ++step) {
    camera.shoot();
    auto bytes = torch::from_blob(camera.frame.data(), {options.batch, 24, 24}, torch::kUInt8);
    auto images = bytes.to(options.device).to(torch::kFloat).div_(255);
    auto labels = torch::randint(10, {options.batch}).to(options.device);
    auto h = torch::zeros({options.layers, images.size(0), options.hidden},
                          torch::device(options.device).dtype(torch::kFloat));
    auto logits = net(images.transpose(0, 1), h);
    auto loss = -(smooth(labels, 10) * torch::log_softmax(logits, 1)).sum(1).mean();
    adam.zero_grad();
    loss.backward();
    adam.step();
    total += loss.detach() * logits.size(0);
    seen += images.size(0);
  }
  return total.item<double>() / static_cast<double>(seen);
}

double accuracy(Reader& net, const Options& options, Camera& camera) {
  torch::NoGradGuard no_grad;
  net->eval();
  int64_t hits = 0, seen = 0;
  for (int64_t step = 0; step < 4; ++step) {
    camera.shoot();
    auto bytes = torch::from_blob(camera.frame.data(), {options.batch, 24, 24},
                                  torch::TensorOptions().dtype(torch::kUInt8));
    const auto images = bytes.to(options.device).to(torch::kFloat).div(255);
    const auto h = torch::zeros({options.layers, images.size(0), options.hidden},
                                images.options());
    const auto guess = net->forward(images.transpose(0, 1), h).argmax(1);
    const auto labels = torch::arange(guess.numel(), torch::dtype(torch::kLong).device(options.device)) % 10;
    hits += guess.eq(labels).sum().item<int64_t>();
    seen += guess.numel();
  }
  return static_cast<double>(hits) / static_cast<double>(seen);
}

int main() {
  torch::manual_seed(3);
  Options options;
  Camera camera;
  Reader net(options);
  net->to(options.device);
  for (int epoch = 0; epoch < 3; ++epoch)
    std::cout << "epoch " << epoch << " loss " << train(net, options, camera) << " accuracy "
              << accuracy(net, options, camera) << '\n';
}
