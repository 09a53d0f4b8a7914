// RUN: %check_torch %s torch-leaf-inplace %t
//
// A guard is one however it is made, and InferenceMode stays until it is left: none of
// these throws. Each second function shows where the guard does not help.

#include <torch/torch.h>

#include <memory>
#include <optional>

using torch::Tensor;

static Tensor weight() { return torch::ones({2}, torch::requires_grad()); }

static void uniqueAutoGradMode() {
  auto w = weight();
  auto off = std::make_unique<torch::AutoGradMode>(false);
  w.add_(1);
}

static void uniqueAutoGradModeOn() {
  auto w = weight();
  auto on = std::make_unique<torch::AutoGradMode>(true);
  w.add_(1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on 'w'
}

static void sharedInferenceMode() {
  auto w = weight();
  auto guard = std::make_shared<torch::InferenceMode>();
  torch::AutoGradMode on(true);
  w.add_(1);
}

static void uniqueInferenceModeOver() {
  auto w = weight();
  auto guard = std::make_unique<torch::InferenceMode>();
  guard.reset();
  torch::AutoGradMode on(true);
  w.add_(1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on 'w'
}

static void newedAutoGradMode() {
  auto w = weight();
  std::unique_ptr<torch::AutoGradMode> off(new torch::AutoGradMode(false));
  w.add_(1);
}

static void resetToGuard() {
  auto w = weight();
  std::unique_ptr<torch::NoGradGuard> guard;
  guard.reset(new torch::NoGradGuard);
  w.add_(1);
}

static void emplacedAutoGradMode() {
  auto w = weight();
  std::optional<torch::AutoGradMode> off;
  off.emplace(false);
  w.add_(1);
}

static void emplacedInferenceMode() {
  auto w = weight();
  std::optional<torch::InferenceMode> guard;
  guard.emplace();
  torch::AutoGradMode on(true);
  w.add_(1);
}

static void emplacedAndReset() {
  auto w = weight();
  std::optional<torch::AutoGradMode> off;
  off.emplace(false);
  off.reset();
  w.add_(1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on 'w'
}

static void setInInferenceMode() {
  auto w = weight();
  torch::InferenceMode guard;
  torch::GradMode::set_enabled(true);
  w.add_(1);
}

static void setAfterInferenceMode() {
  auto w = weight();
  {
    torch::InferenceMode guard;
  }
  torch::GradMode::set_enabled(true);
  w.add_(1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on 'w'
}

struct Evaluation {
  std::unique_ptr<torch::AutoGradMode> off = std::make_unique<torch::AutoGradMode>(false);
  void run(Tensor w) { w.add_(1); }
};

static void memberInitializer() {
  auto w = weight();
  Evaluation evaluation;
  evaluation.run(w);
}

int main() {
  uniqueAutoGradMode();
  uniqueAutoGradModeOn();
  sharedInferenceMode();
  uniqueInferenceModeOver();
  newedAutoGradMode();
  resetToGuard();
  emplacedAutoGradMode();
  emplacedInferenceMode();
  emplacedAndReset();
  setInInferenceMode();
  setAfterInferenceMode();
  memberInitializer();
}
