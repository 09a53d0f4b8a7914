// RUN: %check_torch %s torch-repeated-transfer %t
//
// What is transferred is the iteration's own data.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

void batches(Linear net, std::vector<torch::data::Example<>> &loader,
             torch::optim::SGD &opt, torch::Device device) {
  for (auto &batch : loader) {
    auto data = batch.data.to(device);
    auto target = batch.target.to(device);
    opt.zero_grad();
    torch::nll_loss(net->forward(data), target).backward();
    opt.step();
  }
}

// A real loader.
void dataLoader(Linear net, torch::Device device) {
  auto set = torch::data::datasets::MNIST("data").map(
      torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader(std::move(set), 64);
  for (torch::data::Example<> &batch : *loader) {
    auto data = batch.data.view({-1, 784}).to(device);
    auto target = batch.target.to(device).to(torch::kInt64);
    std::cout << torch::nll_loss(net->forward(data), target) << '\n';
  }
}

template <class Loader> void generic(Loader &loader, torch::Device device) {
  for (auto &batch : loader) {
    auto data = batch.data.to(device), target = batch.target.to(device);
    std::cout << (data.sum() + target.sum()).template item<float>() << '\n';
  }
}

void instantiates(std::vector<torch::data::Example<>> &loader) {
  generic(loader, torch::kCUDA);
}

void elements(const std::vector<Tensor> &xs, torch::Device device) {
  for (size_t i = 0; i < xs.size(); ++i)
    std::cout << xs[i].to(device).sum().item<float>() << '\n';
  for (auto x : xs)
    std::cout << x.to(torch::kFloat64).sum().item<double>() << '\n';
  for (auto it = xs.begin(); it != xs.end(); ++it)
    std::cout << it->to(device).sum().item<float>() << '\n';
}

// Another part each time.
void slices(const Tensor &data, torch::Device device) {
  using torch::indexing::Slice;
  for (int64_t i = 0; i < data.size(0); ++i) {
    auto row = data[i].to(device);
    auto slice = data.narrow(0, i, 1).to(device);
    auto indexed = data.index({i, Slice()}).to(device);
    auto selected = data.select(0, i).to(torch::kFloat64);
    std::cout << (row + slice + indexed + selected).sum() << '\n';
  }
}

void shuffled(const Tensor &data, torch::Device device) {
  for (int epoch = 0; epoch < 10; ++epoch) {
    auto order = torch::randperm(data.size(0));
    auto batch = data.index_select(0, order).to(device);
    std::cout << batch.sum().item<float>() << '\n';
  }
}

void results(Linear net, const std::vector<Tensor> &xs, torch::Device device) {
  for (const auto &x : xs) {
    auto output = net->forward(x.to(device));
    auto onHost = output.to(torch::kCPU);
    auto classes = output.argmax(1).to(torch::kFloat32).cpu();
    std::cout << (output > 0).to(torch::kFloat32).mean() << '\n';
    std::cout << onHost.sum() << classes << '\n';
  }
}

void fromData(std::vector<std::vector<float>> &rows, torch::Device device) {
  for (auto &row : rows) {
    auto copied = torch::tensor(row).to(device);
    auto wrapped =
        torch::from_blob(row.data(), {static_cast<int64_t>(row.size())})
            .to(device);
    std::cout << (copied + wrapped).sum().item<float>() << '\n';
  }
}

// Noise of this iteration.
void noise(const std::vector<Tensor> &xs, torch::Device device) {
  for (const auto &x : xs) {
    auto z = torch::randn({64, 64});
    auto y = torch::randint(0, 10, {x.size(0)});
    std::cout << (x + z.to(device)).sum() << y.to(device).sum() << '\n';
  }
}

// The helper is given the batch, not what stays.
static Tensor toDevice(const Tensor &x, torch::Device device) {
  return x.to(device);
}

void helper(Linear net, const std::vector<Tensor> &xs, torch::Device device) {
  for (const auto &x : xs)
    std::cout << net->forward(toDevice(x, device)).sum() << '\n';
}

// State that the loop carries on.
void carried(Linear net, const std::vector<Tensor> &xs, Tensor state,
             torch::Device device) {
  for (const auto &x : xs) {
    auto next = net->forward(x + state.to(device));
    state = next.detach().cpu();
  }
  std::cout << state << '\n';
}

// Received from elsewhere.
Tensor receive();

void received(Linear net, torch::Device device) {
  while (true) {
    Tensor request = receive();
    if (!request.defined())
      break;
    std::cout << net->forward(request.to(device)).sum() << '\n';
    std::cout << receive().to(torch::kFloat32).sum() << '\n';
  }
}

// ----- what else is called so -----

struct Meters {
  double value = 0;
  Meters to(double factor) const { return {value * factor}; }
  double cpu() const { return value; }
};

void otherClasses(const Meters &length, const std::vector<Tensor> &xs) {
  auto options = torch::dtype(torch::kFloat32);
  for (const auto &x : xs) {
    auto changed = options.device(x.device());
    std::cout << length.to(100).cpu() << changed.requires_grad() << '\n';
  }
}
