// Keyword spotting: trains a small recurrent spotter on rendered recordings and
// then runs it over a live stream.
#include <torch/torch.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace kws {

constexpr int64_t kRate = 16000;
constexpr int64_t kWin = 400;
constexpr int64_t kHop = 160;
constexpr int64_t kBins = kWin / 2 + 1;
constexpr int64_t kBands = 40;
constexpr int64_t kClasses = 6;

struct PcmChunk {
  std::vector<int16_t> samples;
  double start = 0.0;
};

PcmChunk render(int64_t word, double seconds, std::mt19937& rng) {
  PcmChunk c;
  c.samples.resize(static_cast<size_t>(seconds * kRate));
  std::normal_distribution<float> noise(0.f, 400.f);
  const float f = 200.f + 150.f * static_cast<float>(word);
  for (size_t i = 0; i < c.samples.size(); ++i) {
    const float s = 6000.f * std::sin(2.f * 3.14159265f * f * i / kRate) + noise(rng);
    c.samples[i] = static_cast<int16_t>(s);
  }
  return c;
}

std::vector<double> hann() {
  std::vector<double> w(kWin);
  for (int64_t i = 0; i < kWin; ++i)
    w[i] = 0.5 - 0.5 * std::cos(2.0 * M_PI * i / (kWin - 1));
  return w;
}

std::vector<double> triangles() {
  std::vector<double> m(kBins * kBands, 0.0);
  for (int64_t b = 0; b < kBands; ++b) {
    const double centre = (b + 1.0) * kBins / (kBands + 1.0);
    const double half = static_cast<double>(kBins) / (kBands + 1.0);
    for (int64_t k = 0; k < kBins; ++k)
      m[k * kBands + b] = std::max(0.0, 1.0 - std::abs(k - centre) / half);
  }
  return m;
}

class FrontEnd {
 public:
  explicit FrontEnd(torch::Device dev)
      : dev_(dev), host_(torch::TensorOptions().dtype(torch::kFloat32)) {
    auto w = hann();
    window_ = torch::from_blob(w.data(), {kWin}, torch::kFloat64)  // RIGHT: torch-blob-dtype
                  .to(torch::kFloat32)  // RIGHT: torch-convert-before-transfer
                  .to(dev_);
    auto bank = triangles();
    bank_ = torch::from_blob(bank.data(), {kBins, kBands}, host_).clone().to(dev_);  // EXPECT: torch-blob-dtype
  }

  // pcm: int16 on the host, [samples] -> [frames, bands]
  torch::Tensor features(const torch::Tensor& pcm) const {
    auto x = pcm.to(torch::kFloat32).mul(1.f / 32768.f).to(dev_);  // EXPECT: torch-convert-before-transfer
    return spectrum(x);
  }

  torch::Tensor features_batch(const torch::Tensor& pcm) const {
    auto x = pcm.to(dev_).to(torch::kFloat32) / 32768.f;  // RIGHT: torch-convert-before-transfer
    return spectrum(x);
  }

  torch::Device device() const { return dev_; }

 private:
  torch::Tensor spectrum(const torch::Tensor& x) const {
    auto frames = x.unfold(-1, kWin, kHop) * window_;
    auto power = torch::fft::rfft(frames).abs().square();
    auto mel = torch::matmul(power, bank_);
    return torch::nan_to_num(mel, 0.0, 0.0, 0.0).clamp(1e-6, 1e6).log_();
  }

  torch::Device dev_;
  torch::TensorOptions host_;
  torch::Tensor window_, bank_;
};

// ---------------------------------------------------------------- recordings

struct Recording {
  std::string id;
  int64_t label = 0;
  torch::Tensor pcm;
};

Recording load_recording(const std::string& id, int64_t label, std::mt19937& rng) {
  PcmChunk chunk = render(label, 1.0, rng);
  Recording r;
  r.id = id;
  r.label = label;
  const auto n = static_cast<int64_t>(chunk.samples.size());
  r.pcm = torch::from_blob(chunk.samples.data(), {n}, torch::kInt16);  // EXPECT: torch-blob-lifetime
  return r;
}

Recording load_owned(const std::string& id, int64_t label, double seconds, std::mt19937& rng) {
  auto chunk = std::make_shared<PcmChunk>(render(label, seconds, rng));
  const auto n = static_cast<int64_t>(chunk->samples.size());
  auto t = torch::from_blob(chunk->samples.data(), {n}, [chunk](void*) {}, torch::kInt16);  // RIGHT: torch-blob-lifetime
  return {id, label, t};
}

struct CacheHeader {
  char magic[4] = {'K', 'W', 'S', '1'};
  int64_t rows = 0, cols = 0;
  uint64_t bytes = 0;
};

void write_cache(const std::string& path, const torch::Tensor& feats) {
  auto t = feats.detach().to(torch::kCPU).contiguous();
  const auto dtype = t.scalar_type();
  CacheHeader h;
  h.rows = t.size(0);
  h.cols = t.size(1);
  h.bytes = static_cast<uint64_t>(t.numel()) * sizeof(dtype);  // EXPECT: torch-sizeof-dtype
  std::ofstream os(path, std::ios::binary);
  os.write(reinterpret_cast<const char*>(&h), sizeof(h));
  os.write(reinterpret_cast<const char*>(&dtype), sizeof(dtype));  // RIGHT: torch-sizeof-dtype
  os.write(static_cast<const char*>(t.data_ptr()), static_cast<std::streamsize>(h.bytes));
}

size_t footprint(const std::vector<Recording>& rs) {
  size_t total = 0;
  for (const auto& r : rs)
    total += r.pcm.numel() * c10::elementSize(r.pcm.scalar_type());  // RIGHT: torch-sizeof-dtype
  return total;
}

// --------------------------------------------------------------------- model

using State = std::tuple<torch::Tensor, torch::Tensor>;

struct SpotterImpl : torch::nn::Module {
  SpotterImpl(int64_t hidden)
      : lstm(torch::nn::LSTMOptions(kBands, hidden).batch_first(true)),
        head(hidden, kClasses) {
    register_module("lstm", lstm);
    register_module("head", head);
  }

  std::tuple<torch::Tensor, State> encode(const torch::Tensor& x, torch::optional<State> s = {}) {
    return lstm->forward(x, s);
  }

  torch::Tensor posterior(const torch::Tensor& x) {
    auto [y, s] = encode(x);
    return torch::softmax(head(y.mean(1)), -1);
  }

  torch::Tensor log_posterior(const torch::Tensor& x) {
    auto [y, s] = encode(x);
    return torch::log_softmax(head(y.mean(1)), -1);
  }

  torch::nn::LSTM lstm;
  torch::nn::Linear head;
};
TORCH_MODULE(Spotter);

struct Corpus {
  torch::Tensor x, y;
};

Corpus make_corpus(const FrontEnd& fe, int64_t n, std::mt19937& rng) {
  std::vector<torch::Tensor> rows;
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < n; ++i) {
    auto chunk = render(i % kClasses, 0.5, rng);
    rows.push_back(torch::from_blob(chunk.samples.data(), {static_cast<int64_t>(chunk.samples.size())}, torch::kInt16).clone());  // RIGHT: torch-blob-lifetime
    labels.push_back(i % kClasses);
  }
  Corpus c;
  c.x = fe.features_batch(torch::stack(rows));
  c.y = torch::tensor(labels, torch::kInt64).to(fe.device());
  return c;
}

void fit(Spotter& net, const Corpus& train, int epochs) {
  torch::optim::Adam opt(net->parameters(), torch::optim::AdamOptions(2e-3));
  net->train();
  for (int e = 0; e < epochs; ++e) {
    auto order = torch::randperm(train.x.size(0), train.y.options());
    for (const auto& idx : order.split(16)) {
      opt.zero_grad();
      auto p = net->posterior(train.x.index_select(0, idx));
      auto loss = torch::nll_loss(p, train.y.index_select(0, idx));  // EXPECT: torch-loss-input
      loss.backward();
      opt.step();
    }
  }
}

void refine(Spotter& net, const Corpus& train) {
  torch::optim::SGD opt(net->parameters(), torch::optim::SGDOptions(1e-3).momentum(0.9));
  for (const auto& idx : torch::arange(train.x.size(0), train.y.options()).split(16)) {
    opt.zero_grad();
    auto lp = net->log_posterior(train.x.index_select(0, idx));
    torch::nll_loss(lp, train.y.index_select(0, idx)).backward();  // RIGHT: torch-loss-input
    opt.step();
  }
}

double accuracy(Spotter& net, const Corpus& test) {
  net->eval();
  auto hits = torch::zeros({}, test.y.options());
  const int64_t batch = 64;
  for (int64_t b = 0; b < test.x.size(0); b += batch) {
    auto xb = test.x.slice(0, b, b + batch);
    auto guess = net->posterior(xb).argmax(-1);  // EXPECT: torch-missing-no-grad
    hits += guess.eq(test.y.slice(0, b, b + batch)).sum();
  }
  net->train();
  return hits.item<double>() / static_cast<double>(test.x.size(0));
}

// Adapts to one speaker from a long enrolment take, chunk by chunk.
void adapt(Spotter& net, const torch::Tensor& feats, int64_t label, int64_t chunk) {
  torch::optim::SGD opt(net->parameters(), torch::optim::SGDOptions(1e-4));
  auto target = torch::full({1}, label, torch::TensorOptions(torch::kInt64).device(feats.device()));
  torch::optional<State> carry;
  for (int64_t t = 0; t + chunk <= feats.size(0); t += chunk) {
    auto [y, s] = net->encode(feats.slice(0, t, t + chunk).unsqueeze(0), carry);
    auto loss = torch::cross_entropy_loss(net->head(y.mean(1)), target);
    opt.zero_grad();
    loss.backward();
    opt.step();
    carry = State{std::get<0>(s).detach(), std::get<1>(s)};  // EXPECT: torch-undetached-hidden-state
  }
}

void adapt_careful(Spotter& net, const torch::Tensor& feats, int64_t label, int64_t chunk) {
  torch::optim::SGD opt(net->parameters(), torch::optim::SGDOptions(1e-4));
  auto target = torch::full({1}, label, torch::TensorOptions(torch::kInt64).device(feats.device()));
  State carry;
  bool fresh = true;
  for (int64_t t = 0; t + chunk <= feats.size(0); t += chunk) {
    torch::optional<State> in;
    if (!fresh) in = State{std::get<0>(carry).detach(), std::get<1>(carry).detach()};
    auto [y, s] = net->encode(feats.slice(0, t, t + chunk).unsqueeze(0), in);
    opt.zero_grad();
    torch::cross_entropy_loss(net->head(y.mean(1)), target).backward();
    opt.step();
    carry = s;  // RIGHT: torch-undetached-hidden-state
    fresh = false;
  }
}

// -------------------------------------------------------------------- stream

struct Hit {
  std::string source;
  int64_t frame;
  torch::Tensor clip;
};

class Stream {
 public:
  Stream(Spotter net, const FrontEnd& fe) : net_(std::move(net)), fe_(fe) {
    recent_ = torch::zeros({100, kBands}, torch::TensorOptions().device(fe.device()));
  }

  void push(const torch::Tensor& pcm) {
    torch::NoGradGuard off;
    auto f = fe_.features(pcm);
    recent_ = torch::cat({recent_.slice(0, f.size(0)), f}, 0);  // RIGHT: torch-cat-in-loop
    auto [y, s] = net_->encode(f.unsqueeze(0), state_);
    state_ = s;  // RIGHT: torch-undetached-hidden-state
    auto p = torch::softmax(net_->head(y.squeeze(0)), -1);
    trace_.push_back(p.cpu());
  }

  torch::Tensor trace() const { return torch::cat(trace_, 0); }

 private:
  Spotter net_;
  const FrontEnd& fe_;
  torch::optional<State> state_;
  torch::Tensor recent_;
  std::vector<torch::Tensor> trace_;
};

torch::Tensor transcript(Spotter& net, const std::vector<Recording>& rs, const FrontEnd& fe) {
  torch::NoGradGuard off;
  torch::Tensor all;
  for (const auto& r : rs) {
    auto lp = net->log_posterior(fe.features(r.pcm).unsqueeze(0));  // RIGHT: torch-missing-no-grad
    if (!all.defined()) {
      all = lp;
      continue;
    }
    all = torch::vstack({all, lp});  // EXPECT: torch-cat-in-loop
  }
  return all;
}

std::vector<Hit> mine(const std::vector<std::string>& archive, std::mt19937& rng) {
  std::vector<Hit> hits;
  for (const auto& id : archive) {
    auto rec = load_owned(id, 2, 20.0, rng);
    auto energy = rec.pcm.to(torch::kFloat32).square().unfold(0, kWin, kWin).mean(1);
    const int64_t at = energy.argmax().item<int64_t>();
    auto clip = rec.pcm.narrow(0, at * kWin, kWin);
    hits.push_back({id, at, clip});  // EXPECT: torch-view-pins-storage
  }
  return hits;
}

std::vector<Hit> mine_tail(const std::vector<std::string>& archive, std::mt19937& rng) {
  std::vector<Hit> hits;
  for (const auto& id : archive) {
    auto rec = load_owned(id, 3, 20.0, rng);
    auto clip = rec.pcm.slice(0, rec.pcm.size(0) - kWin);
    hits.push_back({id, -1, clip.clone()});  // RIGHT: torch-view-pins-storage
  }
  return hits;
}

}  // namespace kws

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  torch::manual_seed(3);
  using namespace kws;
  const std::string mode = argc > 1 ? argv[1] : "";
  torch::Device dev(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  std::mt19937 rng(5);

  FrontEnd fe(dev);
  Spotter net(32);
  net->to(dev);
  auto train = make_corpus(fe, 96, rng);
  auto test = make_corpus(fe, 48, rng);
  fit(net, train, 2);
  refine(net, train);
  std::cout << "accuracy " << accuracy(net, test) << "\n";

  std::vector<Recording> recs;
  for (int64_t i = 0; i < 6; ++i) recs.push_back(load_owned("r" + std::to_string(i), i, 0.5, rng));
  std::cout << "bytes " << footprint(recs) << " rows " << transcript(net, recs, fe).size(0) << "\n";
  write_cache("/dev/null", test.x[0]);

  adapt_careful(net, fe.features(recs[1].pcm), 1, 8);
  if (mode == "--adapt") adapt(net, fe.features(recs[1].pcm), 1, 8);
  if (mode == "--reload") {
    auto r = load_recording("again", 4, rng);
    std::cout << fe.features(r.pcm).sizes() << "\n";
  }

  Stream live(net, fe);
  for (const auto& r : recs) live.push(r.pcm);
  std::cout << "trace " << live.trace().sizes() << "\n";
  const std::vector<std::string> archive = {"a0", "a1", "a2"};
  std::cout << mine(archive, rng).size() + mine_tail(archive, rng).size() << " clips\n";
  return 0;
}
