// A small zoo: residual MLPs with a stack of blocks (ModuleList), a dictionary of task
// heads (ModuleDict) and a plain Sequential stem; pretrain, then fine-tune one task.
#include <torch/torch.h>
#include <iostream>
#include <map>

namespace zoo {
namespace nn = torch::nn;

struct BlockImpl : nn::Module {
  BlockImpl(int64_t width, double p)
      : norm(register_module("norm", nn::LayerNorm(nn::LayerNormOptions({width})))),
        up(register_module("up", nn::Linear(width, 2 * width))),
        down(register_module("down", nn::Linear(2 * width, width))),
        drop(p) {}

  torch::Tensor forward(torch::Tensor x) {
    auto h = down(torch::gelu(up(norm(x))));
    return x + drop(h);
  }

  nn::LayerNorm norm;
  nn::Linear up, down;
  nn::Dropout drop;  // EXPECT: torch-unregistered-module
};
TORCH_MODULE(Block);

class ResMlpImpl : public nn::Module {
 public:
  ResMlpImpl(int64_t in, int64_t width, int depth, std::vector<std::pair<std::string, int64_t>> tasks) {
    stem = register_module("stem", nn::Sequential(nn::Linear(in, width), nn::GELU()));
    blocks = register_module("blocks", nn::ModuleList());
    Block block(width, 0.1);
    for (int i = 0; i < depth; ++i)
      blocks->push_back(block);  // EXPECT: torch-fill-alias
    heads = register_module("heads", nn::ModuleDict());
    for (auto& [name, n] : tasks) {
      torch::OrderedDict<std::string, std::shared_ptr<nn::Module>> one;
      one.insert(name, nn::Linear(width, n).ptr());  // RIGHT: torch-unregistered-module (it becomes a part of the registered dictionary)
      heads->update(one);
    }
    out_norm = register_module("out_norm", nn::LayerNorm(nn::LayerNormOptions({width})));
  }

  torch::Tensor forward(torch::Tensor x, const std::string& task) {
    x = act(stem->forward(x));
    for (auto& b : *blocks) x = b->as<Block>()->forward(x);
    return heads[task]->as<nn::Linear>()->forward(out_norm(x * gain));
  }

  nn::Sequential stem{nullptr};
  nn::ModuleList blocks{nullptr};
  nn::ModuleDict heads{nullptr};
  nn::LayerNorm out_norm{nullptr};
  nn::Tanh act;  // RIGHT: torch-unregistered-module (no parameters, and the same in both modes)
  torch::Tensor gain = torch::ones({1}, torch::requires_grad());  // EXPECT: torch-unregistered-module
};
TORCH_MODULE(ResMlp);

}  // namespace zoo

struct Classifier : torch::nn::Module {
  Classifier() {
    body = register_module("body", torch::nn::Linear(20, 64));
    head = register_module("head", torch::nn::Linear(64, 10));
  }
  torch::Tensor forward(torch::Tensor x) { return head(torch::relu(body(x))); }
  torch::nn::Linear body{nullptr}, head{nullptr};
};

template <typename Step>
static double fit(torch::optim::Optimizer& optimizer, int steps, Step step) {
  double last = 0;
  for (int i = 0; i < steps; ++i) {
    torch::Tensor loss = step(i);
    last = loss.template item<double>();
    if (!std::isfinite(last)) continue;
    loss.backward();
    optimizer.step();  // EXPECT: torch-missing-zero-grad
  }
  return last;
}

int main() {
  torch::manual_seed(13);
  using Tasks = std::vector<std::pair<std::string, int64_t>>;
  zoo::ResMlp net(20, 32, 3, Tasks{{"sign", 2}, {"argmax", 20}});
  std::cout << "parameters: " << net->parameters().size() << "\n";

  torch::optim::AdamW opt(net->parameters(), 1e-3);
  double loss = fit(opt, 80, [&](int i) {
    auto x = torch::randn({64, 20});
    if (i % 2) return torch::cross_entropy_loss(net->forward(x, "argmax"), x.argmax(1));
    return torch::cross_entropy_loss(net->forward(x, "sign"), (x.sum(1) > 0).to(torch::kLong));
  });
  std::cout << "zoo loss " << loss << "\n";

  auto small = std::make_shared<Classifier>();
  small->head = torch::nn::Linear(64, 3);  // EXPECT: torch-reassigned-member
  small->body = small->replace_module("body", torch::nn::Linear(20, 64));  // RIGHT: torch-reassigned-member (replace_module registers the new one)
  torch::optim::SGD sgd(small->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
  for (int i = 0; i < 100; ++i) {
    auto x = torch::randn({64, 20});
    auto l = torch::cross_entropy_loss(small->forward(x), x.slice(1, 0, 3).argmax(1));
    small->zero_grad();  // RIGHT: torch-missing-zero-grad (clears what the optimizer steps)
    l.backward();
    sgd.step();
  }
  small->eval();
  torch::NoGradGuard ng;
  auto x = torch::randn({256, 20});
  auto acc = small->forward(x).argmax(1).eq(x.slice(1, 0, 3).argmax(1)).to(torch::kFloat).mean();
  std::cout << "fine-tuned " << acc.item<float>() << std::endl;
}
