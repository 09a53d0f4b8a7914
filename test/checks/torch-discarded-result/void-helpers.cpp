// RUN: %check_torch %s torch-discarded-result %t

// A function without a result has none to keep: what it drops itself is told
// in its body, and not again at each call.
#include <torch/torch.h>

using torch::Tensor;

void use(const Tensor &x);

static void normalize(Tensor x) {
  // CHECK-FIXES: {{^}}  x = x.div(255);
  x.div(255);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.div(255)' returns its result and leaves 'x' as it is
  use(x);
}

static void nothing(const Tensor &) {}
template <class T> void ignore(const T &...) {}

struct Pipeline {
  void scale(const Tensor &x) const { (void)(x * 2); }
};

void run(Tensor batch, Pipeline pipeline) {
  normalize(batch);
  nothing(batch);
  ignore(batch);
  pipeline.scale(batch);
  auto checkShape = [](const Tensor &x) { (void)x.sizes(); };
  checkShape(batch);
  use(batch);
}

// One that returns has.
static Tensor scaled(const Tensor &x) { return x / 255; }
void calls(Tensor batch) {
  // CHECK-FIXES: {{^}}  batch = scaled(batch);
  scaled(batch);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'scaled(batch)' returns its result and leaves 'batch' as it is
  use(batch);
}
