// RUN: %check_torch %s torch-unused-gradients %t
//
// A teacher that is trained by another function, before and after: what clears
// its gradients before its next step leaves nothing of those that the student's
// backward() has added.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

static void fit(Linear &net, const Tensor &x, const Tensor &y) {
  torch::optim::Adam opt(net->parameters(), 1e-3);
  for (int i = 0; i < 10; ++i) {
    auto loss = torch::mse_loss(net->forward(x), y);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

// Cleared by the module itself.
static void refresh(Linear &net, torch::optim::SGD &opt, const Tensor &x) {
  net->zero_grad();
  net->forward(x).mean().backward();
  opt.step();
}

class Distiller {
public:
  Distiller(Linear student, Linear teacher)
      : student_(student), teacher_(teacher), opt_(student_->parameters(), 1e-3) {}

  void run(const Tensor &x) {
    for (int i = 0; i < 10; ++i) {
      auto soft = teacher_->forward(x);
      // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: forward pass of 'teacher_' records a graph, and backward() goes through it for gradients that no optimizer uses (memory, time); put 'torch::NoGradGuard no_grad;' around it, or set 'requires_grad_(false)' on its parameters [torch-unused-gradients]
      auto loss = torch::mse_loss(student_->forward(x), soft);
      opt_.zero_grad();
      loss.backward();
      opt_.step();
    }
  }

private:
  Linear student_, teacher_;
  torch::optim::Adam opt_;
};

// In one loop with the teacher's own step.
static void alternate(const Tensor &x, const Tensor &y) {
  Linear student(4, 4), teacher(4, 4);
  torch::optim::SGD small(student->parameters(), 0.1);
  torch::optim::SGD large(teacher->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    auto aim = teacher->forward(x);
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: forward pass of 'teacher' records
    small.zero_grad();
    torch::mse_loss(student->forward(x), aim).backward();
    small.step();
    refresh(teacher, large, x);
  }
}

// The gradients of both losses are for the teacher as well: nothing clears
// those of the first.
static void together(const Tensor &x, const Tensor &y) {
  Linear student(4, 4), teacher(4, 4);
  torch::optim::SGD small(student->parameters(), 0.1);
  torch::optim::SGD large(teacher->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    large.zero_grad();
    small.zero_grad();
    torch::mse_loss(student->forward(x), teacher->forward(x)).backward();
    small.step();
    torch::mse_loss(teacher->forward(x), y).backward();
    large.step();
  }
}

// They are cleared on some paths only.
static void sometimes(const Tensor &x, bool clears) {
  Linear student(4, 4), teacher(4, 4);
  torch::optim::SGD small(student->parameters(), 0.1);
  torch::optim::SGD large(teacher->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    small.zero_grad();
    torch::mse_loss(student->forward(x), teacher->forward(x)).backward();
    small.step();
    if (clears)
      large.zero_grad();
    large.step();
  }
}

// What is cleared is another network's.
static void another(const Tensor &x) {
  Linear student(4, 4), teacher(4, 4), third(4, 4);
  torch::optim::SGD small(student->parameters(), 0.1);
  torch::optim::SGD large(teacher->parameters(), 0.1);
  torch::optim::SGD last(third->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    small.zero_grad();
    torch::mse_loss(student->forward(x), teacher->forward(x)).backward();
    small.step();
    last.zero_grad();
    third->zero_grad();
    large.step();
  }
}

// One network makes the input of the other: torch-undetached-generator-output
// asks who trains which.
static void adversarial(const Tensor &z, const Tensor &real) {
  Linear gen(4, 4), critic(4, 1);
  torch::optim::SGD of_gen(gen->parameters(), 0.1);
  torch::optim::SGD of_critic(critic->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    auto fake = gen->forward(z);
    of_critic.zero_grad();
    (critic->forward(fake) - critic->forward(real)).mean().backward();
    of_critic.step();
    of_gen.zero_grad();
    critic->forward(gen->forward(z)).mean().neg().backward();
    of_gen.step();
  }
}

int main() {
  auto x = torch::rand({8, 4}), y = torch::rand({8, 4});
  Linear student(4, 4), teacher(4, 4);
  fit(teacher, x, y);
  Distiller distiller(student, teacher);
  distiller.run(x);
  fit(teacher, y, x);
  alternate(x, y);
  together(x, y);
  sometimes(x, y.sum().item<float>() > 1);
  another(x);
  adversarial(x, y);
}
