// Transfer learning over a stream of tasks: a frozen convolutional backbone
// gives features, a small adapter is tuned all along, and every task gets a
// fresh head. When a task is over, its accuracy is noted and the next begins.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr int64_t kSide = 32;
constexpr int64_t kFeatures = 384;
constexpr int64_t kLabels = 20;
constexpr int64_t kBatch = 32;
constexpr int64_t kStepsPerTask = 10;

struct BackboneImpl : torch::nn::Module {
  BackboneImpl() {
    using torch::nn::Conv2dOptions;
    stem = register_module(
        "stem",
        torch::nn::Conv2d(Conv2dOptions(3, 24, 5).stride(2).padding(2)));
    body = register_module(
        "body",
        torch::nn::Conv2d(Conv2dOptions(24, 48, 3).stride(2).padding(1)));
    tail = register_module(
        "tail",
        torch::nn::Conv2d(Conv2dOptions(48, 96, 3).stride(2).padding(1)));
    for (torch::Tensor &parameter : parameters())
      parameter.requires_grad_(false);
  }

  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(stem(x));
    x = torch::relu(body(x));
    x = torch::relu(tail(x));
    return torch::adaptive_avg_pool2d(x, {2, 2}).flatten(1);
  }

  torch::nn::Conv2d stem{nullptr}, body{nullptr}, tail{nullptr};
};
TORCH_MODULE(Backbone);

// Scale, shift and a low-rank correction of the features.
struct AdapterImpl : torch::nn::Module {
  AdapterImpl() : down(kFeatures, 24), up(24, kFeatures) {
    register_module("down", down);
    register_module("up", up);
    scale = register_parameter("scale", torch::ones({kFeatures}));
    shift = register_parameter("shift", torch::zeros({kFeatures}));
    torch::nn::init::zeros_(up->weight);
  }

  torch::Tensor forward(const torch::Tensor &x) {
    return x * scale + shift + up(torch::tanh(down(x)));
  }

  torch::nn::Linear down, up;
  torch::Tensor scale, shift;
};
TORCH_MODULE(Adapter);

struct TaskHeadImpl : torch::nn::Module {
  TaskHeadImpl() : hidden(kFeatures, 896), out(896, kLabels), drop(0.1) {
    register_module("hidden", hidden);
    register_module("out", out);
    register_module("drop", drop);
  }

  torch::Tensor forward(const torch::Tensor &x) {
    return out(drop(torch::relu(hidden(x))));
  }

  torch::nn::Linear hidden, out;
  torch::nn::Dropout drop;
};
TORCH_MODULE(TaskHead);

// A task: every label is a colour pattern of its own plus noise.
class Task {
public:
  explicit Task(int64_t number)
      : number_(number), patterns_(torch::randn({kLabels, 3, 4, 4})) {}

  std::pair<torch::Tensor, torch::Tensor> draw(int64_t count) const {
    const torch::Tensor labels = torch::randint(kLabels, {count}, torch::kLong);
    torch::Tensor images = patterns_.index_select(0, labels)
                               .repeat_interleave(kSide / 4, 2)
                               .repeat_interleave(kSide / 4, 3);
    images = images + torch::randn_like(images) * 0.7;
    return {images, labels};
  }

  int64_t number() const { return number_; }

private:
  int64_t number_;
  torch::Tensor patterns_;
};

class StreamTrainer {
public:
  StreamTrainer()
      : optimizer_(adapter_->parameters(), torch::optim::AdamOptions(1e-3)) {
    backbone_->eval();
  }

  void begin(Task task) {
#ifdef MENDED
    retireHead();
#endif
    task_ = std::make_unique<Task>(std::move(task));
    head_ = TaskHead();
    optimizer_.add_param_group({head_->parameters()});
  }

  double step() {
    const auto [images, labels] = task_->draw(kBatch);
    optimizer_.zero_grad();
    const torch::Tensor loss =
        torch::nn::functional::cross_entropy(score(images), labels);
    loss.backward();
    optimizer_.step();
    return loss.item<double>();
  }

  // Accuracy on new examples of the current task.
  double finish() {
    torch::NoGradGuard guard;
    head_->eval();
    const auto [images, labels] = task_->draw(4 * kBatch);
    const torch::Tensor right = score(images).argmax(1).eq(labels);
    return right.to(torch::kFloat).mean().item<double>();
  }

  int64_t task() const { return task_->number(); }

private:
  torch::Tensor score(const torch::Tensor &images) {
    return head_->forward(adapter_->forward(features(images)));
  }

  torch::Tensor features(const torch::Tensor &images) {
    torch::NoGradGuard guard;
    return backbone_->forward(images);
  }

#ifdef MENDED
  void retireHead() {
    if (head_.is_empty())
      return;
    for (const torch::Tensor &parameter : head_->parameters())
      optimizer_.state().erase(parameter.unsafeGetTensorImpl());
    optimizer_.param_groups().pop_back();
  }
#endif

  Backbone backbone_;
  Adapter adapter_;
  TaskHead head_{nullptr};
  torch::optim::Adam optimizer_;
  std::unique_ptr<Task> task_;
};

} // namespace

int main(int argc, char **argv) {
  int64_t iterations = 560;
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], "--iterations") == 0)
      iterations = std::atoll(argv[i + 1]);

  torch::manual_seed(71);
  StreamTrainer trainer;
  std::vector<double> accuracies;
  double loss_sum = 0.0;
  for (int64_t step = 0; step < iterations; ++step) {
    if (step % kStepsPerTask == 0)
      trainer.begin(Task(step / kStepsPerTask));
    loss_sum += trainer.step();
    if ((step + 1) % kStepsPerTask != 0)
      continue;
    accuracies.push_back(trainer.finish());
    if (accuracies.size() % 8 == 0)
      std::printf("task %3lld  loss %.4f  accuracy %.3f\n",
                  static_cast<long long>(trainer.task()),
                  loss_sum / kStepsPerTask, accuracies.back());
    loss_sum = 0.0;
  }

  double mean = 0.0;
  for (const double accuracy : accuracies)
    mean += accuracy / static_cast<double>(accuracies.size());
  std::printf("%zu tasks, mean accuracy %.3f\n", accuracies.size(), mean);
  return 0;
}
