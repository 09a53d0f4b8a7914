// Restores the images of a two-colour fluorescence microscope: removes the shot noise, undoes the
// blur of the lens and marks nuclei and membranes.
//
//   restore [--fields N] [--epochs N] [--amp] [--photons] [--dark FILE] [--export FILE] [--cpu]

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace scope {
namespace nn = torch::nn;
namespace F = torch::nn::functional;
using torch::Tensor;

constexpr int64_t kEdge = 64;    // pixels
constexpr int64_t kColours = 2;  // nuclei, membranes

struct Options {
    int64_t fields = 24;
    int64_t epochs = 4;
    int64_t batch = 8;
    double rate = 2e-3;
    bool amp = false;
    bool photons = false;
    std::optional<std::string> dark, picture;
    torch::Device device{torch::cuda::is_available() ? torch::kCUDA : torch::kCPU};
};

// Two exposures of each field, as the camera interleaves them, and the marks of a biologist.
struct Fields {
    Tensor first, second;  // [N, kEdge, kEdge, kColours], int16 counts
    Tensor marks;          // [N, kColours, kEdge, kEdge], 0 or 1
};

class Camera {
public:
    explicit Camera(unsigned seed) : engine_(seed), buffer_(kEdge * kEdge * kColours) {}

    // A field of round cells; the same cells give other counts with each exposure.
    Tensor expose(const std::vector<std::pair<double, double>>& cells) {
        for (int64_t y = 0; y < kEdge; ++y)
            for (int64_t x = 0; x < kEdge; ++x) {
                double nucleus = 4.0, membrane = 4.0;
                for (const auto& [cx, cy] : cells) {
                    const double r = std::hypot(x - cx, y - cy);
                    nucleus += 90.0 * std::exp(-r * r / 18.0);
                    membrane += 60.0 * std::exp(-(r - 8.0) * (r - 8.0) / 3.0);
                }
                int16_t* pixel = &buffer_[(y * kEdge + x) * kColours];
                pixel[0] = static_cast<int16_t>(std::poisson_distribution<int>(nucleus)(engine_));
                pixel[1] = static_cast<int16_t>(std::poisson_distribution<int>(membrane)(engine_));
            }
        return torch::from_blob(buffer_.data(), {kEdge, kEdge, kColours}, torch::kShort).clone();  // RIGHT: torch-blob-lifetime (the buffer is used again, the clone is not)
    }

    std::vector<std::pair<double, double>> seat_cells(int count) {
        std::uniform_real_distribution<double> place(6.0, kEdge - 6.0);
        std::vector<std::pair<double, double>> cells;
        for (int i = 0; i < count; ++i) cells.emplace_back(place(engine_), place(engine_));
        return cells;
    }

private:
    std::mt19937 engine_;
    std::vector<int16_t> buffer_;
};

Fields acquire(const Options& options) {
    Camera camera(23);
    std::vector<Tensor> first, second;
    for (int64_t n = 0; n < options.fields; ++n) {
        const auto cells = camera.seat_cells(6);
        first.push_back(camera.expose(cells));
        second.push_back(camera.expose(cells));
    }
    Fields fields{torch::stack(first), torch::stack(second), {}};
    const auto sum = (fields.first + fields.second).permute({0, 3, 1, 2});
    fields.marks = sum.gt(50).to(torch::kFloat32).contiguous();  // RIGHT: torch-noncontiguous-operand (laid out once, for all epochs)
    return fields;
}

// The counts of the closed shutter, of a raw file.
Tensor read_dark(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + path);
    std::vector<int16_t> counts(kEdge * kEdge * kColours);
    file.read(reinterpret_cast<char*>(counts.data()), counts.size() * sizeof(int16_t));  // RIGHT: torch-sizeof-dtype (the type of the elements, not its name)
    return torch::from_blob(counts.data(), {kEdge, kEdge, kColours}, torch::kShort);  // EXPECT: torch-blob-lifetime
}

int64_t stack_bytes(const Tensor& counts, int64_t exposures) {
    return exposures * counts.numel() * static_cast<int64_t>(sizeof(torch::kShort));  // EXPECT: torch-sizeof-dtype
}

void write_picture(const std::string& path, const Tensor& image) {
    std::ofstream file(path, std::ios::binary);
    file << "P5\n" << image.size(1) << ' ' << image.size(0) << "\n255\n";
    const auto shown = image / image.max();
    const uint8_t* grey = shown.mul(255.0).to(torch::kByte).cpu().contiguous().data_ptr<uint8_t>();  // EXPECT: torch-dangling-data
    for (int64_t y = 0; y < image.size(0); ++y)
        file.write(reinterpret_cast<const char*>(grey + y * image.size(1)), image.size(1));
}

void write_marks(const std::string& path, const Tensor& marks) {
    std::ofstream file(path, std::ios::binary);
    const auto bytes = marks.to(torch::kByte).cpu().contiguous();
    const uint8_t* first = bytes.data_ptr<uint8_t>();  // RIGHT: torch-dangling-data (bytes has a name and lives on)
    file.write(reinterpret_cast<const char*>(first), bytes.numel());
}

// Half precision for as long as it lives.
class Autocast {
public:
    Autocast(c10::DeviceType type, bool on) : type_(type), before_(at::autocast::is_autocast_enabled(type)) {
        at::autocast::set_autocast_enabled(type_, on);
        at::autocast::increment_nesting();
    }
    ~Autocast() {
        if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
        at::autocast::set_autocast_enabled(type_, before_);
    }
    Autocast(const Autocast&) = delete;

private:
    c10::DeviceType type_;
    bool before_;
};

nn::Conv2d conv3(int64_t from, int64_t to) { return nn::Conv2d(nn::Conv2dOptions(from, to, 3).padding(1)); }

// Foretells the noise of an image.
struct DenoiserImpl : nn::Module {
    DenoiserImpl()
        : head(register_module("head", conv3(kColours, 12))),
          body(register_module("body", nn::ModuleList())),
          tail(register_module("tail", conv3(12, kColours))) {
        for (int i = 0; i < 2; ++i) body->push_back(conv3(12, 12));
    }

    Tensor forward(const Tensor& image) {
        auto x = torch::relu(head->forward(image));
        for (const auto& layer : *body) {
            auto step = layer->as<nn::Conv2d>()->forward(x);
            step.add_(x);  // RIGHT: torch-inplace-saved (a convolution does not need its own output)
            x = torch::relu(step);  // RIGHT: torch-inplace-opportunity (backward needs each of them)
        }
        return tail->forward(x);
    }

    nn::Conv2d head;
    nn::ModuleList body;
    nn::Conv2d tail;
};
TORCH_MODULE(Denoiser);

struct MarkerImpl : nn::Module {
    MarkerImpl()
        : first(register_module("first", conv3(kColours, 12))),
          norm(register_module("norm", nn::BatchNorm2d(12))),
          last(register_module("last", conv3(12, kColours))) {}

    Tensor forward(const Tensor& image) { return last->forward(torch::relu(norm->forward(first->forward(image)))); }

    nn::Conv2d first;
    nn::BatchNorm2d norm;
    nn::Conv2d last;
};
TORCH_MODULE(Marker);

// Where photons are known, bright pixels count for more.
Tensor marking_loss(const Tensor& scores, const Tensor& marks, const Tensor& photons) {
    if (!photons.defined()) return torch::binary_cross_entropy_with_logits(scores, marks);  // RIGHT: torch-loss-input (it wants the scores)
    auto likely = torch::sigmoid(scores);
    auto lit = likely.mul_(photons);  // EXPECT: torch-inplace-saved
    return torch::mse_loss(lit, marks * photons);
}

class Restorer {
public:
    explicit Restorer(const Options& options);
    ~Restorer();
    Tensor images(const Tensor& counts) const;
    void train_denoiser(const Fields& fields);
    void train_marker(const Fields& fields);
    Tensor denoise(const Tensor& image);
    Tensor sharpen(const Tensor& image, int rounds);
    Tensor mark(const Tensor& image);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

struct Restorer::Impl {
    explicit Impl(const Options& o) : options(o) {
        denoiser->to(o.device);
        marker->to(o.device);
        const auto axis = torch::arange(-4, 5, torch::dtype(torch::kFloat32).device(o.device)).square().mul(-0.25).exp();
        const auto spot = torch::outer(axis, axis);
        lens = (spot / spot.sum()).expand({kColours, 1, -1, -1}).contiguous();  // RIGHT: torch-noncontiguous-operand (once, for many convolutions)
        unmix = torch::tensor({{1.0f, -0.1f}, {-0.1f, 1.0f}}, o.device);
    }

    Tensor blur(const Tensor& image) const { return torch::conv2d(image, lens, {}, 1, 4, 1, kColours); }

    Options options;
    Denoiser denoiser;
    Marker marker;
    Tensor lens, unmix;  // [kColours, 1, 9, 9], symmetric; the light of one dye in the other's colour
};

Restorer::Restorer(const Options& options) : impl_(std::make_unique<Impl>(options)) {}
Restorer::~Restorer() = default;

Tensor Restorer::images(const Tensor& counts) const {
    return counts.to(impl_->options.device).to(torch::kFloat32).div_(100.0);  // RIGHT: torch-convert-before-transfer (moved first, widened there)
}

// One exposure foretells the other: what differs is noise.
void Restorer::train_denoiser(const Fields& fields) {
    const auto& options = impl_->options;
    const auto first = images(fields.first);
    const auto second = images(fields.second).permute({0, 3, 1, 2}).contiguous();
    torch::optim::Adam optimizer(impl_->denoiser->parameters(), torch::optim::AdamOptions(options.rate));
    const Autocast half(options.device.type(), options.amp);  // EXPECT: torch-autocast-cache
    for (int64_t epoch = 0; epoch < options.epochs; ++epoch) {
        auto total = torch::zeros({}, options.device);
        const auto order = torch::randperm(options.fields, torch::dtype(torch::kLong).device(options.device));
        for (const auto& rows : order.split(options.batch)) {
            const auto planes = first.permute({0, 3, 1, 2}).contiguous();  // EXPECT: torch-noncontiguous-operand
            const auto image = planes.index_select(0, rows);
            const auto clean = image - impl_->denoiser->forward(image);
            const auto loss = torch::mse_loss(clean, second.index_select(0, rows));
            optimizer.zero_grad();
            loss.backward();
            optimizer.step();
            total += loss.detach() * rows.size(0);
        }
        std::printf("denoiser %lld  %.5f\n", static_cast<long long>(epoch), total.item<double>() / options.fields);
    }
    impl_->denoiser->eval();
}

void Restorer::train_marker(const Fields& fields) {
    const auto& options = impl_->options;
    auto& marker = impl_->marker;
    const auto stack = images(fields.second).permute({0, 3, 1, 2}).contiguous();
    const auto marks = fields.marks.to(options.device);
    torch::optim::Adam optimizer(marker->parameters(), torch::optim::AdamOptions(5.0 * options.rate));
    std::vector<Tensor> best;
    double lowest = std::numeric_limits<double>::infinity();
    marker->train();
    for (int64_t epoch = 0; epoch < options.epochs; ++epoch) {
        auto total = torch::zeros({}, options.device);
        const auto order = torch::randperm(options.fields, torch::dtype(torch::kLong).device(options.device));
        for (const auto& rows : order.split(options.batch)) {
            const auto image = stack.index_select(0, rows).clone();  // EXPECT: torch-redundant-transfer
            const auto goal = marks.index_select(0, rows);
            Tensor loss;
            {
                const Autocast half(options.device.type(), options.amp);  // RIGHT: torch-autocast-cache (ends with each step)
                loss = marking_loss(marker->forward(image), goal, options.photons ? image : Tensor());
            }
            optimizer.zero_grad();
            loss.backward();
            optimizer.step();
            total += loss.detach();
        }
        const double reached = total.item<double>();  // RIGHT: torch-sync-in-loop (once per epoch, to choose the best)
        std::printf("marker %lld  %.4f\n", static_cast<long long>(epoch), reached);
        if (reached >= lowest) continue;
        lowest = reached;
        best.clear();
        for (const auto& p : marker->parameters()) best.push_back(p.detach().clone());  // RIGHT: torch-redundant-transfer (the weights go on changing)
    }
    torch::NoGradGuard no_grad;
    auto weights = marker->parameters();
    for (size_t i = 0; i < best.size(); ++i) weights[i].copy_(best[i]);
    marker->eval();
}

Tensor Restorer::denoise(const Tensor& image) {
    torch::NoGradGuard no_grad;
    Tensor noise;
    {
        const Autocast half(impl_->options.device.type(), impl_->options.amp);
        noise = impl_->denoiser->forward(image);
    }
    noise = noise.to(torch::kFloat32);  // RIGHT: torch-autocast-boundary (widened before it meets the matrix)
    return torch::matmul(impl_->unmix, (image - noise).flatten(2)).view_as(image);
}

// Richardson and Lucy: what, blurred by the lens, would give this image?
Tensor Restorer::sharpen(const Tensor& image, int rounds) {
    torch::NoGradGuard no_grad;
    const auto seen = image.clamp_min(0.0);
    auto sharp = torch::full_like(seen, 0.5);
    for (int round = 0; round < rounds; ++round) {
        const auto ratio = impl_->blur(sharp).clamp_min_(1e-4).reciprocal_().mul_(seen);
        sharp = sharp * impl_->blur(ratio);  // EXPECT: torch-inplace-opportunity
    }
    return sharp;
}

Tensor Restorer::mark(const Tensor& image) {
    torch::NoGradGuard no_grad;
    Tensor scores;
    {
        const Autocast half(impl_->options.device.type(), impl_->options.amp);
        scores = impl_->marker->forward(image);
    }
    const auto pure = torch::matmul(impl_->unmix, scores.flatten(2));  // EXPECT: torch-autocast-boundary
    return pure.view_as(image).gt(0.0);
}

Options parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string flag = argv[i];
        if (flag == "--amp") options.amp = true;
        else if (flag == "--photons") options.photons = true;
        else if (flag == "--cpu") options.device = torch::kCPU;
        else if (i + 1 == argc) throw std::invalid_argument(flag + " wants a value");
        else if (flag == "--fields") options.fields = std::stoll(argv[++i]);
        else if (flag == "--epochs") options.epochs = std::stoll(argv[++i]);
        else if (flag == "--dark") options.dark = argv[++i];
        else if (flag == "--export") options.picture = argv[++i];
    }
    return options;
}

}  // namespace scope

int main(int argc, char** argv) {
    const auto options = scope::parse(argc, argv);
    torch::set_num_threads(1);
    torch::manual_seed(29);
    auto fields = scope::acquire(options);
    std::printf("%lld bytes of counts\n", static_cast<long long>(scope::stack_bytes(fields.first, 2)));
    if (options.dark) {
        const auto dark = scope::read_dark(*options.dark);
        fields.first.sub_(dark);
        fields.second.sub_(dark);
    }
    scope::Restorer restorer(options);
    restorer.train_denoiser(fields);
    restorer.train_marker(fields);

    const auto image = restorer.images(fields.first.narrow(0, 0, 1)).permute({0, 3, 1, 2}).contiguous();
    const auto sharp = restorer.sharpen(restorer.denoise(image), 12);
    const auto marks = restorer.mark(image);
    std::printf("sharpest %.3f, marked %.3f\n", sharp.max().item<double>(), marks.to(torch::kFloat32).mean().item<double>());
    if (options.picture) {
        scope::write_picture(*options.picture, sharp[0][0]);
        scope::write_marks(*options.picture + ".marks", marks);
    }
    return 0;
}
