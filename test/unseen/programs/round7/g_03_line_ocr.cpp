// Text-line recognition with a convolutional backbone, a bidirectional LSTM
// and CTC. Lines are rendered from a tiny bitmap font.
#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace ocr {

constexpr int64_t kHeight = 16;
constexpr int64_t kGlyph = 8;
constexpr int64_t kChars = 6;
constexpr int64_t kWidth = kGlyph * kChars;
const std::string kAlphabet = "-0123456789";  // index 0 is the CTC blank

struct Options {
  int epochs = 2;
  int64_t lines = 96;
  int64_t batch = 24;
  double learning_rate = 2e-3;
  std::string scan;
  std::string features;
  std::string archive;
};

struct Line {
  std::vector<uint8_t> pixels;  // kHeight x kWidth
  std::vector<int64_t> labels;
};

Line render(std::mt19937& rng) {
  std::uniform_int_distribution<int> digit(1, 10), speckle(0, 40);
  Line line;
  line.pixels.resize(static_cast<size_t>(kHeight * kWidth));
  for (int64_t c = 0; c < kChars; ++c) {
    const int label = digit(rng);
    line.labels.push_back(label);
    for (int64_t y = 0; y < kHeight; ++y) {
      for (int64_t x = 0; x < kGlyph; ++x) {
        const bool ink = ((x * label + y * (label ^ 5)) % 7) < 3 && x > 0;
        line.pixels[static_cast<size_t>(y * kWidth + c * kGlyph + x)] =
            static_cast<uint8_t>((ink ? 200 : 20) + speckle(rng));
      }
    }
  }
  return line;
}

struct Scan {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<uint8_t> pixels;
};

Scan read_pgm(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot open " + path);
  std::string magic;
  int64_t maximum = 0;
  Scan scan;
  in >> magic >> scan.width >> scan.height >> maximum;
  in.get();
  scan.pixels.resize(static_cast<size_t>(scan.width * scan.height));
  in.read(reinterpret_cast<char*>(scan.pixels.data()), static_cast<std::streamsize>(scan.pixels.size()));
  return scan;
}

torch::Tensor scan_to_tensor(Scan& scan) {
  auto page = torch::from_blob(scan.pixels.data(), {scan.height, scan.width}, torch::kFloat32);  // EXPECT: torch-blob-dtype
  return torch::div(page, 255.0);
}

struct LineBatch {
  torch::Tensor images;   // uint8 [N, 1, H, W]
  torch::Tensor targets;  // int64 [N, kChars]
};

class LineDataset : public torch::data::datasets::BatchDataset<LineDataset, LineBatch, std::vector<size_t>> {
 public:
  LineDataset(int64_t lines, unsigned seed) {
    std::mt19937 rng(seed);
    std::vector<torch::Tensor> images, targets;
    for (int64_t i = 0; i < lines; ++i) {
      auto line = render(rng);
      images.push_back(torch::from_blob(line.pixels.data(), {1, kHeight, kWidth}, torch::kUInt8).clone());  // RIGHT: torch-blob-lifetime
      targets.push_back(torch::tensor(line.labels));  // RIGHT: torch-allocation-in-loop
    }
    images_ = torch::stack(images);
    targets_ = torch::stack(targets);
  }

  LineBatch get_batch(std::vector<size_t> indices) override {
    std::vector<int64_t> rows(indices.begin(), indices.end());
    auto index = torch::from_blob(rows.data(), {static_cast<int64_t>(rows.size())}, torch::kInt64);  // RIGHT: torch-blob-dtype
    return {images_.index_select(0, index), targets_.index_select(0, index)};
  }

  torch::optional<size_t> size() const override { return static_cast<size_t>(images_.size(0)); }

 private:
  torch::Tensor images_, targets_;
};

class Backbone : public torch::nn::Module {
 public:
  explicit Backbone(const std::vector<int64_t>& channels) {
    int64_t in = 1;
    for (size_t i = 0; i < channels.size(); ++i) {
      add_stage(i, in, channels[i]);
      in = channels[i];
    }
    pool_ = register_module("pool", torch::nn::AdaptiveAvgPool2d(
                                        torch::nn::AdaptiveAvgPool2dOptions({1, kWidth / 2})));
    mean_ = register_buffer("mean", torch::full({1, 1, kHeight, 1}, 0.45));
  }

  // uint8 or float images to a sequence [T, N, C].
  torch::Tensor forward(const torch::Tensor& images) {
    auto x = images - mean_.repeat({images.size(0), 1, 1, images.size(3)});  // EXPECT: torch-repeat-for-broadcast
    for (size_t i = 0; i < convs_.size(); ++i) {
      x = norms_[i]->forward(convs_[i]->forward(x)).relu_();  // RIGHT: torch-inplace-saved
    }
    return pool_->forward(x).squeeze(2).permute({2, 0, 1});
  }

 private:
  void add_stage(size_t index, int64_t in, int64_t out) {
    torch::nn::Conv2d conv(torch::nn::Conv2dOptions(in, out, 3).padding(1).stride(index == 0 ? 1 : 2).bias(false));
    convs_.push_back(register_module("conv" + std::to_string(index), conv));  // RIGHT: torch-unregistered-module
    norms_.push_back(torch::nn::BatchNorm2d(out));  // EXPECT: torch-unregistered-module
  }

  std::vector<torch::nn::Conv2d> convs_;
  std::vector<torch::nn::BatchNorm2d> norms_;
  torch::nn::AdaptiveAvgPool2d pool_{nullptr};
  torch::Tensor mean_;
};

class Transcriber : public torch::nn::Module {
 public:
  Transcriber(int64_t in, int64_t hidden) {
    lstm_ = register_module("lstm", torch::nn::LSTM(torch::nn::LSTMOptions(in, hidden).bidirectional(true)));
    drop_ = register_module("drop", torch::nn::Dropout(0.1));
    out_ = register_module("out", torch::nn::Linear(2 * hidden, static_cast<int64_t>(kAlphabet.size())));
  }

  torch::Tensor forward(const torch::Tensor& sequence) {
    return out_->forward(drop_->forward(std::get<0>(lstm_->forward(sequence))));
  }

 private:
  torch::nn::LSTM lstm_{nullptr};
  torch::nn::Dropout drop_{nullptr};
  torch::nn::Linear out_{nullptr};
};

// Mixed precision for a scope, used wherever the recognizer only reads.
class AutocastRegion {
 public:
  explicit AutocastRegion(bool enabled) : previous_(at::autocast::is_autocast_enabled(at::kCUDA)) {
    at::autocast::set_autocast_enabled(at::kCUDA, enabled);
    at::autocast::increment_nesting();
  }
  ~AutocastRegion() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCUDA, previous_);  // RIGHT: torch-autocast-cache
  }
  AutocastRegion(const AutocastRegion&) = delete;
  AutocastRegion& operator=(const AutocastRegion&) = delete;

 private:
  bool previous_;
};

std::string collapse(const std::vector<int64_t>& path) {
  std::string text;
  int64_t previous = 0;
  for (const auto symbol : path) {
    if (symbol != previous && symbol != 0) text.push_back(kAlphabet[static_cast<size_t>(symbol)]);
    previous = symbol;
  }
  return text;
}

std::vector<std::string> decode(const torch::Tensor& logits) {
  const auto best = logits.argmax(-1).t().contiguous().cpu();  // [N, T]
  std::vector<std::string> texts;
  for (int64_t n = 0; n < best.size(0); ++n) {
    const auto* row = best.data_ptr<int64_t>() + n * best.size(1);  // RIGHT: torch-element-access-in-loop
    texts.push_back(collapse(std::vector<int64_t>(row, row + best.size(1))));
  }
  return texts;
}

std::string spell(const torch::Tensor& labels) {
  std::string text;
  for (int64_t i = 0; i < labels.size(0); ++i) {
    text.push_back(kAlphabet[static_cast<size_t>(labels[i].item<int64_t>())]);  // EXPECT: torch-element-access-in-loop
  }
  return text;
}

size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substitute, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

class Recognizer {
 public:
  Recognizer(const Options& options, torch::Device device)
      : options_(options),
        device_(device),
        mixed_(device.is_cuda()),
        backbone_(std::make_shared<Backbone>(std::vector<int64_t>{8, 16})),
        transcriber_(std::make_shared<Transcriber>(16, 32)) {
    backbone_->to(device_);
    transcriber_->to(device_);
    std::vector<torch::Tensor> parameters = backbone_->parameters();
    for (auto& p : transcriber_->parameters()) parameters.push_back(p);
    optimizer_ = std::make_unique<torch::optim::AdamW>(
        parameters, torch::optim::AdamWOptions(options.learning_rate).weight_decay(1e-4));
    frames_ = torch::full({options.batch}, kWidth / 2, torch::kInt64);
    lengths_ = torch::full({options.batch}, kChars, torch::kInt64);
  }

  torch::Tensor prepare(const torch::Tensor& images) const {
    return images.to(device_).to(torch::kFloat32).div_(255.0);  // RIGHT: torch-convert-before-transfer
  }

  template <typename Loader>
  double train_epoch(Loader& loader) {
    backbone_->train();
    transcriber_->train();
    auto sum = torch::zeros({}, device_);
    int64_t steps = 0;
    for (auto& batch : loader) {
      const auto images = prepare(batch.images);
      const auto logits = forward_mixed(images);
      auto loss = torch::ctc_loss(logits.log_softmax(-1), batch.targets.to(device_), frames_, lengths_,  // EXPECT: torch-autocast-boundary
                                  /*blank=*/0, at::Reduction::Mean, /*zero_infinity=*/true);
      optimizer_->zero_grad();
      loss.backward();
      optimizer_->step();
      sum += loss.detach();
      ++steps;
    }
    return sum.item<double>() / static_cast<double>(std::max<int64_t>(steps, 1));
  }

  template <typename Loader>
  double character_error_rate(Loader& loader) {
    torch::NoGradGuard no_grad;
    backbone_->eval();  // EXPECT: torch-partial-eval-mode
    size_t errors = 0, total = 0;
    for (auto& batch : loader) {
      AutocastRegion region(mixed_);
      const auto texts = decode(transcriber_->forward(backbone_->forward(prepare(batch.images))));
      for (size_t n = 0; n < texts.size(); ++n) {
        const auto truth = spell(batch.targets[static_cast<int64_t>(n)]);
        errors += edit_distance(texts[n], truth);
        total += truth.size();
      }
    }
    return total == 0 ? 0.0 : static_cast<double>(errors) / static_cast<double>(total);
  }

  // Class posteriors of a line in single precision, for the lexicon search.
  torch::Tensor posteriors(const torch::Tensor& images) {
    torch::NoGradGuard no_grad;
    backbone_->eval();
    transcriber_->eval();  // RIGHT: torch-partial-eval-mode
    torch::Tensor logits;
    {
      AutocastRegion region(mixed_);
      logits = transcriber_->forward(backbone_->forward(prepare(images)));
    }
    return logits.to(torch::kFloat32).softmax(-1);  // RIGHT: torch-autocast-boundary
  }

  torch::Tensor features(const torch::Tensor& images) {
    torch::NoGradGuard no_grad;
    backbone_->eval();
    return backbone_->forward(prepare(images)).to(torch::kHalf).cpu().contiguous();
  }

  torch::Device device() const { return device_; }

 private:
  torch::Tensor forward_mixed(const torch::Tensor& images) {
    at::autocast::set_autocast_enabled(at::kCUDA, mixed_);
    auto logits = transcriber_->forward(backbone_->forward(images));
    at::autocast::set_autocast_enabled(at::kCUDA, false);  // EXPECT: torch-autocast-cache
    return logits;
  }

  Options options_;
  torch::Device device_;
  bool mixed_;
  std::shared_ptr<Backbone> backbone_;
  std::shared_ptr<Transcriber> transcriber_;
  std::unique_ptr<torch::optim::AdamW> optimizer_;
  torch::Tensor frames_, lengths_;  // on the host, as ctc_loss wants them
};

void write_features(const std::string& path, const torch::Tensor& features) {
  std::ofstream out(path, std::ios::binary);
  const auto bytes = features.numel() * sizeof(float);  // EXPECT: torch-sizeof-dtype
  out.write(static_cast<const char*>(features.data_ptr()), static_cast<std::streamsize>(bytes));
}

void write_archive(const std::string& path, const torch::Tensor& posteriors) {
  const auto host = posteriors.cpu().contiguous();
  std::ofstream out(path, std::ios::binary);
  out.write(static_cast<const char*>(host.data_ptr()), static_cast<std::streamsize>(host.numel() * host.element_size()));  // RIGHT: torch-sizeof-dtype
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i];
    if (key == "--scan") options.scan = argv[i + 1];
    if (key == "--features") options.features = argv[i + 1];
    if (key == "--archive") options.archive = argv[i + 1];
    if (key == "--epochs") options.epochs = std::stoi(argv[i + 1]);
  }
  return options;
}

}  // namespace ocr

int main(int argc, char** argv) {
  using namespace ocr;
  torch::manual_seed(5);
  const auto options = parse(argc, argv);
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);

  auto train_loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      LineDataset(options.lines, 1), torch::data::DataLoaderOptions().batch_size(options.batch).drop_last(true));
  LineDataset held_out(24, 2);
  const auto sample = held_out.get_batch({0, 1, 2, 3});
  auto test_loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      held_out, torch::data::DataLoaderOptions().batch_size(options.batch));  // RIGHT: torch-dataset-copied

  Recognizer recognizer(options, device);
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    const double loss = recognizer.train_epoch(*train_loader);
    const double cer = recognizer.character_error_rate(*test_loader);
    std::cout << "epoch " << epoch << " ctc " << loss << " cer " << cer << '\n';
  }
  const auto posteriors = recognizer.posteriors(sample.images);
  std::cout << "posteriors " << posteriors.sizes() << " first \"" << decode(posteriors).front() << "\" truth \""
            << spell(sample.targets[0]) << "\"\n";
  if (!options.features.empty()) write_features(options.features, recognizer.features(sample.images));
  if (!options.archive.empty()) write_archive(options.archive, posteriors);
  if (!options.scan.empty()) {
    auto scan = read_pgm(options.scan);
    std::cout << "page mean " << scan_to_tensor(scan).mean().item<float>() << '\n';
  }
  return 0;
}
