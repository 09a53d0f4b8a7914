// One function for each way to keep what an iteration made, and for each way to
// clear gradients or not. Each is a mark; the line of a step has the name of
// its function as a comment.
#include <torch_confirm.h>

using torch::Tensor;
namespace nn = torch::nn;

static const int Iterations = 40;
static Tensor X, Y;

struct Training {
  explicit Training(const char *Name)
      : Name(Name), Net(nn::Linear(64, 64), nn::ReLU(), nn::Linear(64, 64),
                        nn::ReLU(), nn::Linear(64, 10)),
        Optimizer(Net->parameters(),
                  torch::optim::SGDOptions(0.01).momentum(0.9)) {
    torch_confirm_begin(Name);
  }
  ~Training() { torch_confirm_end(Name); }
  Tensor loss() {
    return torch::nll_loss(torch::log_softmax(Net->forward(X), 1), Y);
  }
  void ends() { torch_confirm_iteration(Name); }

  const char *Name;
  nn::Sequential Net;
  torch::optim::SGD Optimizer;
};

static void healthy() {
  Training T("healthy");
  double Sum = 0;
  for (int I = 0; I < Iterations; ++I, T.ends()) {
    auto Loss = T.loss();
    T.Optimizer.zero_grad();
    Loss.backward();
    T.Optimizer.step(); // step healthy
    Sum += Loss.item<double>();
    torch_confirm_value("sum", Sum);
  }
}

static void stored() {
  Training T("stored");
  std::vector<Tensor> Losses;
  for (int I = 0; I < Iterations; ++I, T.ends()) {
    auto Loss = T.loss();
    T.Optimizer.zero_grad();
    Loss.backward();
    T.Optimizer.step();
    Losses.push_back(Loss);
  }
}

static void total() {
  Training T("total");
  Tensor Total = torch::zeros({});
  for (int I = 0; I < Iterations; ++I, T.ends()) {
    auto Loss = T.loss();
    T.Optimizer.zero_grad();
    Loss.backward();
    T.Optimizer.step();
    Total = Total + Loss;
  }
}

static void evaluated() {
  Training T("evaluated");
  std::vector<Tensor> Losses;
  for (int I = 0; I < Iterations; ++I, T.ends())
    Losses.push_back(T.loss());
}

static void guarded() {
  Training T("guarded");
  std::vector<Tensor> Losses;
  torch::NoGradGuard NoGrad;
  for (int I = 0; I < Iterations; ++I, T.ends())
    Losses.push_back(T.loss());
}

// Several roots, and writes on views, make nodes that die in another way.
static void views() {
  Training T("views");
  for (int I = 0; I < Iterations; ++I, T.ends()) {
    auto Loss = T.loss(), Other = T.Net->forward(X).pow(2).mean();
    torch::autograd::backward({Loss, Other}, {});
    T.Optimizer.zero_grad();
    Tensor Z = T.Net->forward(X).clone();
    Z[0] = 1.0;
    Z[1].mul_(2);
    Z.select(0, 2).add_(1);
    auto Part = Z.narrow(0, 0, 4);
    Part.mul_(2);
    Z.sum().backward();
    T.Optimizer.zero_grad();
  }
}

static void uncleared() {
  Training T("uncleared");
  for (int I = 0; I < Iterations; ++I, T.ends()) {
    T.loss().backward();
    T.Optimizer.step(); // step uncleared
  }
}

static void after() {
  Training T("after");
  for (int I = 0; I < Iterations; ++I, T.ends()) {
    T.loss().backward();
    T.Optimizer.step(); // step after
    T.Optimizer.zero_grad();
  }
}

static void batches() {
  Training T("batches");
  for (int I = 0; I < Iterations; ++I, T.ends()) {
    T.loss().backward();
    if (I % 2) {
      T.Optimizer.step(); // step batches
      T.Optimizer.zero_grad();
    }
  }
}

static void byHand() {
  Training T("byHand");
  for (int I = 0; I < Iterations; ++I, T.ends()) {
    for (auto &P : T.Net->parameters())
      if (P.grad().defined())
        P.mutable_grad().zero_();
    T.loss().backward();
    T.Optimizer.step(); // step byHand
  }
}

// Unseen by the version counter.
static void byData() {
  Training T("byData");
  for (int I = 0; I < Iterations; ++I, T.ends()) {
    for (auto &P : T.Net->parameters())
      if (P.grad().defined())
        P.grad().data().zero_();
    T.loss().backward();
    T.Optimizer.step(); // step byData
  }
}

static void inPlace() {
  Training T("inPlace");
  for (int I = 0; I < Iterations; ++I, T.ends()) {
    T.Optimizer.zero_grad(/*set_to_none=*/false);
    T.loss().backward();
    nn::utils::clip_grad_norm_(T.Net->parameters(), 1.0);
    T.Optimizer.step(); // step inPlace
  }
}

static void clipped() {
  Training T("clipped");
  for (int I = 0; I < Iterations; ++I, T.ends()) {
    T.loss().backward();
    nn::utils::clip_grad_norm_(T.Net->parameters(), 1.0);
    T.Optimizer.step(); // step clipped
  }
}

static void clippedByHand() {
  Training T("clippedByHand");
  for (int I = 0; I < Iterations; ++I, T.ends()) {
    T.loss().backward();
    for (auto &P : T.Net->parameters())
      P.mutable_grad().mul_(0.5);
    T.Optimizer.step(); // step clippedByHand
  }
}

static void threaded() {
  Training T("threaded");
  for (int I = 0; I < Iterations; ++I, T.ends()) {
    auto Loss = T.loss();
    T.Optimizer.zero_grad();
    std::thread([Loss] { Loss.backward(); }).join();
    T.Optimizer.step(); // step threaded
  }
}

static void writtenAndCleared() {
  Training T("writtenAndCleared");
  for (int I = 0; I < Iterations; ++I, T.ends()) {
    T.loss().backward();
    torch::NoGradGuard NoGrad;
    for (auto &P : T.Net->parameters()) {
      P.sub_(P.grad(), 0.01); // step writtenAndCleared
      P.mutable_grad() = Tensor();
    }
  }
}

static void written() {
  Training T("written");
  for (int I = 0; I < Iterations; ++I, T.ends()) {
    T.loss().backward();
    torch::NoGradGuard NoGrad;
    for (auto &P : T.Net->parameters())
      P.sub_(P.grad(), 0.01); // step written
  }
}

static void writtenData() {
  Training T("writtenData");
  for (int I = 0; I < Iterations; ++I, T.ends()) {
    T.loss().backward();
    for (auto &P : T.Net->parameters())
      P.data().add_(P.grad(), -0.01); // step writtenData
  }
}

// The generator's loss goes through the discriminator, too, whose gradients are
// cleared before they are applied.
static void adversarial() {
  Training D("adversarial");
  nn::Linear G(64, 64);
  torch::optim::Adam OptimizerG(G->parameters(), 1e-3);
  for (int I = 0; I < Iterations; ++I, D.ends()) {
    D.Optimizer.zero_grad();
    D.loss().backward();
    D.Net->forward(G->forward(X).detach()).mean().backward();
    D.Optimizer.step(); // step adversarial
    OptimizerG.zero_grad();
    D.Net->forward(G->forward(X)).mean().backward();
    OptimizerG.step(); // step generator
  }
}

// A custom function's backward is the user's code.
struct Twice : torch::autograd::Function<Twice> {
  static Tensor forward(torch::autograd::AutogradContext *, Tensor A) {
    return A * 2;
  }
  static torch::autograd::variable_list
  backward(torch::autograd::AutogradContext *,
           torch::autograd::variable_list G) {
    Tensor Result = G[0] * 2; // custom backward
    return {Result};
  }
};

static void custom() {
  auto W = torch::ones({8}, torch::requires_grad());
  torch_confirm_begin("custom");
  for (int I = 0; I < Iterations; ++I) {
    Twice::apply(W).sum().backward();
    torch_confirm_iteration("custom");
  }
  torch_confirm_end("custom");
}

// Freed after everything.
static Tensor Late;

int main() {
  torch::manual_seed(0);
  torch::set_num_threads(1);
  X = torch::randn({64, 64});
  Y = torch::randint(0, 10, {64}, torch::kLong);
  Late = torch::ones({1000});
  for (auto *Each : {healthy, stored,        total,       evaluated,
                     guarded, views,         uncleared,   after,
                     batches, byHand,        byData,      inPlace,
                     clipped, clippedByHand, threaded,    writtenAndCleared,
                     written, writtenData,   adversarial, custom})
    Each();
  torch_confirm_value("outside", 1.5);
  std::cout << "done\n";
}
