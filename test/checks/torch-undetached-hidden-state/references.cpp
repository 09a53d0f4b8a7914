// RUN: %check_torch %s torch-undetached-hidden-state %t -still-warns
//
// A reference to the state of one of many streams: what is detached through it
// is what is read through it.

#include <thread>
#include <torch/torch.h>
#include <unordered_map>

using torch::Tensor;

struct CellImpl : torch::nn::Module {
  torch::nn::GRUCell memory{nullptr};
  torch::nn::Linear head{nullptr};
  CellImpl() {
    memory = register_module("memory", torch::nn::GRUCell(8, 8));
    head = register_module("head", torch::nn::Linear(8, 4));
  }
  std::pair<Tensor, Tensor> forward(const Tensor &x, const Tensor &h) {
    auto next = memory(x, h);
    return {head(next), next};
  }
};
TORCH_MODULE(Cell);

bool take(int64_t &stream, std::vector<float> &samples);

void keeps(Cell net) {
  std::unordered_map<int64_t, Tensor> states;
  int64_t stream;
  std::vector<float> samples;
  while (take(stream, samples)) {
    auto &state = states[stream];
    if (!state.defined())
      state = torch::zeros({1, 8});
    auto [logits, next] = net->forward(torch::tensor(samples), state);
    state = next;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'state' carries what its backward() needs (its autograd graph) into the next iteration: no backward() frees it, so memory grows
    std::cout << logits.argmax(1).item<int64_t>();
  }
}

void assigns(Cell net) {
  std::unordered_map<int64_t, Tensor> states;
  int64_t stream;
  std::vector<float> samples;
  while (take(stream, samples)) {
    auto &state = states[stream];
    if (!state.defined())
      state = torch::zeros({1, 8});
    state = state.detach();
    auto [logits, next] = net->forward(torch::tensor(samples), state);
    state = next;
    std::cout << logits.argmax(1).item<int64_t>();
  }
}

void inPlace(Cell net) {
  std::map<int64_t, Tensor> states;
  int64_t stream;
  std::vector<float> samples;
  while (take(stream, samples)) {
    Tensor &state =
        states.try_emplace(stream, torch::zeros({1, 8})).first->second;
    state.detach_();
    auto [logits, next] = net->forward(torch::tensor(samples), state);
    state = next;
    std::cout << logits.argmax(1).item<int64_t>();
  }
}

// The name is another's: what is detached is not what is read.
void another(Cell net) {
  std::unordered_map<int64_t, Tensor> states, others;
  int64_t stream;
  std::vector<float> samples;
  while (take(stream, samples)) {
    auto &state = states[stream];
    auto &other = others[stream];
    if (!state.defined())
      state = torch::zeros({1, 8});
    other = state.detach();
    auto [logits, next] = net->forward(torch::tensor(samples), state);
    state = next;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'state' carries
    std::cout << logits.argmax(1).item<int64_t>();
  }
}

int main() {
  Cell net;
  std::thread(keeps, net).join();
  std::thread(assigns, net).join();
  std::thread(inPlace, net).join();
  std::thread(another, net).join();
}
