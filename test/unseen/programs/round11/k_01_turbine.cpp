// Condition monitoring of wind-turbine drive trains.
//
// Accelerometer frames come from the nacelle as 16-bit ADC counts. They are cut
// into overlapping windows, turned into log spectra, and an autoencoder trained
// on healthy machines gives every window a reconstruction error. Windows whose
// error is far above the healthy level become alarms.
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr float kVoltsPerCount = 5.0f / 32768.0f;
constexpr int64_t kBands = 8;

struct Options {
  int epochs = 5;
  int recordings = 64;
  int live = 24;
  int64_t samples = 16384;
  int64_t window = 256;
  int64_t hop = 128;
  int64_t batch = 128;
  int accumulate = 2;
  float factor = 1.4f;
  torch::Device device = torch::cuda::is_available() ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);
  // Gain of every octave band, as the commissioning sheet has it.
  std::vector<double> band_gain = {1.0, 1.0, 0.75, 0.75, 0.5, 0.5, 0.25, 0.25};
};

struct Frame {
  std::vector<int16_t> counts;
  double rpm = 0.0;
};

struct Detector {
  torch::nn::Sequential encoder{nullptr};
  torch::nn::Sequential decoder{nullptr};
};

struct TrainLog {
  std::vector<torch::Tensor> losses;
  std::vector<torch::Tensor> epoch_means;
  double best = 1e30;
};

struct Alarm {
  int recording = 0;
  int64_t window = 0;
  float score = 0.0f;
  torch::Tensor excerpt;
};

struct Snapshot {
  std::vector<torch::Tensor> values;
};

// ---------------------------------------------------------------- signal side

Frame simulate_frame(std::mt19937& rng, int64_t samples, bool damaged) {
  std::normal_distribution<double> noise(0.0, 1.0);
  std::uniform_real_distribution<double> speed(14.0, 18.0);
  Frame frame;
  frame.rpm = speed(rng);
  frame.counts.resize(static_cast<size_t>(samples));
  const double mesh = frame.rpm * 1.7;
  for (int64_t i = 0; i < samples; ++i) {
    const double t = static_cast<double>(i) / 2048.0;
    double v = 4000.0 * std::sin(2 * kPi * mesh * t) + 700.0 * noise(rng);
    if (damaged && (i % 97) < 6) v += 9000.0 * std::exp(-0.5 * (i % 97));
    frame.counts[static_cast<size_t>(i)] = static_cast<int16_t>(std::clamp(v, -32000.0, 32000.0));
  }
  return frame;
}

// The counts are sent to the device as they are: two bytes a sample.
torch::Tensor decode(const Frame& frame, const torch::Device& device) {
  auto raw = torch::from_blob(const_cast<int16_t*>(frame.counts.data()),
                              {static_cast<int64_t>(frame.counts.size())}, torch::kInt16);  // RIGHT: torch-blob-dtype
  auto volts = raw.to(device).to(torch::kFloat32);  // RIGHT: torch-convert-before-transfer
  return volts.mul_(kVoltsPerCount);
}

torch::Tensor as_row(std::vector<float>& values) {
  return torch::from_blob(values.data(), {static_cast<int64_t>(values.size())}, torch::kFloat32);
}

// Impulse response of a damaged outer race, one window long.
torch::Tensor bearing_template(int64_t length, double resonance) {
  std::vector<float> pulse(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) {
    pulse[static_cast<size_t>(i)] =
        static_cast<float>(std::exp(-0.03 * static_cast<double>(i)) * std::sin(resonance * static_cast<double>(i)));
  }
  return as_row(pulse);  // EXPECT: torch-blob-lifetime
}

// Tooth profile of the planetary stage, one window long.
torch::Tensor gear_template(int64_t length, double teeth) {
  std::vector<float> profile(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) {
    profile[static_cast<size_t>(i)] =
        static_cast<float>(std::cos(2 * kPi * teeth * static_cast<double>(i) / static_cast<double>(length)));
  }
  return as_row(profile).clone();  // RIGHT: torch-blob-lifetime
}

torch::Tensor band_gains(Options& options) {
  auto gains = torch::from_blob(options.band_gain.data(), {kBands}, torch::kFloat32);  // EXPECT: torch-blob-dtype
  return gains.to(options.device);
}

// Log spectrum and crest value of every window: [windows, window / 2 + 2].
torch::Tensor extract_features(const torch::Tensor& windows, const torch::Tensor& taper) {
  auto spectrum = torch::fft::rfft(windows * taper).abs().log1p_();
  auto crest = windows.amax({1}, /*keepdim=*/true);
  return torch::cat({spectrum, crest}, 1);  // RIGHT: torch-cat-in-loop
}

torch::Tensor build_features(std::mt19937& rng, const torch::Tensor& taper, const Options& options) {
  torch::Tensor features = torch::empty({0, options.window / 2 + 2}, torch::TensorOptions().device(options.device));
  for (int r = 0; r < options.recordings; ++r) {
    auto signal = decode(simulate_frame(rng, options.samples, false), options.device);
    auto rows = extract_features(signal.unfold(0, options.window, options.hop), taper);
    features = torch::cat({features, rows}, 0);  // EXPECT: torch-cat-in-loop
  }
  return features;
}

Detector make_detector(int64_t width, const torch::Device& device) {
  Detector detector;
  detector.encoder = torch::nn::Sequential(torch::nn::Linear(width, 64), torch::nn::ReLU(),
                                           torch::nn::Dropout(0.1), torch::nn::Linear(64, 12));
  detector.decoder = torch::nn::Sequential(torch::nn::Linear(12, 64), torch::nn::ReLU(),
                                           torch::nn::Linear(64, width));
  detector.encoder->to(device);
  detector.decoder->to(device);
  return detector;
}

void set_training(Detector& detector, bool on) {
  detector.encoder->train(on);
  detector.decoder->train(on);
}

std::vector<torch::Tensor> all_parameters(Detector& detector) {
  auto parameters = detector.encoder->parameters();
  const auto more = detector.decoder->parameters();
  parameters.insert(parameters.end(), more.begin(), more.end());
  return parameters;
}

torch::Tensor reconstruct(Detector& detector, const torch::Tensor& x) {
  return detector.decoder->forward(detector.encoder->forward(x));
}

// One error per window. The monitor calls it with gradients switched off.
torch::Tensor score_windows(Detector& detector, const torch::Tensor& x) {
  auto rebuilt = reconstruct(detector, x);  // RIGHT: torch-missing-no-grad
  return torch::mse_loss(rebuilt, x, torch::Reduction::None).mean(1);
}

Snapshot take_snapshot(Detector& detector) {
  Snapshot snapshot;
  for (const auto& p : all_parameters(detector)) {
    snapshot.values.push_back(p.detach().clone());  // RIGHT: torch-redundant-transfer
  }
  return snapshot;
}

void restore_snapshot(Detector& detector, const Snapshot& snapshot) {
  torch::NoGradGuard no_grad;
  auto parameters = all_parameters(detector);
  for (size_t i = 0; i < parameters.size(); ++i) {
    parameters[i].copy_(snapshot.values[i]);  // RIGHT: torch-leaf-inplace
  }
}

double validate(Detector& detector, const torch::Tensor& held_out, int64_t batch) {
  set_training(detector, false);  // RIGHT: torch-eval-mode-not-restored
  auto total = torch::zeros({}, held_out.options());
  int64_t batches = 0;
  for (int64_t at = 0; at < held_out.size(0); at += batch) {
    auto x = held_out.slice(0, at, std::min(at + batch, held_out.size(0)));
    auto rebuilt = reconstruct(detector, x);  // EXPECT: torch-missing-no-grad
    total.add_(torch::mse_loss(rebuilt, x).detach());
    ++batches;
  }
  return total.item<double>() / static_cast<double>(std::max<int64_t>(batches, 1));
}

void train_epoch(Detector& detector, torch::optim::Optimizer& optimizer, const torch::Tensor& features,
                 const Options& options, TrainLog& log) {
  set_training(detector, true);
  const int64_t rows = features.size(0);
  auto order = torch::randperm(rows, torch::TensorOptions().dtype(torch::kLong).device(features.device()));
  auto sum = torch::zeros({}, features.options());
  int pending = 0;
  int64_t batches = 0;
  optimizer.zero_grad();
  for (int64_t at = 0; at + options.batch <= rows; at += options.batch) {
    auto x = features.index_select(0, order.slice(0, at, at + options.batch));
    auto loss = torch::mse_loss(reconstruct(detector, x), x);
    (loss / options.accumulate).backward();  // RIGHT: torch-missing-zero-grad
    if (++pending == options.accumulate) {
      optimizer.step();
      optimizer.zero_grad();
      pending = 0;
    }
    sum.add_(loss.detach());
    log.losses.push_back(loss);  // EXPECT: torch-retained-graph
    ++batches;
  }
  log.epoch_means.push_back(sum / static_cast<double>(batches));  // RIGHT: torch-retained-graph
}

Snapshot train(Detector& detector, const torch::Tensor& features, const torch::Tensor& held_out,
               const Options& options, TrainLog& log) {
  torch::optim::Adam optimizer(all_parameters(detector), torch::optim::AdamOptions(2e-3));
  Snapshot best = take_snapshot(detector);
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    train_epoch(detector, optimizer, features, options, log);
    const double error = validate(detector, held_out, options.batch);
    const double mean = log.epoch_means.back().item<double>();
    std::printf("epoch %d  train %.5f  held out %.5f\n", epoch, mean, error);
    if (error < log.best) {
      log.best = error;
      best = take_snapshot(detector);
    }
  }
  return best;
}

// ------------------------------------------------------------ monitoring side

// The last two seconds before an alarm, for the service engineer.
torch::Tensor excerpt_of(const torch::Tensor& signal, int64_t window, const Options& options) {
  const int64_t begin = window * options.hop;
  return signal.slice(0, begin, std::min(begin + options.window, signal.size(0)));
}

void print_levels(const torch::Tensor& windows, int recording) {
  const int64_t count = windows.size(0);
  const float* level = windows.std(1).to(torch::kCPU).data_ptr<float>();  // EXPECT: torch-dangling-data
  float low = level[0], high = level[0];
  for (int64_t i = 1; i < count; ++i) {
    low = std::min(low, level[i]);
    high = std::max(high, level[i]);
  }
  std::printf("recording %d  level %.3f .. %.3f V\n", recording, low, high);
}

float healthy_threshold(Detector& detector, const torch::Tensor& features, float factor) {
  auto scores = score_windows(detector, features).to(torch::kCPU);
  const float* p = scores.data_ptr<float>();  // RIGHT: torch-dangling-data
  std::vector<float> sorted(p, p + scores.numel());
  std::nth_element(sorted.begin(), sorted.begin() + sorted.size() / 2, sorted.end());
  return factor * sorted[sorted.size() / 2];
}

std::string pack_excerpt(const torch::Tensor& excerpt) {
  auto host = excerpt.to(torch::kCPU).contiguous();
  std::string packet(host.numel() * sizeof(host.scalar_type()), '\0');  // EXPECT: torch-sizeof-dtype
  std::memcpy(packet.data(), host.data_ptr(), packet.size());
  return packet;
}

std::string pack_model(const Snapshot& snapshot) {
  std::string packet;
  for (const auto& value : snapshot.values) {
    auto host = value.to(torch::kCPU).contiguous();
    const size_t bytes = static_cast<size_t>(host.numel()) * host.element_size();  // RIGHT: torch-sizeof-dtype
    packet.append(static_cast<const char*>(host.data_ptr()), bytes);
  }
  return packet;
}

// Energy of every octave band, weighted by the gains of the sheet.
torch::Tensor band_energy(const torch::Tensor& features, const torch::Tensor& gains) {
  const int64_t used = (features.size(1) / kBands) * kBands;
  auto bands = features.slice(1, 0, used).reshape({features.size(0), kBands, used / kBands});
  return bands.sum(2) * gains;
}

std::vector<Alarm> monitor(Detector& detector, std::mt19937& rng, const torch::Tensor& taper,
                           const torch::Tensor& gains, float threshold, const Options& options) {
  torch::NoGradGuard no_grad;
  set_training(detector, false);
  const auto race = bearing_template(options.window, 0.9).to(options.device);
  const auto gear = gear_template(options.window, 21.0).to(options.device);
  const auto contrast = race - gear;
  std::vector<Alarm> alarms;
  std::vector<torch::Tensor> peaks;
  for (int r = 0; r < options.live; ++r) {
    auto signal = decode(simulate_frame(rng, options.samples, r % 6 == 5), options.device);
    auto windows = signal.unfold(0, options.window, options.hop);
    auto features = extract_features(windows, taper);
    auto scores = score_windows(detector, features);
    auto energy = band_energy(features, gains);
    auto match = torch::mv(windows, contrast);
    peaks.push_back(torch::stack({energy.amax(), match.amax()}));
    if (r % 8 == 0) print_levels(windows, r);
    for (int64_t w = 0; w < scores.size(0); ++w) {
      const float score = scores[w].item<float>();  // EXPECT: torch-element-access-in-loop
      if (score <= threshold) continue;
      alarms.push_back({r, w, score, excerpt_of(signal, w, options)});  // EXPECT: torch-view-pins-storage
      break;
    }
  }
  auto summary = torch::stack(peaks).amax({0}).to(torch::kCPU);
  std::printf("peak energy %.3f  peak match %.3f\n", summary[0].item<float>(), summary[1].item<float>());
  return alarms;
}

std::vector<torch::Tensor> reference_windows(std::mt19937& rng, const Options& options) {
  std::vector<torch::Tensor> references;
  for (int r = 0; r < 4; ++r) {
    auto signal = decode(simulate_frame(rng, options.samples, false), options.device);
    references.push_back(excerpt_of(signal, 3, options).clone());  // RIGHT: torch-view-pins-storage
  }
  return references;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    if (flag == "--epochs") options.epochs = std::atoi(argv[i + 1]);
    if (flag == "--recordings") options.recordings = std::atoi(argv[i + 1]);
    if (flag == "--device") options.device = torch::Device(argv[i + 1]);
  }
  torch::set_num_threads(1);
  torch::manual_seed(7);
  std::mt19937 rng(11);

  const auto taper = torch::hann_window(options.window, torch::TensorOptions().device(options.device));
  auto features = build_features(rng, taper, options);
  const int64_t cut = features.size(0) * 9 / 10;
  auto detector = make_detector(features.size(1), options.device);
  TrainLog log;
  const auto best = train(detector, features.slice(0, 0, cut), features.slice(0, cut), options, log);
  restore_snapshot(detector, best);

  float threshold = 0.0f;
  {
    torch::NoGradGuard no_grad;
    set_training(detector, false);
    threshold = healthy_threshold(detector, features, options.factor);
  }
  const auto gains = band_gains(options);
  const auto alarms = monitor(detector, rng, taper, gains, threshold, options);
  size_t sent = 0;
  for (const auto& alarm : alarms) sent += pack_excerpt(alarm.excerpt).size();
  const auto references = reference_windows(rng, options);
  std::printf("%zu alarms, %zu bytes sent, model %zu bytes, %zu references, %zu steps logged\n", alarms.size(), sent,
              pack_model(best).size(), references.size(), log.losses.size());
  return 0;
}
