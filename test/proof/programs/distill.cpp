// A student learns from a teacher and from labels; running averages beside it.

#include <torch/torch.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

namespace {

constexpr int64_t kWidth = 10;
constexpr int64_t kClasses = 4;

struct Gelu {
  torch::Tensor operator()(const torch::Tensor& x) const { return torch::gelu(x); }
};

// Subtracts the running mean of its inputs.
template <class Activation>
struct StudentImpl : torch::nn::Module {
  StudentImpl() {
    mean = register_buffer("mean", torch::zeros({kWidth}));
    body = register_module("body", torch::nn::Linear(kWidth, 16));
    labels = register_module("labels", torch::nn::Linear(16, kClasses));
    scores = register_module("scores", torch::nn::Linear(16, kClasses));
  }

  torch::Tensor features(const torch::Tensor& x) {
    if (is_training()) {
      // PLANT true torch-reassigned-member/buffer: the registered buffer keeps its zeros
      mean = 0.9 * mean + 0.1 * x.mean(0);
    }
    return Activation()(body(x - mean));
  }

  torch::Tensor mean;
  torch::nn::Linear body{nullptr}, labels{nullptr}, scores{nullptr};
};

using GeluStudent = StudentImpl<Gelu>;

torch::nn::Sequential makeTeacher() {
  torch::nn::Sequential teacher(torch::nn::Linear(kWidth, 32), torch::nn::Tanh(), torch::nn::Linear(32, 32),
                                torch::nn::Tanh(), torch::nn::Linear(32, kClasses));
  torch::optim::Adam optimizer(teacher->parameters(), 0.01);
  for (int step = 0; step < 50; ++step) {
    const auto x = torch::randn({64, kWidth});
    const auto loss = torch::cross_entropy_loss(teacher->forward(x), x.narrow(1, 0, kClasses).argmax(1));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  return teacher;
}

class Distiller {
 public:
  Distiller(std::shared_ptr<GeluStudent> student, torch::nn::Sequential teacher)
      : student_(std::move(student)), teacher_(std::move(teacher)), optimizer_(student_->parameters(), 0.01) {}

  torch::Tensor step(const torch::Tensor& x, const torch::Tensor& target) {
    // PLANT true torch-unused-gradients/unused loop=L: nothing trains the teacher any more
    const auto wanted = teacher_->forward(x);
    tally(target);
    // PLANT innocent torch-repeated-transfer/converts loop=L: tally() has changed the counts
    const auto counts = seen_.to(torch::kFloat);
    const auto weights = counts.sum() / (counts + 1);

    const auto features = student_->features(x);
    const auto hard = torch::cross_entropy_loss(student_->labels(features), target, weights);
    const auto soft = torch::mse_loss(student_->scores(features), wanted);
    optimizer_.zero_grad();
    // PLANT innocent torch-retain-graph-in-loop/kept loop=L: the backward() of the other loss goes through the features again
    hard.backward({}, /*retain_graph=*/true);
    soft.backward();
    optimizer_.step();
    return hard;
  }

 private:
  void tally(const torch::Tensor& target) {
    auto row = seen_.view({-1});
    row.index_add_(0, target, torch::ones_like(target));
  }

  std::shared_ptr<GeluStudent> student_;
  torch::nn::Sequential teacher_;
  torch::optim::Adam optimizer_;
  torch::Tensor seen_ = torch::zeros({kClasses}, torch::kLong);
};

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(0);

  auto student = std::make_shared<GeluStudent>();
  Distiller distiller(student, makeTeacher());
  torch::Tensor average;
  double lowest = 100;
  const auto watch = [&average](const torch::Tensor& loss) {
    if (!average.defined()) {
      average = loss.detach();
      return;
    }
    // PLANT true torch-retained-graph/chains loop=L: the average holds on to the graphs of all losses
    average = 0.95 * average + 0.05 * loss;
  };
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int batch = 0; batch < 40; ++batch) {  // AT L
      const auto x = torch::randn({64, kWidth}) + 0.5;
      const auto loss = distiller.step(x, x.narrow(1, 0, kClasses).argmax(1));
      watch(loss);
      lowest = std::min(lowest, loss.item<double>());
    }
    std::cout << "epoch " << epoch << " average " << average.item<double>() << " lowest " << lowest << '\n';
  }
  student->eval();
  torch::NoGradGuard no_grad;
  const auto x = torch::randn({256, kWidth}) + 0.5;
  const auto hits = student->labels(student->features(x)).argmax(1).eq(x.narrow(1, 0, kClasses).argmax(1));
  std::cout << "accuracy " << hits.to(torch::kFloat).mean().item<double>() << '\n';
  return 0;
}
