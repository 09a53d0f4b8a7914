// Each line that ends with a slash-slash-at comment calls the operation it names,
// and nobody else may be said to.
// clang-format off: a comment is to stay in its line
#include <iostream>
#include <thread>
#include <torch/torch.h>
#include <vector>

using torch::Tensor;
static float helper(const Tensor& t, int i) {
  return t[i].item<float>(); //@ aten::item
}
static inline Tensor mk(int n) {
  return torch::empty({n, n}); //@ aten::empty
}
template <class F> static void rep(int n, F f) { for (int i = 0; i < n; i++) f(i); }
struct Net : torch::nn::Module {
  Net() { fc = register_module("fc", torch::nn::Linear(8, 4)); }
  Tensor forward(Tensor x) {
    auto h = torch::relu(fc->forward(x)); //@ aten::addmm
    return torch::cat({h, h}, 1); //@ aten::cat
  }
  torch::nn::Linear fc{nullptr};
};
#define LOSSOF(t) ((t).pow(2).mean())
int main() {
  torch::manual_seed(0);
  auto m = torch::randn({16, 8}); //@ aten::randn
  auto net = std::make_shared<Net>();
  torch::optim::SGD opt(net->parameters(), 0.01);
  std::vector<Tensor> losses; std::vector<float> vals; double sum = 0;
  for (int i = 0; i < 3; i++) {
    auto out = net->forward(m);
    auto loss = LOSSOF(out); //@ aten::pow
    opt.zero_grad();
    loss.backward(); //@ backward
    opt.step(); //@ step:SGD
    losses.push_back(loss);
    sum += loss.item<double>(); //@ aten::item
    vals.push_back(loss.item().toFloat()); //@ aten::item
    std::cout << ""
              << (i > 100 ? 0.f
                          : out[0][1].item<float>()) //@ aten::item
              << "";
    if (loss.item<float>() > 1e9) break; //@ aten::item
    auto x = m.to(torch::kDouble); //@ aten::to
    auto y = m.to(torch::Device(torch::kCPU), torch::kHalf,
                  /*non_blocking=*/false, true); 
    for (auto& p : net->parameters()) sum += p.norm().item<double>(); //@ aten::item
    rep(2, [&](int k) {
      sum += m[k][0].item<float>(); //@ aten::item
    });
    sum += helper(m[i], 2);
    auto z = mk(4);
    auto w = torch::zeros({4, 4},
        torch::TensorOptions().dtype(torch::kFloat)); 
    Tensor acc = torch::zeros({1}); //@ aten::zeros
    acc = acc + w.sum(); //@ aten::add
    losses[i] = losses[i].detach().clone(); //@ aten::clone
    auto idx = torch::nonzero(m > 0); //@ aten::nonzero
    auto sel = m.index({torch::indexing::Slice(0, 2), 1}); //@ aten::slice
    m[0] = m[1]; //@ aten::copy_
    m[2][3] = 1.5; //@ aten::fill_
    int nn = torch::argmax(m).item<int64_t>() & 1; //@ aten::item
    switch (nn) {
      case 0: z = z.repeat({2, 1}); break; //@? aten::repeat
      default: z = torch::cat({z, z}); //@? aten::cat
    }
    while (m.max().item<float>() < -1e9) { } //@ aten::item
    for (int j = 0; j < 2; j++) vals.push_back(m.select(0, j).sum().item<float>()); //@ aten::item
    std::thread th([&] {
      sum += m.sum().item<float>(); //@ aten::item
    });
    th.join();
    torch::optional<Tensor> o = m.cpu().contiguous().to(torch::kInt); //@ aten::to
    auto v = std::vector<Tensor>{m.clone(), m * 2}; //@ aten::mul
    auto st = torch::stack(v); //@ aten::stack
    auto ar = torch::arange(10); //@ aten::arange
    float g = 0; { torch::NoGradGuard ng; g = net->forward(m).mean().item<float>(); } //@ aten::item
    auto [mx, mi] = m.max(1); //@ aten::max
    bool any = (m > 100).any().item<bool>(); //@ aten::item
    if (torch::equal(m, m)) sum += g + any; //@ aten::equal
    try { if (i == 0) m.view({-1, 7}); } catch (const c10::Error&) { }
    torch::nn::utils::clip_grad_norm_(net->parameters(), 1.0); //@ aten::item
  }
  std::cout << sum << "\n";
}
