// Face-gallery service: requests come in from sessions, a worker batches them,
// embeds them and answers with the nearest identities.
#include <torch/torch.h>
#include <ATen/DeviceAccelerator.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace gallery {

constexpr int64_t kSide = 32;
constexpr int64_t kDim = 64;
constexpr int64_t kBatch = 16;

// ------------------------------------------------------------------ embedder

class EmbedderImpl : public torch::nn::Module {
 public:
  EmbedderImpl() {
    body_ = register_module(
        "body", torch::nn::Sequential(torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 16, 3).stride(2)), torch::nn::ReLU(),
                                      torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 32, 3).stride(2)), torch::nn::ReLU(),
                                      torch::nn::AdaptiveAvgPool2d(2), torch::nn::Flatten()));
    out_ = register_module("out", torch::nn::Linear(128, kDim));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    return torch::nn::functional::normalize(out_(body_->forward(x)), torch::nn::functional::NormalizeFuncOptions().dim(1));
  }

 private:
  torch::nn::Sequential body_{nullptr};
  torch::nn::Linear out_{nullptr};
};
TORCH_MODULE(Embedder);

// ------------------------------------------------------------------ requests

struct Answer {
  int64_t id = -1;
  float score = 0.f;
};

struct Session {
  std::string peer;
  int received = 0;
  std::function<void(const Answer&)> on_answer;
};

struct Request {
  torch::Tensor image;  // uint8, [3, side, side], on the host
  std::shared_ptr<Session> from;
};

std::shared_ptr<Session> open_session(const std::string& peer) {
  auto s = std::make_shared<Session>();
  s->peer = peer;
  std::weak_ptr<Session> weak = s;
  s->on_answer = [weak](const Answer& a) {  // RIGHT: torch-reference-cycle
    if (auto self = weak.lock()) self->received += a.id >= 0;
  };
  return s;
}

class Queue {
 public:
  void push(Request r) {
    {
      std::lock_guard<std::mutex> l(m_);
      q_.push_back(std::move(r));
    }
    cv_.notify_one();
  }
  void close() {
    {
      std::lock_guard<std::mutex> l(m_);
      closed_ = true;
    }
    cv_.notify_all();
  }
  bool pop(std::vector<Request>& out, size_t most) {
    std::unique_lock<std::mutex> l(m_);
    cv_.wait(l, [&] { return closed_ || !q_.empty(); });
    out.clear();
    while (!q_.empty() && out.size() < most) {
      out.push_back(std::move(q_.front()));
      q_.pop_front();
    }
    return !out.empty();
  }

 private:
  std::mutex m_;
  std::condition_variable cv_;
  std::deque<Request> q_;
  bool closed_ = false;
};

// ------------------------------------------------------------------- gallery

class Gallery {
 public:
  explicit Gallery(torch::Device dev) : dev_(dev) {}

  void enrol(Embedder net, const torch::Tensor& images, int64_t ids) {
    c10::InferenceMode guard;
    auto x = images.to(dev_).to(torch::kFloat32).div_(255.f);
    auto e = net(x).view({ids, -1, kDim});
    centroids_ = e.mean(1);
    spread_ = e.var(1).mean(1);
  }

  // Follows slow changes of a face.
  void follow(int64_t id, const torch::Tensor& embedding) {
    centroids_.select(0, id).lerp_(embedding, 0.05);  // EXPECT: torch-inference-tensor
  }

  void relax(double by) {
    c10::InferenceMode guard;
    spread_.mul_(by);  // RIGHT: torch-inference-tensor
  }

  torch::Tensor scores(const torch::Tensor& e) const {
    TORCH_CHECK(e.device() == dev_, "embedding on ", e.device());  // EXPECT: torch-device-comparison
    return torch::matmul(e, centroids_.t());
  }

  torch::Tensor distance(const torch::Tensor& e) const {
    TORCH_CHECK(e.device() == centroids_.device(), "embedding on ", e.device());  // RIGHT: torch-device-comparison
    return torch::cdist(e, centroids_).div_(spread_.add(1e-3).sqrt_());
  }

  std::string describe() const {
    auto host = centroids_.to(torch::kCPU, torch::kFloat64);  // EXPECT: torch-transfer-for-metadata
    return std::to_string(host.size(0)) + " identities of " + std::to_string(host.size(1)) + " numbers";
  }

  void save(const std::string& path) const {
    auto host = centroids_.cpu().contiguous();  // RIGHT: torch-transfer-for-metadata
    std::ofstream os(path, std::ios::binary);
    const int64_t n = host.size(0);
    os.write(reinterpret_cast<const char*>(&n), sizeof(n));
    const float* p = host.data_ptr<float>();  // RIGHT: torch-dangling-data
    os.write(reinterpret_cast<const char*>(p), host.numel() * static_cast<std::streamsize>(sizeof(float)));
  }

  // Trains a small calibration of the score on what the gallery holds.
  double calibrate(int steps) {
    auto rows = centroids_.clone();
    torch::nn::Linear scale(kDim, 1);
    scale->to(dev_);
    torch::optim::SGD opt(scale->parameters(), torch::optim::SGDOptions(0.1));
    auto want = torch::ones({rows.size(0), 1}, torch::TensorOptions().device(dev_));
    torch::Tensor loss;
    for (int i = 0; i < steps; ++i) {
      loss = torch::mse_loss(scale(rows), want);  // RIGHT: torch-inference-tensor
      opt.zero_grad();
      loss.backward();
      opt.step();
    }
    return loss.item<double>();
  }

  torch::Device device() const { return dev_; }

 private:
  torch::Device dev_;
  torch::Tensor centroids_, spread_;
};

// -------------------------------------------------------------------- worker

struct Staging {
  torch::Tensor in, out;
  explicit Staging(int64_t ids) {
    const bool cuda = torch::cuda::is_available();
    in = torch::empty({kBatch, 3, kSide, kSide}, torch::TensorOptions(torch::kUInt8).pinned_memory(cuda));
    out = torch::empty({kBatch, ids}, torch::TensorOptions(torch::kFloat32).pinned_memory(cuda));
  }
};

class Worker {
 public:
  Worker(Embedder net, Gallery& g, int64_t ids) : net_(net), g_(g), stage_(ids) {}

  void run(Queue& q) {
    torch::InferenceMode guard;
    std::vector<Request> batch;
    while (q.pop(batch, kBatch)) {
      try {
        serve(batch);
      } catch (const c10::OutOfMemoryError&) {
        if (torch::cuda::is_available()) at::accelerator::emptyCache();  // RIGHT: torch-empty-cache-in-loop
        for (auto& r : batch) serve({r});
      }
    }
  }

  // Offline pass over an archive, with its own batches.
  std::vector<int64_t> sweep(const std::vector<torch::Tensor>& archive) {
    torch::InferenceMode guard;
    std::vector<int64_t> best;
    for (size_t b = 0; b < archive.size(); b += kBatch) {
      const size_t end = std::min(archive.size(), b + static_cast<size_t>(kBatch));
      std::vector<torch::Tensor> part(archive.begin() + b, archive.begin() + end);
      auto images = torch::stack(part);
      auto x = images.to(g_.device(), /*non_blocking=*/true);  // EXPECT: torch-pageable-transfer
      auto near = g_.distance(net_(x.to(torch::kFloat32).div_(255.f))).argmin(1).cpu();
      auto acc = near.accessor<int64_t, 1>();
      for (int64_t i = 0; i < near.size(0); ++i) best.push_back(acc[i]);
      if (torch::cuda::is_available()) at::accelerator::emptyCache();  // EXPECT: torch-empty-cache-in-loop
    }
    return best;
  }

  // Embeds bursts of frames of one person and keeps the best pose of each.
  torch::Tensor bursts(const std::vector<std::vector<torch::Tensor>>& all) {
    torch::InferenceMode guard;
    std::vector<torch::Tensor> out;
    for (const auto& frames : all) {
      auto x = torch::stack(frames).clone().to(g_.device());  // EXPECT: torch-redundant-transfer
      auto e = net_(x.to(torch::kFloat32).div_(255.f));
      out.push_back(e.mean(0));
    }
    return torch::stack(out);
  }

  int64_t served() const { return served_; }

 private:
  void serve(const std::vector<Request>& batch) {
    const auto n = static_cast<int64_t>(batch.size());
    for (int64_t i = 0; i < n; ++i) stage_.in[i].copy_(batch[i].image);
    auto x = stage_.in.narrow(0, 0, n).to(g_.device(), /*non_blocking=*/true);  // RIGHT: torch-pageable-transfer
    auto e = net_(x.to(torch::kFloat32).div_(255.f));
    auto s = g_.scores(e);
    auto host = stage_.out.narrow(0, 0, n);
    host.copy_(s, /*non_blocking=*/true);  // EXPECT: torch-unsynchronized-copy
    served_ += n;
    const float* row = host.data_ptr<float>();
    for (const auto& r : batch) {
      Answer a;
      for (int64_t k = 0; k < host.size(1); ++k)
        if (a.id < 0 || row[k] > a.score) a = {k, row[k]};
      r.from->on_answer(a);
      row += host.size(1);
    }
  }

  Embedder net_;
  Gallery& g_;
  Staging stage_;
  int64_t served_ = 0;
};

// Histogram of the scores of a probe set, for the operator's page.
std::map<int, int> histogram(const Gallery& g, const torch::Tensor& e) {
  auto s = g.distance(e);
  auto host = s.to(torch::kCPU, /*non_blocking=*/true);  // RIGHT: torch-unsynchronized-copy
  std::map<int, int> h;
  if (s.is_cuda()) torch::cuda::synchronize();
  const float* p = host.const_data_ptr<float>();
  for (int64_t i = 0; i < host.numel(); ++i) ++h[static_cast<int>(p[i] * 4)];
  return h;
}

// ------------------------------------------------------------------ training

struct Drift {
  std::map<std::string, torch::Tensor> norms;
};

// Notes how strongly each weight is pulled while the embedder is adapted.
void adapt(Embedder net, const torch::Tensor& x, Drift& drift, int steps) {
  Embedder local;
  local->to(x.device());
  {
    torch::NoGradGuard guard;
    auto into = local->named_parameters();
    for (const auto& kv : net->named_parameters()) into[kv.key()].copy_(kv.value());
  }
  for (auto& kv : local->named_parameters()) {
    auto p = kv.value();
    auto& slot = drift.norms[kv.key()];
    slot = torch::zeros({}, p.options().requires_grad(false));
    auto sum = slot;
    p.register_hook([sum](torch::Tensor g) { sum.add_(g.norm()); });  // RIGHT: torch-reference-cycle
    if (p.dim() > 1) {
      p.register_hook([p](torch::Tensor g) { return g.add(p.detach(), 1e-4); });  // EXPECT: torch-reference-cycle
    }
  }
  torch::optim::SGD opt(local->parameters(), torch::optim::SGDOptions(1e-2));
  for (int i = 0; i < steps; ++i) {
    auto a = local(x);
    auto b = local(x.flip({3}));
    auto loss = torch::mse_loss(a, b);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

torch::Tensor synthetic(int64_t n) {
  return torch::randint(0, 256, {n, 3, kSide, kSide}, torch::kUInt8);
}

torch::Tensor darken(const torch::Tensor& image, torch::Device dev) {
  auto work = image.to(dev, torch::kUInt8, /*non_blocking=*/false, /*copy=*/true);  // RIGHT: torch-redundant-transfer
  work.bitwise_right_shift_(1);
  return work;
}

void print_layout(const torch::Tensor& x) {
  at::IntArrayRef flat = x.flatten(1).sizes();  // EXPECT: torch-dangling-data
  std::cout << "layout";
  for (int64_t s : flat) std::cout << ' ' << s;
  std::cout << "\n";
}

std::vector<int64_t> flat_layout(const torch::Tensor& x) {
  return x.flatten(1).sizes().vec();  // RIGHT: torch-dangling-data
}

}  // namespace gallery

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  torch::manual_seed(2);
  using namespace gallery;
  const std::string mode = argc > 1 ? argv[1] : "";
  const torch::Device dev(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);

  constexpr int64_t ids = 8;
  Embedder net;
  net->to(dev);
  net->eval();
  auto people = synthetic(ids * 4);
  Drift drift;
  adapt(net, people.to(dev).to(torch::kFloat32).div_(255.f), drift, 3);
  if (torch::cuda::is_available()) at::accelerator::emptyCache();  // RIGHT: torch-empty-cache-in-loop

  Gallery g(dev);
  g.enrol(net, people, ids);
  g.relax(1.1);
  std::cout << g.describe() << ", calibrated to " << g.calibrate(5) << "\n";
  g.save("/dev/null");

  Queue q;
  Worker w(net, g, ids);
  std::thread th([&] { w.run(q); });
  std::vector<std::shared_ptr<Session>> sessions;
  for (int i = 0; i < 3; ++i) sessions.push_back(open_session("peer" + std::to_string(i)));
  for (int64_t i = 0; i < people.size(0); ++i) q.push({people[i], sessions[i % 3]});
  q.close();
  th.join();
  std::cout << "served " << w.served() << ", first peer got " << sessions[0]->received << "\n";

  auto archive = synthetic(40).unbind(0);
  std::cout << "swept " << w.sweep(archive).size() << "\n";
  auto e = w.bursts({{archive.begin(), archive.begin() + 4}, {archive.begin() + 4, archive.begin() + 9}});
  std::cout << "histogram of " << histogram(g, e).size() << " bins, " << flat_layout(e.unsqueeze(2)).size() << "\n";
  std::cout << "dark " << darken(people[0], dev).max().item<int>() << "\n";
  if (mode == "--follow") g.follow(0, e[0]);
  if (mode == "--layout") print_layout(people);
  return 0;
}
