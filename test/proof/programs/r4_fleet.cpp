#include <torch/torch.h>

#include <cstdio>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace {

struct ScorerImpl : torch::nn::Module {
  ScorerImpl() {
    in = register_module("in", torch::nn::Linear(16, 32));
    out = register_module("out", torch::nn::Linear(32, 4));
  }
  torch::Tensor forward(const torch::Tensor& x) { return out(torch::tanh(in(x))); }
  torch::nn::Linear in{nullptr}, out{nullptr};
};
TORCH_MODULE(Scorer);

class Dispatcher {
 public:
  explicit Dispatcher(Scorer net) : net_(std::move(net)) {}

  double serve(int waves) {
    double sum = 0;
    for (int w = 0; w < waves; ++w) {  // AT waves
      std::vector<std::future<torch::Tensor>> answers;
      for (int i = 0; i < 4; ++i)
        answers.push_back(std::async(std::launch::async, [this, w, i] { return answer(w * 4 + i); }));
      for (auto& a : answers) sum += a.get().max().item<double>();
    }
    return sum;
  }

 private:
  torch::Tensor answer(int n) {
    auto x = torch::full({8, 16}, 0.01 * (n % 50));
    // PLANT true torch-thread-local-guard/not-inherited loop=waves: the guard of this object was made by the thread that hands the work out
    auto y = net_->forward(x);
    return torch::softmax(y, 1);
  }

  torch::NoGradGuard no_grad_;
  Scorer net_;
};

torch::Tensor quick(Scorer& net, const torch::Tensor& x) {
  static torch::NoGradGuard no_grad;
  // PLANT true torch-thread-local-guard/static-guard loop=shifts: only the first of the threads has made the guard
  auto y = net->forward(x);
  return y.argmax(1);
}

int64_t shifts(Scorer& net, int count) {
  int64_t sum = 0;
  for (int s = 0; s < count; ++s) {  // AT shifts
    std::thread([&] { sum += quick(net, torch::full({4, 16}, 0.1 * s)).sum().item<int64_t>(); }).join();
  }
  return sum;
}

size_t draw_graphs(Scorer& net, int count) {
  torch::NoGradGuard no_grad;
  size_t letters = 0;
  for (int c = 0; c < count; ++c) {  // AT drawn
    std::thread([&] {
      torch::AutoGradMode record(true);
      // PLANT innocent torch-thread-local-guard/not-inherited loop=drawn: the thread wants the graph, and writes down its nodes
      auto y = net->forward(torch::full({2, 16}, 0.01 * c));
      for (auto node = y.grad_fn(); node; node = node->num_outputs() ? node->next_edge(node->num_outputs() - 1).function : nullptr)
        letters += node->name().size();
    }).join();
  }
  return letters;
}

torch::Tensor fresh_average() {
  c10::InferenceMode inference;
  return torch::zeros({4});
}

std::pair<int, int> averages(Scorer& net, int count) {
  auto average = fresh_average();
  auto copy = average.clone();
  int lost = 0, refused = 0;
  torch::NoGradGuard no_grad;
  for (int c = 0; c < count; ++c) {  // AT averaged
    auto y = net->forward(torch::full({4, 16}, 0.01 * c));
    try {
      // PLANT true torch-inference-tensor/written loop=averaged: it was made in inference mode, and this is outside
      average.mul_(0.9).add_(y.mean(0), 0.1);
    } catch (const c10::Error&) {
      ++lost;
    }
    try {
      // PLANT innocent torch-inference-tensor/written loop=averaged: the copy may be written; it refuses a row that is too long
      copy.add_(y.flatten().slice(0, 0, c % 2 ? 4 : 7));
    } catch (const c10::Error&) {
      ++refused;
    }
  }
  return {lost, refused};
}

struct Backbone {
  Scorer net;
  torch::Tensor operator()(const torch::Tensor& x) {
    c10::InferenceMode inference;
    return torch::relu(net->forward(x));
  }
};

int train_head(Backbone& backbone, int steps) {
  torch::nn::Linear head(4, 2);
  torch::optim::SGD optimizer(head->parameters(), 1e-2);
  int lost = 0;
  for (int s = 0; s < steps; ++s) {  // AT headed
    auto features = backbone(torch::randn({8, 16}));
    try {
      // PLANT true torch-inference-tensor/saved loop=headed: the layer wants to keep features that were made in inference mode
      auto out = head(features);
      optimizer.zero_grad();
      out.pow(2).mean().backward();
      optimizer.step();
    } catch (const c10::Error&) {
      ++lost;
    }
  }
  return lost;
}

torch::nn::Linear make_probe() {
  c10::InferenceMode inference;
  return torch::nn::Linear(16, 1);
}

double train_probe(int steps) {
  auto probe = make_probe();
  torch::optim::SGD optimizer(probe->parameters(), 1e-1);
  const double before = probe->weight.sum().item<double>();
  for (int s = 0; s < steps; ++s) {  // AT probed
    auto x = torch::randn({8, 16});
    optimizer.zero_grad();
    // PLANT true torch-inference-tensor/trained loop=probed: its weights were made in inference mode and never get a gradient
    auto out = probe(x);
    torch::mse_loss(out, x.mean(1, true)).backward();
    optimizer.step();
  }
  return probe->weight.sum().item<double>() - before;
}

struct Session {
  torch::Tensor state, seen;
  std::function<void(double)> done;
  double score = 0;
};

double sessions(Scorer& net, std::vector<std::shared_ptr<Session>>& ledger, int count) {
  double sum = 0;
  for (int c = 0; c < count; ++c) {  // AT sessions
    auto session = std::make_shared<Session>();
    session->state = torch::full({64, 16}, 0.01 * c).requires_grad_();  // AT opened
    std::weak_ptr<Session> weak = session;
    // PLANT innocent torch-reference-cycle/hook loop=sessions built=opened: the hook does not own the session; the ledger does
    session->state.register_hook([weak](torch::Tensor grad) { if (auto s = weak.lock()) s->seen = grad.abs().mean(); });
    // PLANT innocent torch-reference-cycle/callback loop=sessions built=opened: closed below by taking the callback away; the ledger keeps the state
    session->done = [session](double score) { session->score = score; };
    net->forward(session->state).pow(2).sum().backward();
    session->done(session->seen.item<double>());
    session->done = nullptr;
    sum += session->score;
    ledger.push_back(session);
  }
  return sum;
}

struct Rack;
struct Slot {
  std::weak_ptr<Rack> rack;
  torch::Tensor load;
};
struct Rack {
  std::vector<std::shared_ptr<Slot>> slots;
  torch::Tensor space;
};

double build_hall(std::vector<std::shared_ptr<Rack>>& hall, int count) {
  for (int c = 0; c < count; ++c) {  // AT racks
    auto rack = std::make_shared<Rack>();
    rack->space = torch::full({32, 32}, 0.5 + c);  // AT raised
    auto slot = std::make_shared<Slot>();
    slot->load = rack->space.sum();
    // PLANT innocent torch-reference-cycle/part loop=racks built=raised: the slot does not own its rack; the hall owns all of them
    slot->rack = rack;
    rack->slots.push_back(slot);
    hall.push_back(rack);
  }
  return hall.back()->slots[0]->load.item<double>();
}

std::pair<double, int64_t> replay(Scorer& net, int count) {
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> heads, batches, corners;
  for (int c = 0; c < count; ++c) {  // AT replay
    auto batch = torch::full({128, 16}, 0.01 * c);  // AT filled
    // PLANT innocent torch-view-pins-storage/kept loop=replay built=filled: the whole batch is kept beside it, for the replay
    heads.push_back(batch[0]);
    batches.push_back(batch);
    auto scores = net->forward(batch);  // AT judged
    // PLANT innocent torch-view-pins-storage/kept loop=replay built=judged: the column does not lie in order, so contiguous() copies it
    corners.push_back(scores.select(1, 3).contiguous());
  }
  double sum = 0;
  for (size_t i = 0; i < batches.size(); ++i) sum += net->forward(batches[i])[0].sum().item<double>() + heads[i][0].item<double>();
  return {sum, corners.front().storage().nbytes() / corners.front().nbytes()};
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(7);
  Scorer net;
  double served = 0;
  {
    Dispatcher dispatcher(net);
    served = dispatcher.serve(40);
  }
  std::printf("served %.4f\n", served);
  std::printf("graphs %zu\n", draw_graphs(net, 60));
  const auto [lost, refused] = averages(net, 100);
  std::printf("averages %d %d\n", lost, refused);
  Backbone backbone{net};
  std::printf("head %d\n", train_head(backbone, 100));
  std::printf("probe %.6f\n", train_probe(100));
  std::vector<std::shared_ptr<Session>> ledger;
  std::printf("sessions %.4f\n", sessions(net, ledger, 100));
  std::vector<std::shared_ptr<Rack>> hall;
  std::printf("hall %.1f\n", build_hall(hall, 80));
  const auto [sum, factor] = replay(net, 100);
  std::printf("replay %.4f %ld\n", sum, long(factor));
  std::printf("shifts %ld\n", long(shifts(net, 60)));
  return 0;
}
