// RUN: %check_torch %s torch-retained-graph %t
//
// Replay buffers and caches: classes that exist to keep tensors.

#include <torch/torch.h>

#include <deque>

using torch::Tensor;
using torch::nn::Linear;

struct Experience {
  Tensor state, value;
};

// Grows without limit, and its caller passes values with their graph.
class ReplayBuffer {
public:
  void push(const Tensor &state, const Tensor &value) {
    data.push_back({state, value});
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor {{.*}}kept in 'data' keeps what its backward() would need (its autograd graph) for every iteration
  }
  const Experience &last() const { return data.back(); }

private:
  std::vector<Experience> data;
};

static void rollout(Linear critic, int steps) {
  ReplayBuffer buffer;
  for (int i = 0; i < steps; ++i) {
    auto state = torch::rand({1, 8});
    auto value = critic->forward(state);
    buffer.push(state, value);
  }
  std::cout << buffer.last().value.item<float>() << '\n';
}

// Keys and values of an attention layer: one more per generated token.
struct AttentionImpl : torch::nn::Module {
  AttentionImpl() {
    key = register_module("key", Linear(8, 8));
    value = register_module("value", Linear(8, 8));
  }
  Tensor forward(Tensor token) {
    auto k = key->forward(token);
    auto v = value->forward(token);
    keys.push_back(k);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'k' kept in 'keys' keeps what its backward() would need (its autograd graph) for every iteration
    values.push_back(v);
    auto weights = torch::softmax(torch::stack(keys).matmul(token), 0);
    return (weights.unsqueeze(-1) * torch::stack(values)).sum(0);
  }
  Linear key{nullptr}, value{nullptr};
  std::vector<Tensor> keys, values;
};
TORCH_MODULE(Attention);

static void generate(Attention attention, int length) {
  auto token = torch::rand({8});
  for (int i = 0; i < length; ++i) {
    auto next = attention->forward(token).argmax();
    token = torch::rand({8}) + next;
  }
}

// ----- quiet -----

// Bounded: the oldest goes when a new one comes.
class BoundedBuffer {
public:
  explicit BoundedBuffer(size_t capacity) : capacity(capacity) {}
  void push(const Tensor &state, const Tensor &value) {
    data.push_back({state, value});
    while (data.size() > capacity)
      data.pop_front();
  }

private:
  size_t capacity;
  std::deque<Experience> data;
};

// Grows, but what it is given has no graph.
class DetachingBuffer {
public:
  void push(const Tensor &state, const Tensor &value) {
    data.push_back({state.detach(), value.detach()});
  }

private:
  std::vector<Experience> data;
};

// Grows, and detaches nothing: that is done by its only caller.
class PlainBuffer {
public:
  void push(const Tensor &state, const Tensor &value) {
    data.emplace_back(state, value);
  }

private:
  std::vector<std::pair<Tensor, Tensor>> data;
};

static void quietRollout(Linear critic, int steps) {
  BoundedBuffer bounded(100);
  DetachingBuffer detaching;
  PlainBuffer plain;
  for (int i = 0; i < steps; ++i) {
    auto state = torch::rand({1, 8});
    auto value = critic->forward(state);
    bounded.push(state, value);
    detaching.push(state, value);
    plain.push(state, value.detach());
  }
}

int main() {
  Linear critic(8, 1);
  rollout(critic, 1000);
  quietRollout(critic, 1000);
  generate(Attention(), 100);
}
