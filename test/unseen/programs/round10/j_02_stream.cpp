// Speech enhancement daemon: takes PCM packets from conference channels, estimates a mask with a
// small recurrent network and hands the cleaned magnitude to the mixer.
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

constexpr int64_t kFft = 512;
constexpr int64_t kHop = 256;
constexpr int64_t kBins = kFft / 2 + 1;
constexpr int64_t kSegment = 8000;
constexpr size_t kWavHeader = 44;

using Clock = std::chrono::steady_clock;

// ---------------------------------------------------------------------------------- packets

struct Packet {
  int channel = 0;
  std::vector<int16_t> pcm;
};

static Packet make_packet(int channel, int seed) {
  Packet p;
  p.channel = channel;
  p.pcm.resize(kSegment);
  for (size_t i = 0; i < p.pcm.size(); ++i) {
    const double t = static_cast<double>(i) / 16000.0;
    p.pcm[i] = static_cast<int16_t>(9000.0 * std::sin(2.0 * M_PI * (180.0 + 40.0 * seed) * t));
  }
  return p;
}

static std::vector<uint8_t> make_wav(int seed) {
  const Packet p = make_packet(0, seed);
  std::vector<uint8_t> bytes(kWavHeader + p.pcm.size() * sizeof(int16_t), 0);
  std::memcpy(bytes.data() + kWavHeader, p.pcm.data(), p.pcm.size() * sizeof(int16_t));
  return bytes;
}

static torch::Tensor decode_packet(Packet packet) {
  auto ints = torch::from_blob(packet.pcm.data(), {static_cast<int64_t>(packet.pcm.size())}, torch::kInt16);
  return ints.to(torch::kFloat32).div_(32768.0);  // RIGHT: torch-blob-lifetime
}

static torch::Tensor decode_wav(std::vector<uint8_t>& bytes) {
  const auto n = static_cast<int64_t>((bytes.size() - kWavHeader) / 2);
  auto samples = torch::from_blob(bytes.data() + kWavHeader, {n}, torch::kInt16);  // RIGHT: torch-blob-dtype
  return samples.to(torch::kFloat32).div_(32768.0);
}

// Takes recorded by the test rig are floats already.
static std::vector<float> read_take(int seed) {
  std::vector<float> out(kSegment);
  for (size_t i = 0; i < out.size(); ++i) out[i] = 0.3f * std::sin(0.01f * static_cast<float>(i * (seed + 1)));
  return out;
}

static torch::Tensor load_take(int seed) {
  std::vector<float> samples = read_take(seed);
  const int64_t n = static_cast<int64_t>(samples.size());
  auto wave = torch::from_blob(samples.data(), {n}, torch::kFloat32);
  return wave.to(torch::kFloat32);  // EXPECT: torch-blob-lifetime
}

static torch::Tensor share_take(int seed) {
  auto keep = std::make_shared<std::vector<float>>(read_take(seed));
  return torch::from_blob(keep->data(), {static_cast<int64_t>(keep->size())},  // RIGHT: torch-blob-lifetime
                          [keep](void*) {}, torch::kFloat32);
}

// ---------------------------------------------------------------------------------- front end

class FrontEnd {
 public:
  FrontEnd() {
    std::vector<double> taps(kFft);
    for (int64_t i = 0; i < kFft; ++i) {
      taps[static_cast<size_t>(i)] = 0.5 - 0.5 * std::cos(2.0 * M_PI * static_cast<double>(i) / kFft);
    }
    auto raw = torch::from_blob(taps.data(), {kFft});  // EXPECT: torch-blob-dtype
    window_ = raw.clone();
  }

  // (frames, 1, bins)
  torch::Tensor magnitude(const torch::Tensor& wave) const {
    auto spec = torch::stft(wave, kFft, kHop, kFft, window_, /*center=*/true, "reflect",
                            /*normalized=*/false, /*onesided=*/true, /*return_complex=*/true);
    return spec.abs().t().unsqueeze(1).contiguous();
  }

 private:
  torch::Tensor window_;
};

// ---------------------------------------------------------------------------------- network

struct Carry {
  torch::Tensor h, c;
};

class EnhancerImpl : public torch::nn::Module {
 public:
  explicit EnhancerImpl(int64_t hidden)
      : lstm_(register_module("lstm", torch::nn::LSTM(torch::nn::LSTMOptions(kBins, hidden)))),
        out_(register_module("out", torch::nn::Linear(hidden, kBins))) {}

  std::pair<torch::Tensor, Carry> step(const torch::Tensor& x, const Carry& carry) {
    torch::optional<std::tuple<torch::Tensor, torch::Tensor>> start;
    if (carry.h.defined()) start = std::make_tuple(carry.h, carry.c);
    auto [y, last] = lstm_->forward(x, start);
    return {torch::sigmoid(out_->forward(y)), Carry{std::get<0>(last), std::get<1>(last)}};
  }

  torch::Tensor forward(const torch::Tensor& x) { return step(x, Carry{}).first * x; }

 private:
  torch::nn::LSTM lstm_;
  torch::nn::Linear out_;
};
TORCH_MODULE(Enhancer);

// Adapts to the speaker over consecutive segments.
static void adapt(Enhancer& net, const std::vector<torch::Tensor>& segments) {
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(1e-3));
  net->train();
  Carry carry;
  for (const auto& segment : segments) {
    optimizer.zero_grad();
    auto [mask, next] = net->step(segment, carry);
    auto loss = torch::mse_loss(mask * segment, segment.clamp_max(1.0));
    loss.backward();
    optimizer.step();
    carry.h = next.h.detach();
    carry.c = next.c;  // EXPECT: torch-undetached-hidden-state
  }
  net->eval();
}

// One conference channel; its state lives as long as the call.
class Channel {
 public:
  explicit Channel(Enhancer net) : net_(std::move(net)) {}

  torch::Tensor push(const torch::Tensor& features) {
    torch::NoGradGuard no_grad;
    auto [mask, next] = net_->step(features, carry_);
    carry_ = next;  // RIGHT: torch-undetached-hidden-state
    return mask * features;
  }

 private:
  Enhancer net_;
  Carry carry_;
};

// ---------------------------------------------------------------------------------- noise floor

class NoiseTracker {
 public:
  void calibrate(const std::vector<torch::Tensor>& quiet) {
    c10::InferenceMode guard;
    auto sum = torch::zeros({kBins}, quiet.front().options());
    for (const auto& q : quiet) sum += q.flatten(0, 1).mean(0);  // RIGHT: torch-inference-tensor
    floor_ = sum / static_cast<double>(quiet.size());
    smooth_ = floor_;
  }

  void follow(const torch::Tensor& features) {
    floor_.mul_(0.95).add_(features.flatten(0, 1).mean(0), 0.05);  // EXPECT: torch-inference-tensor
  }

  void follow_slowly(const torch::Tensor& features) {
    smooth_ = torch::lerp(smooth_, features.flatten(0, 1).mean(0), 0.01);  // RIGHT: torch-inference-tensor
  }

  torch::Tensor level() const { return smooth_.mean(); }

 private:
  torch::Tensor floor_;
  torch::Tensor smooth_;
};

// ---------------------------------------------------------------------------------- peaks

struct FrameView {
  const float* data = nullptr;
  int64_t frames = 0;
  int64_t bins = 0;
};

static FrameView view_frames(const torch::Tensor& t) {
  return FrameView{t.const_data_ptr<float>(), t.size(0), t.size(-1)};
}

static int64_t loudest(const FrameView& v) {
  double best = -1.0;
  int64_t where = 0;
  for (int64_t f = 0; f < v.frames; ++f) {
    double energy = 0.0;
    for (int64_t b = 0; b < v.bins; ++b) energy += v.data[f * v.bins + b];
    if (energy > best) {
      best = energy;
      where = f;
    }
  }
  return where;
}

static int64_t loudest_after_gain(const torch::Tensor& features, double gain) {
  const FrameView view = view_frames(features.mul(gain));  // EXPECT: torch-dangling-data
  return loudest(view);
}

static int64_t loudest_plain(const torch::Tensor& features) {
  const auto host = features.cpu().contiguous();
  const FrameView view = view_frames(host);  // RIGHT: torch-dangling-data
  return loudest(view);
}

static int64_t loudest_inline(const torch::Tensor& features, double gain) {
  return loudest(view_frames(features.cpu().mul(gain)));  // RIGHT: torch-dangling-data
}

// ---------------------------------------------------------------------------------- transport

static std::vector<torch::Tensor> upload(const std::vector<torch::Tensor>& hosts, torch::Device device) {
  std::vector<torch::Tensor> out;
  out.reserve(hosts.size());
  for (const auto& h : hosts) out.push_back(h.to(device, /*non_blocking=*/true));  // EXPECT: torch-pageable-transfer
  return out;
}

static torch::Tensor upload_archive(const torch::Tensor& archive, torch::Device device) {
  if (!device.is_cuda()) return archive;
  const auto pinned = archive.pin_memory();
  return pinned.to(device, /*non_blocking=*/true);  // RIGHT: torch-pageable-transfer
}

class MixerSink {
 public:
  void write(const torch::Tensor& cleaned) {
    staged_ = cleaned.to(torch::kCPU, /*non_blocking=*/true);  // EXPECT: torch-unsynchronized-copy
    append(staged_);
  }

  void write_many(const std::vector<torch::Tensor>& parts) {
    std::vector<torch::Tensor> host;
    for (const auto& p : parts) host.push_back(p.to(torch::kCPU, /*non_blocking=*/true));  // RIGHT: torch-unsynchronized-copy
    if (torch::cuda::is_available()) torch::cuda::synchronize();
    for (const auto& h : host) append(h);
  }

  size_t size() const { return bytes_.size(); }

 private:
  void append(const torch::Tensor& t) {
    const size_t old = bytes_.size();
    bytes_.resize(old + t.nbytes());
    std::memcpy(bytes_.data() + old, t.const_data_ptr(), t.nbytes());
  }
  torch::Tensor staged_;
  std::vector<char> bytes_;
};

// ---------------------------------------------------------------------------------- serving

static std::vector<torch::Tensor> enhance_all(Enhancer& net, const std::vector<torch::Tensor>& features) {
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> results(features.size());
  std::vector<std::thread> pool;
  for (size_t i = 0; i < features.size(); ++i) {
    pool.emplace_back([&net, &features, &results, i] {
      results[i] = net->forward(features[i]);  // EXPECT: torch-thread-local-guard
    });
  }
  for (auto& t : pool) t.join();
  return results;
}

static void enhance_in_background(Enhancer& net, const torch::Tensor& features,
                                  const std::function<void(torch::Tensor)>& done) {
  torch::NoGradGuard no_grad;
  std::thread worker([&] {
    torch::NoGradGuard mine;
    done(net->forward(features));  // RIGHT: torch-thread-local-guard
  });
  worker.join();
}

static double milliseconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

static double latency(Enhancer& net, const torch::Tensor& features, int rounds) {
  torch::NoGradGuard no_grad;
  const auto begin = Clock::now();
  for (int i = 0; i < rounds; ++i) net->forward(features);
  return milliseconds(begin, Clock::now()) / rounds;  // EXPECT: torch-timing-without-sync
}

static double latency_to_host(Enhancer& net, const torch::Tensor& features) {
  torch::NoGradGuard no_grad;
  const auto begin = Clock::now();
  const auto host = net->forward(features).cpu();
  const auto end = Clock::now();  // RIGHT: torch-timing-without-sync
  return host.numel() > 0 ? milliseconds(begin, end) : 0.0;
}

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  torch::manual_seed(3);
  const std::set<std::string> flags(argv + 1, argv + argc);
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);

  FrontEnd front;
  Enhancer net(96);
  net->to(device);
  net->eval();

  std::vector<torch::Tensor> hosts;
  for (int c = 0; c < 3; ++c) hosts.push_back(front.magnitude(decode_packet(make_packet(c, c))));
  auto wav = make_wav(5);
  hosts.push_back(front.magnitude(decode_wav(wav)));
  hosts.push_back(front.magnitude(share_take(2)));
  if (flags.count("--replay")) hosts.push_back(front.magnitude(load_take(4)));

  const auto features = upload(hosts, device);
  const auto archive = upload_archive(torch::cat(hosts, 0), device);
  if (flags.count("--adapt")) adapt(net, features);

  MixerSink sink;
  sink.write_many(enhance_all(net, features));

  Channel channel(net);
  for (const auto& f : features) sink.write(channel.push(f));
  enhance_in_background(net, archive, [&sink](torch::Tensor t) { sink.write_many({t}); });

  NoiseTracker noise;
  noise.calibrate(features);
  for (const auto& f : features) {
    noise.follow_slowly(f);
    if (flags.count("--track")) noise.follow(f);
  }

  std::cout << "bytes to the mixer: " << sink.size() << "\n"
            << "noise level: " << noise.level().item<float>() << "\n"
            << "loudest frames: " << loudest_plain(features[0]) << " " << loudest_inline(features[1], 2.0) << "\n"
            << "latency: " << latency(net, features[0], 3) << " ms, to host "
            << latency_to_host(net, features[0]) << " ms\n";
  if (flags.count("--peaks")) std::cout << "after gain: " << loudest_after_gain(hosts[2], 4.0) << "\n";
  return 0;
}
