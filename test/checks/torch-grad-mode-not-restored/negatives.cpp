// RUN: %check_torch %s torch-grad-mode-not-restored %t
//
// What looks like the mistake and is right, or is not known to be wrong.

#include <torch/torch.h>

#include <memory>
#include <optional>
#include <thread>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;
using Tensors = std::vector<Tensor>;

void learn(Linear &net, SGD &opt, const Tensors &xs) {
  for (const Tensor &x : xs) {
    opt.zero_grad();
    net->forward(x).sum().backward();
    opt.step();
  }
}
void show(Linear &net, const Tensors &xs) {
  for (const Tensor &x : xs)
    std::cout << net->forward(x).sum().item<float>();
}

// Guards, LibTorch's and others.
struct NoGrad {
  bool old = at::GradMode::is_enabled();
  NoGrad() { at::GradMode::set_enabled(false); }
  ~NoGrad() { at::GradMode::set_enabled(old); }
};
struct Wrapper {
  torch::NoGradGuard guard;
};
void guards(const Tensors &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    learn(net, opt, xs);
    {
      torch::NoGradGuard guard;
      if (xs.empty())
        continue;
      show(net, xs);
    }
    learn(net, opt, xs);
    {
      NoGrad guard;
      if (xs.empty())
        continue;
      show(net, xs);
    }
    learn(net, opt, xs);
    {
      Wrapper guard;
      show(net, xs);
      torch::AutoGradMode inner(true);
      learn(net, opt, xs);
    }
    learn(net, opt, xs);
    {
      c10::InferenceMode guard;
      show(net, xs);
    }
  }
}
// On the heap, and ended on every path.
void heap(const Tensors &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    learn(net, opt, xs);
    {
      auto guard = std::make_unique<torch::NoGradGuard>();
      show(net, xs);
    }
    learn(net, opt, xs);
    auto *guard = new torch::NoGradGuard;
    show(net, xs);
    delete guard;
    learn(net, opt, xs);
    std::optional<torch::NoGradGuard> perhaps;
    perhaps.emplace();
    show(net, xs);
    perhaps.reset();
    learn(net, opt, xs);
    auto early = std::make_unique<torch::NoGradGuard>();
    show(net, xs);
    early.reset();
    learn(net, opt, xs);
    auto nobody = std::make_unique<torch::NoGradGuard>();
    show(net, xs);
    nobody = nullptr;
    learn(net, opt, xs);
  }
}
struct Phases {
  std::unique_ptr<torch::NoGradGuard> guard;
  void begin() { guard = std::make_unique<torch::NoGradGuard>(); }
  void end() { guard.reset(); }
};
struct PlainPhases {
  torch::NoGradGuard *guard = nullptr;
  void begin() { guard = new torch::NoGradGuard; }
  void end() { delete guard; }
};
template <class Phase> void phases(const Tensors &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  Phase phase;
  for (int epoch = 0; epoch < 9; ++epoch) {
    learn(net, opt, xs);
    phase.begin();
    show(net, xs);
    phase.end();
  }
}
template void phases<Phases>(const Tensors &);
template void phases<PlainPhases>(const Tensors &);

// Restored: by a constant, by what was saved, where the training begins.
void restored(const Tensors &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    learn(net, opt, xs);
    at::GradMode::set_enabled(false);
    show(net, xs);
    at::GradMode::set_enabled(true);
  }
  for (int epoch = 0; epoch < 9; ++epoch) {
    learn(net, opt, xs);
    const bool old = at::GradMode::is_enabled();
    at::GradMode::set_enabled(false);
    show(net, xs);
    at::GradMode::set_enabled(old);
  }
  for (int epoch = 0; epoch < 9; ++epoch) {
    torch::autograd::GradMode::set_enabled(true);
    learn(net, opt, xs);
    torch::autograd::GradMode::set_enabled(false);
    show(net, xs);
  }
  for (int epoch = 0; epoch < 9; ++epoch) {
    for (bool training : {true, false}) {
      at::GradMode::set_enabled(training);
      if (training)
        learn(net, opt, xs);
      else
        show(net, xs);
    }
  }
  at::GradMode::set_enabled(false);
  {
    torch::AutoGradMode inner(true);
    learn(net, opt, xs);
  }
  show(net, xs);
}
void pass(Linear &net, SGD &opt, const Tensors &xs, bool training) {
  if (!training)
    at::GradMode::set_enabled(false);
  for (const Tensor &x : xs) {
    Tensor loss = net->forward(x).sum();
    if (training) {
      opt.zero_grad();
      loss.backward();
      opt.step();
    }
  }
  if (!training)
    at::GradMode::set_enabled(true);
}
void passes(const Tensors &xs, bool both) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    pass(net, opt, xs, true);
    pass(net, opt, xs, false);
    pass(net, opt, xs, both);
  }
}
// Whoever wrote these conditions knows when it is due.
void conditions(const Tensors &xs, bool evaluates, bool trains) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    const bool was = at::GradMode::is_enabled();
    at::GradMode::set_enabled(false);
    show(net, xs);
    if (was)
      at::GradMode::set_enabled(true);
    learn(net, opt, xs);
  }
  for (int epoch = 0; epoch < 9; ++epoch) {
    if (evaluates)
      at::GradMode::set_enabled(false);
    for (const Tensor &x : xs) {
      Tensor loss = net->forward(x).sum();
      if (trains)
        loss.backward();
    }
  }
}
Tensor collect(Linear &net, const Tensors &xs) {
  at::GradMode::set_enabled(false);
  return net->forward(xs.front());
}
void collecting(const Tensors &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  Tensors seen;
  for (int step = 0; step < 900; ++step) {
    seen.push_back(collect(net, xs));
    if (seen.size() < 32)
      continue;
    at::GradMode::set_enabled(true);
    learn(net, opt, seen);
    seen.clear();
  }
}
// In another file.
void prepareTraining(Linear &net);
void recordAgain();
void records(bool everything);
void recordsAll(bool really = true);
void unseen(const Tensors &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    prepareTraining(net);
    learn(net, opt, xs);
    at::GradMode::set_enabled(false);
    show(net, xs);
  }
  for (int epoch = 0; epoch < 9; ++epoch) {
    at::GradMode::set_enabled(false);
    show(net, xs);
    recordAgain();
    learn(net, opt, xs);
  }
  for (int epoch = 0; epoch < 9; ++epoch) {
    at::GradMode::set_enabled(false);
    show(net, xs);
    records(true);
    learn(net, opt, xs);
  }
  for (int epoch = 0; epoch < 9; ++epoch) {
    at::GradMode::set_enabled(false);
    show(net, xs);
    recordsAll();
    learn(net, opt, xs);
  }
}

// What needs a graph was recorded before.
void before(const Tensors &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  for (const Tensor &x : xs) {
    Tensor loss = net->forward(x).sum();
    at::GradMode::set_enabled(false);
    show(net, xs);
    loss.backward();
    opt.step();
    at::GradMode::set_enabled(true);
  }
  Linear critic(2, 1);
  for (const Tensor &x : xs) {
    at::GradMode::set_enabled(false);
    Tensor fake = net->forward(x);
    at::GradMode::set_enabled(true);
    critic->forward(fake).sum().backward();
  }
}
// Another thread has a mode of its own.
void threads(const Tensors &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    learn(net, opt, xs);
    std::thread other([&] {
      at::GradMode::set_enabled(false);
      show(net, xs);
    });
    other.join();
  }
}
// No training comes after it.
void afterwards(const Tensors &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    learn(net, opt, xs);
    if (epoch == 8)
      at::GradMode::set_enabled(false);
  }
  show(net, xs);
}
void infer(Linear &net, const Tensors &xs) {
  static torch::NoGradGuard guard;
  at::GradMode::set_enabled(false);
  show(net, xs);
}
void expected(Tensor x) {
  Linear net(4, 2);
  at::GradMode::set_enabled(false);
  Tensor loss = net->forward(x).sum();
  try {
    loss.backward();
  } catch (const c10::Error &) {
  }
  at::GradMode::set_enabled(true);
  if (loss.requires_grad())
    loss.backward();
  net->forward(x).sum().backward();
}
int main() {
  at::GradMode::set_enabled(false);
  Linear net(4, 2);
  for (int i = 0; i < 9; ++i)
    show(net, {torch::rand({4})});
}
