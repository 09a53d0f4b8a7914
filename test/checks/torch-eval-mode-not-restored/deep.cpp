// RUN: %check_torch %s torch-eval-mode-not-restored %t
//
// Behind each loss are more than sixty forward passes of layers.

#include <torch/torch.h>

struct Block : torch::nn::Module {
  torch::nn::Conv2d First, Second, Shortcut{nullptr};
  torch::nn::BatchNorm2d Norm;

  Block(int64_t In, int64_t Out)
      : First(torch::nn::Conv2dOptions(In, Out, 3).padding(1)),
        Second(torch::nn::Conv2dOptions(Out, Out, 3).padding(1)), Norm(Out) {
    register_module("first", First);
    register_module("second", Second);
    register_module("norm", Norm);
    if (In != Out)
      Shortcut = register_module(
          "shortcut", torch::nn::Conv2d(torch::nn::Conv2dOptions(In, Out, 1)));
  }

  torch::Tensor forward(torch::Tensor X) {
    auto Residual = Shortcut ? Shortcut(X) : X;
    return torch::relu(Norm(Second(torch::relu(First(X)))) + Residual);
  }
};

struct Stage : torch::nn::Module {
  std::shared_ptr<Block> A, B, C, D;

  explicit Stage(int64_t Width) {
    A = register_module("a", std::make_shared<Block>(Width, Width));
    B = register_module("b", std::make_shared<Block>(Width, Width));
    C = register_module("c", std::make_shared<Block>(Width, Width));
    D = register_module("d", std::make_shared<Block>(Width, Width));
  }

  torch::Tensor forward(torch::Tensor X) {
    return D->forward(C->forward(B->forward(A->forward(X))));
  }
};

struct Net : torch::nn::Module {
  std::shared_ptr<Stage> P, Q, R, S;
  torch::nn::Linear Head{nullptr};

  Net() {
    P = register_module("p", std::make_shared<Stage>(16));
    Q = register_module("q", std::make_shared<Stage>(16));
    R = register_module("r", std::make_shared<Stage>(16));
    S = register_module("s", std::make_shared<Stage>(16));
    Head = register_module("head", torch::nn::Linear(16, 10));
  }

  torch::Tensor forward(torch::Tensor X) {
    X = S->forward(R->forward(Q->forward(P->forward(X))));
    return Head(X.mean({2, 3}));
  }
};

void train(std::shared_ptr<Net> Coarse, std::shared_ptr<Net> Fine,
           torch::optim::Optimizer &CoarseStep,
           torch::optim::Optimizer &FineStep,
           const std::vector<torch::Tensor> &Batches, torch::Tensor Labels) {
  // CHECK-FIXES: {{^}}  for (int Epoch = 0; Epoch < 10; ++Epoch) {{[{]$}}
  // CHECK-FIXES-NEXT: {{^}}    Fine->train();{{$}}
  // CHECK-FIXES-NEXT: {{^}}    Coarse->train();{{$}}
  for (int Epoch = 0; Epoch < 10; ++Epoch) {
    Coarse->train();
    for (const auto &Batch : Batches) {
      CoarseStep.zero_grad();
      torch::cross_entropy_loss(Coarse->forward(Batch), Labels).backward();
      CoarseStep.step();
      FineStep.zero_grad();
      torch::cross_entropy_loss(Fine->forward(Batch), Labels).backward();
      FineStep.step();
    }
    Coarse->eval();
    Fine->eval();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'Fine' is still in eval mode when the loop trains it again: its BatchNorm2d works as in evaluation from then on; call 'Fine->train()' before the next training pass [torch-eval-mode-not-restored]
    torch::NoGradGuard Guard;
    std::cout << Fine->forward(Batches[0]).argmax(1).eq(Labels).sum()
              << Coarse->forward(Batches[0]).argmax(1).eq(Labels).sum();
  }
}
