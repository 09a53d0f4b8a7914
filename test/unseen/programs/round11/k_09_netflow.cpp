// flowguard: anomaly detection in network traffic with an autoencoder.
//
//   flowguard [train|stats|capture|score|adapt|export|demo] [--fp32] [--epochs N] [--out FILE]
//
// "demo" trains on synthetic traffic and runs the other commands on the model,
// except for "adapt", which is meant for a deployed detector.

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

extern "C" {
int cudaMalloc(void** pointer, size_t bytes) __attribute__((weak));
int cudaFree(void* pointer) __attribute__((weak));
}

namespace flowguard {

struct Settings {
    std::string command = "demo";
    std::string output;
    int64_t rows = 2048;
    int64_t columns = 12;
    int64_t payload_bytes = 96;
    int64_t batch = 128;
    int64_t epochs = 4;
    bool mixed = true;
    torch::Device device = torch::kCPU;
};

class AutoEncoderImpl : public torch::nn::Module {
public:
    AutoEncoderImpl(int64_t columns, int64_t latent)
        : encoder_(torch::nn::Unflatten(torch::nn::UnflattenOptions(1, {1, columns})),
                   torch::nn::Conv1d(torch::nn::Conv1dOptions(1, 8, 3).padding(1)), torch::nn::ReLU(),
                   torch::nn::Flatten(), torch::nn::Linear(8 * columns, latent)),
          decoder_(torch::nn::Linear(latent, 8 * columns), torch::nn::ReLU(),
                   torch::nn::Unflatten(torch::nn::UnflattenOptions(1, {8, columns})),
                   torch::nn::Conv1d(torch::nn::Conv1dOptions(8, 1, 3).padding(1)), torch::nn::Flatten()) {
        register_module("encoder", encoder_);
        register_module("decoder", decoder_);
    }

    torch::Tensor encode(const torch::Tensor& x) { return encoder_->forward(x); }
    torch::Tensor forward(const torch::Tensor& x) { return decoder_->forward(encode(x)); }

private:
    torch::nn::Sequential encoder_;
    torch::nn::Sequential decoder_;
};
TORCH_MODULE(AutoEncoder);

// Gaussian traffic around three service profiles, with some outliers.
torch::Tensor synthetic_flows(const Settings& s, double outliers) {
    torch::Tensor profiles = torch::randn({3, s.columns});
    torch::Tensor flows = profiles.index_select(0, torch::randint(3, {s.rows}, torch::kLong));
    flows.add_(torch::randn({s.rows, s.columns}), 0.2);
    torch::Tensor odd = torch::rand({s.rows, 1}).lt_(outliers);
    return flows.add_(torch::randn({s.rows, s.columns}).mul_(odd), 3.0);
}

torch::Tensor synthetic_payload(const Settings& s) {
    return torch::randint(256, {s.rows, s.payload_bytes}, torch::kUInt8);
}

// Text with one flow a line, columns separated by blanks.
torch::Tensor parse_flows(const std::string& text, int64_t columns) {
    std::vector<float> values;
    std::istringstream in(text);
    for (float v = 0.0f; in >> v;) {
        values.push_back(v);
    }
    const int64_t rows = static_cast<int64_t>(values.size()) / columns;
    return torch::from_blob(values.data(), {rows, columns});  // EXPECT: torch-blob-lifetime
}

// Inter-arrival times in microseconds.
torch::Tensor arrival_times(int64_t rows) {
    auto* times = new std::vector<double>(static_cast<size_t>(rows));
    for (int64_t i = 0; i < rows; ++i) {
        (*times)[static_cast<size_t>(i)] = 40.0 + static_cast<double>((i * 7919) % 113);
    }
    auto release = [times](void*) { delete times; };
    return torch::from_blob(times->data(), {rows}, release, torch::kFloat64);  // RIGHT: torch-blob-lifetime
}

std::string to_text(const torch::Tensor& flows) {
    std::ostringstream out;
    const auto a = flows.accessor<float, 2>();
    for (int64_t i = 0; i < flows.size(0); ++i) {
        for (int64_t j = 0; j < flows.size(1); ++j) {
            out << a[i][j] << ' ';
        }
        out << '\n';
    }
    return out.str();
}

// A window of packets that stays on the accelerator for the packet filter.
class DeviceRing {
public:
    explicit DeviceRing(int64_t floats) : floats_(floats) {
        if (torch::cuda::is_available() && cudaMalloc != nullptr) {
            cudaMalloc(&memory_, static_cast<size_t>(floats) * sizeof(float));  // EXPECT: torch-untracked-cuda-memory
        }
    }

    void store(const torch::Tensor& window) {
        if (memory_ != nullptr) {
            auto options = torch::TensorOptions(torch::kFloat).device(torch::kCUDA);
            torch::from_blob(memory_, {floats_}, options).copy_(window.flatten());
        }
    }

private:
    int64_t floats_;
    void* memory_ = nullptr;
};

// Scratch memory of the packet filter.
class DeviceScratch {
public:
    explicit DeviceScratch(size_t bytes) {
        void* raw = nullptr;
        if (torch::cuda::is_available() && cudaMalloc != nullptr && cudaMalloc(&raw, bytes) == 0) {  // RIGHT: torch-untracked-cuda-memory
            memory_ = std::shared_ptr<void>(raw, [](void* p) { cudaFree(p); });
        }
    }
    bool ready() const { return memory_ != nullptr; }

private:
    std::shared_ptr<void> memory_;
};

class Tool {
public:
    explicit Tool(Settings settings)
        : settings_(std::move(settings)), model_(settings_.columns, 4), payload_net_(settings_.payload_bytes, 1) {
        model_->to(settings_.device);
        payload_net_->to(settings_.device);
        at::autocast::set_autocast_dtype(settings_.device.type(), torch::kBFloat16);
        flows_ = synthetic_flows(settings_, 0.03);
        payload_ = synthetic_payload(settings_);
        commands_ = {{"train", [this] { train(); }},     {"stats", [this] { stats(); }},
                     {"capture", [this] { capture(); }}, {"score", [this] { score(); }},
                     {"adapt", [this] { adapt(); }},     {"export", [this] { write_scores(); }}};
    }

    int run() {
        std::vector<std::string> names{settings_.command};
        if (settings_.command == "demo") {
            names = {"train", "stats", "capture", "score", "export"};
        }
        for (const std::string& name : names) {
            const auto found = commands_.find(name);
            if (found == commands_.end()) {
                std::cerr << "unknown command " << name << "\n";
                return 2;
            }
            found->second();
        }
        return 0;
    }

private:
    // ---------------------------------------------------------------- train

    void train() {
        torch::optim::Adam optimizer(model_->parameters(), torch::optim::AdamOptions(2e-3));
        torch::Tensor data = flows_.to(settings_.device);
        model_->train();
        for (int64_t epoch = 0; epoch < settings_.epochs; ++epoch) {
            torch::Tensor total = torch::zeros({}, settings_.device);
            torch::Tensor order = torch::randperm(data.size(0), settings_.device);
            for (const torch::Tensor& rows : order.split(settings_.batch)) {
                torch::Tensor batch = data.index_select(0, rows).clone();  // EXPECT: torch-redundant-transfer
                torch::Tensor loss = settings_.mixed ? mixed_loss(batch) : torch::mse_loss(model_->forward(batch), batch);
                optimizer.zero_grad();
                loss.backward();
                optimizer.step();
                total.add_(loss.detach());
            }
            std::cout << "train: epoch " << epoch << " loss " << total.item<double>() << "\n";
        }
        train_payload();
    }

    torch::Tensor mixed_loss(const torch::Tensor& batch) {
        const auto type = settings_.device.type();
        at::autocast::set_autocast_enabled(type, true);  // EXPECT: torch-autocast-cache
        torch::Tensor rebuilt = model_->forward(batch);
        at::autocast::set_autocast_enabled(type, false);
        return torch::mse_loss(rebuilt.to(torch::kFloat), batch);
    }

    // Predicts the arrival rate from the bytes of the packets.
    void train_payload() {
        torch::optim::SGD optimizer(payload_net_->parameters(), torch::optim::SGDOptions(1e-2));
        torch::Tensor times = arrival_times(settings_.rows);
        torch::Tensor rates = times.reciprocal_().mul_(100.0).to(torch::kFloat).to(settings_.device);  // RIGHT: torch-convert-before-transfer
        torch::Tensor bytes = payload_.to(settings_.device).to(torch::kFloat).div_(255.0);
        const auto type = settings_.device.type();
        for (int64_t begin = 0; begin < settings_.rows; begin += settings_.batch) {
            const int64_t end = std::min(settings_.rows, begin + settings_.batch);
            at::autocast::set_autocast_enabled(type, true);  // RIGHT: torch-autocast-cache
            torch::Tensor half = payload_net_->forward(bytes.slice(0, begin, end));
            at::autocast::clear_cache();
            at::autocast::set_autocast_enabled(type, false);
            torch::Tensor rate = half.to(torch::kFloat).squeeze(1);
            torch::Tensor loss = torch::mse_loss(rate, rates.slice(0, begin, end));  // RIGHT: torch-autocast-boundary
            optimizer.zero_grad();
            loss.backward();
            optimizer.step();
        }
    }

    // ---------------------------------------------------------------- stats

    void stats() {
        torch::Tensor parsed = parse_flows(to_text(flows_), settings_.columns);
        torch::Tensor first = flows_.select(1, 0).clone();  // RIGHT: torch-redundant-transfer
        first.sub_(first.mean()).abs_();
        std::cout << "stats: " << parsed.size(0) << " flows, deviation " << first.mean().item<double>()
                  << " against " << flows_.select(1, 0).mean().item<double>() << ", finite "
                  << parsed.isfinite().all().item<bool>() << "\n";
    }

    // -------------------------------------------------------------- capture

    void capture() {
        torch::NoGradGuard guard;
        DeviceScratch scratch(1 << 16);
        torch::Tensor level = torch::zeros({settings_.payload_bytes}, settings_.device);
        std::vector<torch::Tensor> levels;
        torch::Tensor alarms = torch::zeros({}, settings_.device);
        for (int64_t begin = 0; begin + settings_.batch <= settings_.rows; begin += settings_.batch) {
            torch::Tensor window = payload_.slice(0, begin, begin + settings_.batch);
            torch::Tensor values = window.to(torch::kFloat).to(settings_.device);  // EXPECT: torch-convert-before-transfer
            values.div_(255.0);
            DeviceRing ring(values.numel());
            ring.store(values);
            level = torch::lerp(level, values.mean(0), 0.1);  // RIGHT: torch-inplace-opportunity
            levels.push_back(level);
            alarms.add_(payload_net_->forward(values).gt(2.0).sum());
        }
        torch::Tensor drift = torch::stack(levels).diff(1, 0).abs_().amax();
        std::cout << "capture: " << levels.size() << " windows, drift " << drift.item<double>() << " alarms "
                  << alarms.item<double>() << (scratch.ready() ? " on the accelerator" : "") << "\n";
    }

    // ---------------------------------------------------------------- score

    torch::Tensor reconstruction_errors() {
        c10::InferenceMode mode;
        std::vector<torch::Tensor> parts;
        for (int64_t begin = 0; begin < settings_.rows; begin += settings_.batch) {
            torch::Tensor host = flows_.slice(0, begin, begin + settings_.batch);
            torch::Tensor batch = host.to(settings_.device, /*non_blocking=*/true);  // EXPECT: torch-pageable-transfer
            parts.push_back(torch::mse_loss(model_->forward(batch), batch, at::Reduction::None).mean(1));
        }
        return torch::cat(parts);
    }

    torch::Tensor encode_all() {
        c10::InferenceMode mode;
        const bool pin = settings_.device.is_cuda();
        std::vector<torch::Tensor> parts;
        torch::Tensor staged = pin ? flows_.pin_memory() : flows_;
        for (int64_t begin = 0; begin < settings_.rows; begin += settings_.batch) {
            torch::Tensor host = staged.slice(0, begin, begin + settings_.batch);
            parts.push_back(model_->encode(host.to(settings_.device, pin)));  // RIGHT: torch-pageable-transfer
        }
        return torch::cat(parts);
    }

    void score() {
        model_->eval();
        torch::Tensor errors = reconstruction_errors();
        const int64_t total = errors.cpu().size(0);  // EXPECT: torch-transfer-for-metadata
        torch::Tensor limit = errors.quantile(0.97);
        torch::Tensor flagged = errors.gt(limit).nonzero().squeeze(1).cpu();
        const int64_t count = flagged.size(0);  // RIGHT: torch-transfer-for-metadata
        const int64_t* index = flagged.data_ptr<int64_t>();
        std::cout << "score: " << count << " of " << total << " flagged:";
        for (int64_t i = 0; i < std::min<int64_t>(count, 5); ++i) {
            std::cout << ' ' << index[i];
        }
        torch::Tensor latents = encode_all().clone();
        latents.sub_(latents.mean(0));  // RIGHT: torch-inference-tensor
        std::cout << ", spread " << latents.norm().item<double>() << "\n";
    }

    // ---------------------------------------------------------------- adapt

    // Moves the decision boundary to the traffic of the day.
    void adapt() {
        model_->eval();
        torch::Tensor latents = encode_all();
        torch::Tensor centre = latents.mean(0);
        latents.sub_(centre);  // EXPECT: torch-inference-tensor
        torch::Tensor radius = latents.norm(2, 1).quantile(0.97);
        std::cout << "adapt: radius " << radius.item<double>() << "\n";
    }

    // --------------------------------------------------------------- export

    void write_scores() {
        torch::Tensor scores = reconstruction_errors().cpu();
        torch::Tensor latents = encode_all().cpu();
        std::ostringstream out;
        const auto bytes = scores.numel() * sizeof(torch::kFloat32);  // EXPECT: torch-sizeof-dtype
        out.write(static_cast<const char*>(scores.data_ptr()), static_cast<std::streamsize>(bytes));
        const auto more = static_cast<size_t>(latents.numel()) * c10::elementSize(torch::kFloat32);  // RIGHT: torch-sizeof-dtype
        out.write(static_cast<const char*>(latents.data_ptr()), static_cast<std::streamsize>(more));
        if (!settings_.output.empty()) {
            std::ofstream(settings_.output, std::ios::binary) << out.str();
        }
        std::cout << "export: " << out.str().size() << " bytes\n";
    }

    Settings settings_;
    AutoEncoder model_;
    torch::nn::Linear payload_net_;
    torch::Tensor flows_;
    torch::Tensor payload_;
    std::map<std::string, std::function<void()>> commands_;
};

Settings parse(int argc, char** argv) {
    Settings settings;
    settings.device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
    for (int i = 1; i < argc; ++i) {
        const std::string arg = argv[i];
        if (arg == "--fp32") {
            settings.mixed = false;
        } else if (arg == "--epochs" && i + 1 < argc) {
            settings.epochs = std::atoll(argv[++i]);
        } else if (arg == "--out" && i + 1 < argc) {
            settings.output = argv[++i];
        } else {
            settings.command = arg;
        }
    }
    return settings;
}

}  // namespace flowguard

int main(int argc, char** argv) {
    torch::manual_seed(21);
    torch::set_num_threads(1);
    flowguard::Tool tool(flowguard::parse(argc, argv));
    return tool.run();
}
