// Checkpoints and exports of a small network with running statistics.
#include <torch/torch.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace {

struct PlantImpl : torch::nn::Module {
  PlantImpl() {
    centre_ = register_buffer("centre", torch::zeros({12}));
    spread_ = register_buffer("spread", torch::ones({12}));
    entry = register_module("entry", torch::nn::Linear(12, 16));
    head = register_module("head", torch::nn::Linear(16, 4));
    limits_ = torch::full({12}, 3.f);
  }

  torch::Tensor forward(const torch::Tensor& x) {
    if (is_training()) {
      torch::NoGradGuard off;
      centre_ = centre_ * 0.95 + x.mean(0) * 0.05;  // EXPECT: torch-reassigned-member
      spread_.mul_(0.95).add_(x.std(0), 0.05);  // RIGHT: torch-reassigned-member (in place)
    }
    auto z = torch::minimum((x - centre_) / spread_, limits_);
    return head(squash(middle(squash(entry(z)))));
  }

  torch::nn::Linear entry{nullptr}, head{nullptr};
  torch::nn::Linear middle{16, 16};  // EXPECT: torch-unregistered-module
  torch::nn::Tanh squash;  // RIGHT: torch-unregistered-module (no parameters, no mode)

 private:
  torch::Tensor centre_, spread_;
  torch::Tensor limits_;  // RIGHT: torch-unregistered-module (a constant without a gradient)
};
TORCH_MODULE(Plant);

double learn(Plant& net, int steps) {
  torch::optim::Adagrad opt(net->parameters(), torch::optim::AdagradOptions(0.02));
  double last = 0;
  for (int s = 0; s < steps; ++s) {
    auto x = torch::randn({32, 12}) * 2 + 1;
    auto loss = torch::mse_loss(net->forward(x), x.narrow(1, 0, 4));
    opt.zero_grad();
    loss.backward();
    opt.step();
    last = loss.item<double>();
  }
  return last;
}

void widen(Plant& net, int64_t outputs) {
  net->head = net->replace_module("head", torch::nn::Linear(16, outputs));  // RIGHT: torch-reassigned-member (registered as well)
}

void narrow(Plant& net, int64_t outputs) {
  net->head = torch::nn::Linear(16, outputs);  // EXPECT: torch-reassigned-member
}

std::vector<torch::Tensor> snapshot(Plant& net) {
  std::vector<torch::Tensor> out;
  for (const auto& p : net->parameters()) out.push_back(p.detach().clone());
  return out;
}

void rollBack(Plant& net, const std::vector<torch::Tensor>& saved) {
  torch::NoGradGuard off;
  size_t k = 0;
  for (auto& p : net->parameters()) p = saved[k++];  // EXPECT: torch-parameter-copy
}

void rollBackInPlace(Plant& net, const std::vector<torch::Tensor>& saved) {
  torch::NoGradGuard off;
  size_t k = 0;
  for (auto& p : net->parameters()) p.copy_(saved[k++]);  // RIGHT: torch-parameter-copy, torch-leaf-inplace (in place, guarded)
}

std::vector<char> exportRaw(const torch::Tensor& t) {
  const auto flat = t.detach().contiguous();
  std::vector<char> bytes(flat.numel() * sizeof(float));
  std::memcpy(bytes.data(), flat.data_ptr<float>(), flat.numel() * sizeof(torch::kFloat32));  // EXPECT: torch-sizeof-dtype
  return bytes;
}

void writeHeader(std::ofstream& out, const torch::Tensor& t) {
  auto type = t.scalar_type();
  out.write(reinterpret_cast<const char*>(&type), sizeof(type));  // RIGHT: torch-sizeof-dtype (the object itself is written)
}

std::map<int64_t, double> centroids(const torch::Tensor& rows, const std::vector<int64_t>& kinds) {
  std::vector<torch::Tensor> sums(4, torch::zeros({12}));  // EXPECT: torch-fill-alias
  std::vector<torch::Tensor> peaks(4);  // RIGHT: torch-fill-alias (each element gets its own)
  for (auto& p : peaks) p = torch::zeros({12});
  for (size_t i = 0; i < kinds.size(); ++i) {
    sums[kinds[i]] += rows[i];
    peaks[kinds[i]].copy_(torch::maximum(peaks[kinds[i]], rows[i]));
  }
  std::map<int64_t, double> out;
  for (int64_t k = 0; k < 4; ++k) out[k] = sums[k].sum().item<double>() + peaks[k].max().item<double>();
  return out;
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(21);
  const std::string one = "/tmp/e_plant_one.pt", two = "/tmp/e_plant_two.pt";
  Plant net;
  const auto saved = snapshot(net);
  std::cout << "loss " << learn(net, 30) << '\n';
  rollBack(net, saved);
  rollBackInPlace(net, saved);
  widen(net, 6);
  narrow(net, 3);
  const auto gallery = torch::randn({64, 3, 16, 16});
  torch::save(gallery[40], one);  // EXPECT: torch-view-pins-storage
  torch::save(gallery[40].clone(), two);  // RIGHT: torch-view-pins-storage (a copy)
  std::ofstream header("/tmp/e_plant_header.bin", std::ios::binary);
  writeHeader(header, gallery);
  const auto bytes = exportRaw(net->entry->weight);
  const auto sums = centroids(torch::rand({8, 12}), {0, 1, 2, 3, 0, 1, 2, 0});
  std::cout << bytes.size() << ' ' << sums.at(0) << '\n';
  for (const auto& path : {one, two, std::string("/tmp/e_plant_header.bin")}) std::remove(path.c_str());
}
