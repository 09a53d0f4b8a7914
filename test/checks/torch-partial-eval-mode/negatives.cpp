// RUN: %check_torch %s torch-partial-eval-mode %t
//
// eval() twice, and nothing that is left out.

#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Dropout;
using torch::nn::Linear;
using torch::nn::Sequential;
using torch::optim::SGD;

static Sequential make() { return Sequential(Linear(4, 4), Dropout(0.5)); }

// All of them get it, in any order; one of them twice.
void all(Tensor x) {
  Sequential first = make(), second = make();
  first->eval();
  second->eval();
  first->eval();
  torch::NoGradGuard no_grad;
  std::cout << second->forward(first->forward(x));
}

// It is set elsewhere in the file: in another method, through a parent, or
// after all.
class Late {
public:
  explicit Late(const std::string &path) {
    encoder = torch::jit::load(path + "/encoder.pt");
    encoder.eval();
    decoder = torch::jit::load(path + "/decoder.pt");
    encoder.eval();
  }
  void prepare() { decoder.eval(); }
  Tensor run(Tensor x) {
    torch::NoGradGuard no_grad;
    return decoder.forward({encoder.forward({x})}).toTensor();
  }
  torch::jit::Module encoder, decoder;
};

struct BothImpl : torch::nn::Module {
  BothImpl() {
    register_module("first", first);
    register_module("second", second);
    first->eval();
    first->eval();
  }
  Tensor forward(Tensor x) { return second(first->forward(x)); }
  Sequential first{make()};
  Dropout second;
};
TORCH_MODULE(Both);
void parent(Tensor x) {
  Both both;
  both->eval();
  torch::NoGradGuard no_grad;
  std::cout << both->forward(x) << both->second->forward(x);
}

// Each of the two has its use.
void stages(Tensor x, Tensor y) {
  Sequential net = make(), sampler = make();
  net->eval();
  torch::NoGradGuard no_grad;
  std::cout << net->forward(x);
  // The dropout stays: an ensemble of samples.
  for (int i = 0; i < 10; ++i)
    std::cout << sampler->forward(x);
  net->eval();
  std::cout << net->forward(y);
}
void modeBetween(Tensor x) {
  Sequential net = make(), other = make();
  net->eval();
  net->train();
  net->eval();
  torch::NoGradGuard no_grad;
  std::cout << other->forward(net->forward(x));
}

// The other is trained, here or by whoever gets what it returns.
void trained(const std::vector<Tensor> &xs) {
  Sequential backbone = make(), head = make();
  SGD optimizer(head->parameters(), 0.1);
  backbone->eval();
  backbone->eval();
  for (const Tensor &x : xs) {
    optimizer.zero_grad();
    head->forward(backbone->forward(x).detach()).sum().backward();
    optimizer.step();
  }
}
class Trainer {
public:
  Trainer() {
    backbone->eval();
    backbone->eval();
  }
  Tensor forward(Tensor x) { return head->forward(backbone->forward(x)); }
  Sequential backbone = make(), head = make();
};

// Nobody knows what becomes of it.
void setUp(Sequential &net);
void unseen(Tensor x) {
  Sequential first = make(), second = make();
  first->eval();
  first->eval();
  setUp(second);
  torch::NoGradGuard no_grad;
  std::cout << second->forward(first->forward(x));
}
void unseenFrom(Sequential &second, Tensor x) {
  Sequential first = make();
  first->eval();
  first->eval();
  torch::NoGradGuard no_grad;
  std::cout << second->forward(first->forward(x));
}

// Nothing in it depends on the mode; it is not run; it is of another kind.
void indifferent(Tensor x) {
  Sequential first = make();
  Linear second(4, 2);
  first->eval();
  first->eval();
  torch::NoGradGuard no_grad;
  std::cout << second->forward(first->forward(x));
}
void notRun(Tensor x) {
  Sequential first = make(), second = make();
  first->eval();
  first->eval();
  torch::NoGradGuard no_grad;
  std::cout << first->forward(x) << second->parameters().size();
}
void anotherKind(const std::string &path, Tensor x) {
  torch::jit::Module first = torch::jit::load(path);
  Sequential second = make();
  first.eval();
  first.eval();
  torch::NoGradGuard no_grad;
  std::cout << second->forward(first.forward({x}).toTensor());
}

// One line that a loop, or two objects, run twice; elements of a list.
void loop(Tensor x) {
  std::vector<Sequential> nets = {make(), make()};
  Sequential second = make();
  for (Sequential &net : nets)
    net->eval();
  nets[0]->eval();
  nets[1]->eval();
  torch::NoGradGuard no_grad;
  std::cout << second->forward(nets[0]->forward(x));
}
struct One {
  One() { net->eval(); }
  Sequential net = make();
};
void objects(Tensor x) {
  One first, second;
  Sequential third = make();
  torch::NoGradGuard no_grad;
  std::cout << third->forward(first.net->forward(second.net->forward(x)));
}
// Of one path each.
void branches(Tensor x, bool fast) {
  Sequential first = make(), second = make();
  if (fast)
    first->eval();
  else
    first->eval();
  torch::NoGradGuard no_grad;
  std::cout << second->forward(first->forward(x));
}
