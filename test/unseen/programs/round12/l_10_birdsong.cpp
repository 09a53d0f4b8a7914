// Makes spectrograms of bird calls of which there are too few recordings: an adversarial net
// learns the calls of each species, and an embedding keeps its calls near the real ones.
//
//   birdforge [--epochs N] [--batch N] [--embedder FILE] [--out FILE] [--cpu]

#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace nn = torch::nn;
namespace data = torch::data;
using torch::Tensor;

constexpr int64_t kSpecies = 4;
constexpr int64_t kSamples = 4160;  // a quarter of a second
constexpr int64_t kFft = 128, kHop = 64;
constexpr int64_t kBands = 64, kFrames = 64;
constexpr int64_t kNoise = 16, kFeatures = 24;

struct Settings {
    int64_t recordings = 48;
    int64_t epochs = 2;
    int64_t batch = 16;
    double rate = 4e-4;
    std::string embedder;  // weights of the embedding, if there are any
    std::string out;       // where to write the sheet of made calls
    torch::Device device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
};

// ------------------------------------------------------------------------------- recordings

class CallDataset : public data::datasets::Dataset<CallDataset> {
public:
    CallDataset(Tensor waves, Tensor species) : waves_(std::move(waves)), species_(std::move(species)) {}
    data::Example<> get(size_t i) override {
        return {waves_.select(0, static_cast<int64_t>(i)), species_.select(0, static_cast<int64_t>(i))};
    }
    torch::optional<size_t> size() const override { return waves_.size(0); }

private:
    Tensor waves_;    // [N, kSamples]
    Tensor species_;  // [N]
};

// Whistles that rise or fall, each species in its own band.
CallDataset record(int64_t count) {
    std::mt19937 engine(7);
    std::normal_distribution<float> hiss(0.0f, 0.05f);
    std::vector<float> samples(count * kSamples);
    std::vector<int64_t> species(count);
    for (int64_t n = 0; n < count; ++n) {
        species[n] = n % kSpecies;
        const double low = 0.4 + 0.5 * species[n], sweep = (species[n] % 2 ? 0.6 : -0.3) + hiss(engine);
        for (int64_t t = 0; t < kSamples; ++t) {
            const double part = static_cast<double>(t) / kSamples;
            samples[n * kSamples + t] = 1.2f * std::sin((low + sweep * part / 2.0) * t) + hiss(engine);
        }
    }
    auto waves = torch::tensor(samples).view({count, kSamples});
    waves.clamp_(-1.0, 1.0);  // RIGHT: torch-discarded-result (in place)
    return {waves, torch::tensor(species)};
}

// ------------------------------------------------------------------------------- spectrograms

class Spectrograph {
public:
    explicit Spectrograph(torch::Device device) : device_(device), window_(torch::hann_window(kFft, device)) {}

    // The mean of each band over many recordings is what the place sounds like.
    void listen(const Tensor& waves) {
        torch::NoGradGuard no_grad;
        background_ = decibel(waves).mean(torch::IntArrayRef{0, 2}).unsqueeze(1);
    }

    // [N, kSamples] into [N, 1, kBands, kFrames] of -1 to 1.
    Tensor patches(const Tensor& waves) const {
        torch::NoGradGuard no_grad;
        const auto level = decibel(waves);
        const auto call = level - background_.repeat({level.size(0), 1, level.size(2)});  // EXPECT: torch-repeat-for-broadcast
        return scale(call).unsqueeze(1);
    }

private:
    Tensor decibel(const Tensor& waves) const {
        const auto spectrum = torch::stft(waves, kFft, kHop, kFft, window_, /*center=*/true, "reflect",
                                          /*normalized=*/false, /*onesided=*/true, /*return_complex=*/true);
        const auto power = spectrum.abs().square().slice(1, 0, kBands).slice(2, 0, kFrames);
        return power.cpu().clamp_min(1e-8).log10().mul(10.0).to(device_);  // EXPECT: torch-device-round-trip
    }

    static Tensor scale(const Tensor& call) {
        auto scaled = call / 30.0;
        scaled.clamp(-1.0, 1.0);  // EXPECT: torch-discarded-result
        return scaled;
    }

    torch::Device device_;
    Tensor window_;
    Tensor background_;  // [kBands, 1]
};

// ------------------------------------------------------------------------------- networks

struct ForgerImpl : nn::Module {
    ForgerImpl()
        : species(register_module("species", nn::Embedding(kSpecies, 8))),
          start(register_module("start", nn::Linear(kNoise + 8, 16 * 8 * 8))) {
        auto widen = [](int64_t from, int64_t to) {
            return nn::ConvTranspose2d(nn::ConvTranspose2dOptions(from, to, 4).stride(2).padding(1));
        };
        body = register_module("body", nn::Sequential(
            nn::BatchNorm2d(16), nn::ReLU(), widen(16, 12), nn::BatchNorm2d(12), nn::ReLU(),
            widen(12, 8), nn::BatchNorm2d(8), nn::ReLU(), widen(8, 1), nn::Tanh()));
    }

    Tensor forward(const Tensor& noise, const Tensor& labels) {
        const auto seed = torch::cat({noise, species->forward(labels)}, 1);
        return body->forward(start->forward(seed).view({-1, 16, 8, 8}));
    }

    nn::Embedding species;
    nn::Linear start;
    nn::Sequential body{nullptr};
};
TORCH_MODULE(Forger);

nn::Sequential halving(int64_t first, int64_t second, int64_t out) {
    auto halve = [](int64_t from, int64_t to) {
        return nn::Conv2d(nn::Conv2dOptions(from, to, 4).stride(4));
    };
    return nn::Sequential(halve(1, first), nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)),
                          halve(first, second), nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)),
                          nn::Flatten(), nn::Linear(second * 16, out));
}

struct CriticImpl : nn::Module {
    CriticImpl()
        : species(register_module("species", nn::Embedding(kSpecies, 16))),
          body(register_module("body", halving(8, 16, 16))),
          out(register_module("out", nn::Linear(16, 1))) {}

    Tensor forward(const Tensor& patches, const Tensor& labels) {
        const auto seen = body->forward(patches);
        return out->forward(torch::relu(seen)).squeeze(1) + (seen * species->forward(labels)).sum(1);
    }

    nn::Embedding species;
    nn::Sequential body;
    nn::Linear out;
};
TORCH_MODULE(Critic);

// ------------------------------------------------------------------------------- the studio

struct Report {
    int64_t epoch;
    double critic, forger;
};
using Listener = std::function<void(const Report&)>;

class Studio {
public:
    Studio(const Settings& settings, const Spectrograph& spectrograph)
        : settings_(settings), spectrograph_(spectrograph), embedder_(halving(8, 16, kFeatures)) {
        if (!settings.embedder.empty()) torch::load(embedder_, settings.embedder);
        forger_->to(settings.device);
        critic_->to(settings.device);
        embedder_->to(settings.device);
        const auto adam = torch::optim::AdamOptions(settings.rate).betas({0.5, 0.99});
        forger_steps_ = std::make_unique<torch::optim::Adam>(forger_->parameters(), adam);
        critic_steps_ = std::make_unique<torch::optim::Adam>(critic_->parameters(), adam);
    }

    void on_epoch(Listener listener) { listeners_.push_back(std::move(listener)); }

    // The mean embedding of each species.
    template <typename Loader>
    void measure(Loader& loader) {
        torch::NoGradGuard no_grad;
        std::vector<Tensor> sums(kSpecies, torch::zeros({kFeatures}, settings_.device));  // EXPECT: torch-fill-alias
        for (auto& batch : loader) {
            const auto labels = batch.target.to(settings_.device);
            const auto features = embedder_->forward(spectrograph_.patches(batch.data.to(settings_.device)));
            for (int64_t s = 0; s < kSpecies; ++s)
                sums[s] += (features * labels.eq(s).unsqueeze(1)).sum(0);
        }
        prototypes_ = torch::stack(sums) * (static_cast<double>(kSpecies) / settings_.recordings);
    }

    template <typename Loader>
    void train(Loader& loader) {
        forger_->train();
        critic_->train();
        for (int64_t epoch = 0; epoch < settings_.epochs; ++epoch) {
            double critic_total = 0.0;
            auto forger_total = torch::zeros({}, settings_.device);  // RIGHT: torch-allocation-in-loop (a fresh sum for each epoch)
            int64_t batches = 0;
            for (auto& batch : loader) {
                const auto labels = batch.target.to(settings_.device);
                const auto real = spectrograph_.patches(batch.data.to(settings_.device));  // RIGHT: torch-repeated-transfer (another batch each time)
                critic_total += judge(real, labels).template item<double>();  // EXPECT: torch-sync-in-loop
                forger_total += forge(labels);
                ++batches;
            }
            const Report report{epoch, critic_total / batches, forger_total.item<double>() / batches};  // RIGHT: torch-sync-in-loop (once per epoch)
            for (auto& listener : listeners_) listener(report);
        }
    }

    // One linear layer tells the species by the embedding; how often it is right.
    template <typename Loader>
    double accuracy(Loader& loader) {
        std::vector<Tensor> all, targets;
        for (auto& batch : loader) {
            torch::NoGradGuard no_grad;
            all.push_back(embedder_->forward(spectrograph_.patches(batch.data.to(settings_.device))));  // RIGHT: torch-unused-gradients (nothing is recorded here)
            targets.push_back(batch.target.to(settings_.device));
        }
        const auto features = torch::cat(all), labels = torch::cat(targets);
        nn::Linear head(kFeatures, kSpecies);
        head->to(settings_.device);
        torch::optim::SGD steps(head->parameters(), 0.5);
        for (int step = 0; step < 40; ++step) {
            steps.zero_grad();
            torch::cross_entropy_loss(head->forward(features), labels).backward();  // RIGHT: torch-loss-input (raw scores of the last layer)
            steps.step();
        }
        torch::NoGradGuard no_grad;
        return head->forward(features).argmax(1).eq(labels).to(torch::kFloat32).mean().item<double>();
    }

    // A strip of made calls for each species, each call three times in a row.
    Tensor sheet(uint64_t seed) {
        torch::NoGradGuard no_grad;
        forger_->eval();
        auto dice = at::make_generator<at::CPUGeneratorImpl>(seed);
        const auto noise = torch::randn({kSpecies, kNoise}, dice).to(settings_.device);  // RIGHT: torch-allocate-on-device (the dice of the host give the same sheet anywhere)
        const auto calls = forger_->forward(noise, torch::arange(kSpecies, settings_.device)).squeeze(1);
        std::vector<Tensor> strips(kSpecies);  // RIGHT: torch-fill-alias (empty handles, each gets its own)
        for (int64_t s = 0; s < kSpecies; ++s)
            strips[s] = calls[s].flip(0).repeat({1, 3});  // RIGHT: torch-repeat-for-broadcast (the strip is three calls long)
        return torch::cat(strips);
    }

private:
    Tensor noise(int64_t count) const {
        return torch::randn({count, kNoise}).to(settings_.device);  // EXPECT: torch-allocate-on-device
    }

    Tensor judge(const Tensor& real, const Tensor& labels) {
        const auto fake = forger_->forward(noise(labels.size(0)), labels);
        const auto on_real = torch::softplus(-critic_->forward(real, labels)).mean();
        const auto on_fake = torch::softplus(critic_->forward(fake, labels)).mean();  // EXPECT: torch-undetached-generator-output
        const auto loss = on_real + on_fake;
        critic_steps_->zero_grad();  // RIGHT: torch-zero-grad-in-place (lets them go)
        loss.backward();
        critic_steps_->step();
        return loss.detach();
    }

    Tensor forge(const Tensor& labels) {
        const auto fake = forger_->forward(noise(labels.size(0)), labels);
        const auto deceit = torch::softplus(-critic_->forward(fake, labels)).mean();  // RIGHT: torch-undetached-generator-output (the forger learns through the critic)
        const auto near = torch::mse_loss(embedder_->forward(fake), prototypes_.index_select(0, labels));
        const auto loss = deceit + 0.1 * near;
        forger_steps_->zero_grad(/*set_to_none=*/false);  // EXPECT: torch-zero-grad-in-place
        loss.backward();  // EXPECT: torch-unused-gradients
        forger_steps_->step();
        return loss.detach();
    }

    Settings settings_;
    const Spectrograph& spectrograph_;
    Forger forger_;
    Critic critic_;
    nn::Sequential embedder_;
    std::unique_ptr<torch::optim::Adam> forger_steps_, critic_steps_;
    Tensor prototypes_;  // [kSpecies, kFeatures]
    std::vector<Listener> listeners_;
};

// Grey values, the loud ones dark.
void write_pgm(const std::string& path, const Tensor& sheet) {
    const auto grey = sheet.sub(1.0).mul(-127.5).clamp(0, 255).to(torch::kByte).contiguous();
    const auto host = grey.cpu();  // RIGHT: torch-device-round-trip (goes to a file and not back)
    std::ofstream file(path, std::ios::binary);
    file << "P5\n" << host.size(1) << ' ' << host.size(0) << "\n255\n";
    file.write(reinterpret_cast<const char*>(host.data_ptr<uint8_t>()), host.numel());
}

Settings parse(int argc, char** argv) {
    Settings settings;
    for (int i = 1; i < argc; ++i) {
        const std::string flag = argv[i];
        const std::string value = i + 1 < argc ? argv[i + 1] : "";
        if (flag == "--cpu") {
            settings.device = torch::kCPU;
            continue;
        }
        if (flag == "--epochs") settings.epochs = std::stoll(value);
        if (flag == "--batch") settings.batch = std::stoll(value);
        if (flag == "--embedder") settings.embedder = value;
        if (flag == "--out") settings.out = value;
        ++i;
    }
    return settings;
}

int main(int argc, char** argv) {
    const Settings settings = parse(argc, argv);
    torch::set_num_threads(1);
    torch::manual_seed(17);
    auto calls = record(settings.recordings);
    auto loader = data::make_data_loader<data::samplers::RandomSampler>(
        calls.map(data::transforms::Stack<>()), data::DataLoaderOptions(settings.batch));  // RIGHT: torch-dataset-copied (two handles are copied, no samples)

    Spectrograph spectrograph(settings.device);
    spectrograph.listen(loader->begin()->data.to(settings.device));

    Studio studio(settings, spectrograph);
    studio.on_epoch([](const Report& report) {
        std::printf("epoch %lld  critic %.3f  forger %.3f\n", static_cast<long long>(report.epoch),
                    report.critic, report.forger);
    });
    studio.measure(*loader);
    studio.train(*loader);
    std::printf("species told apart: %.2f\n", studio.accuracy(*loader));

    const auto sheet = studio.sheet(42);
    std::printf("sheet of %lld x %lld\n", static_cast<long long>(sheet.size(0)), static_cast<long long>(sheet.size(1)));
    if (!settings.out.empty()) write_pgm(settings.out, sheet);
    return 0;
}
