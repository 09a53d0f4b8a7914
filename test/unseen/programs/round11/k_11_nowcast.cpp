// Precipitation nowcasting with a convolutional LSTM.
//
// An encoder reads the past radar frames, a decoder continues them and gives the
// distribution over rain classes. The trainer is a template.

#include <ATen/DeviceAccelerator.h>
#include <torch/torch.h>

#include <cmath>
#include <iostream>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace nowcast {

namespace nn = torch::nn;
struct Config {
    int64_t side = 16, channels = 8, layers = 2, classes = 4;
    int64_t past = 4, future = 3;
    int64_t sequences = 48, batch = 8, epochs = 3;
    bool stateful = false;
    bool sharpGates = false;
    torch::Device device = torch::kCPU;
};

struct CellState {
    torch::Tensor hidden, memory;
};

using States = std::vector<CellState>;

States detached(const States& states) {
    States out;
    for (const CellState& s : states) out.push_back({s.hidden.detach(), s.memory.detach()});
    return out;
}

class ConvLSTMCellImpl : public nn::Module {
public:
    ConvLSTMCellImpl(int64_t in, int64_t channels, bool sharp) : channels_(channels), sharp_(sharp) {
        gates_ = register_module("gates", nn::Conv2d(nn::Conv2dOptions(in + channels, 4 * channels, 3).padding(1)));
        offset_ = register_parameter("offset", torch::zeros({1, 4 * channels, 1, 1}));
    }

    CellState forward(const torch::Tensor& x, const CellState& state) {
        torch::Tensor z = gates_->forward(torch::cat({x, state.hidden}, 1));
        z.add_(offset_);  // RIGHT: torch-inplace-saved
        std::vector<torch::Tensor> parts = z.chunk(4, 1);
        torch::Tensor input = torch::sigmoid(parts[0]);
        torch::Tensor forget = torch::sigmoid(parts[1]);
        torch::Tensor output = torch::sigmoid(parts[2]);
        if (sharp_) {
            forget.mul_(1.2).clamp_(0.0, 1.0);  // EXPECT: torch-inplace-saved
        }
        torch::Tensor memory = torch::addcmul(forget * state.memory, input, torch::tanh(parts[3]));
        return {output * torch::tanh(memory), memory};
    }

    CellState blank(int64_t batch, int64_t side, const torch::TensorOptions& options) const {
        torch::Tensor zeros = torch::zeros({batch, channels_, side, side}, options);
        return {zeros, zeros};  // RIGHT: torch-fill-alias
    }
private:
    int64_t channels_;
    bool sharp_;
    nn::Conv2d gates_{nullptr};
    torch::Tensor offset_;
};
TORCH_MODULE(ConvLSTMCell);

// The past frames, from the lowest to the highest layer.
class EncoderImpl : public nn::Module {
public:
    explicit EncoderImpl(const Config& c) {
        for (int64_t i = 0; i < c.layers; ++i) {
            ConvLSTMCell cell(i == 0 ? 1 : c.channels, c.channels, c.sharpGates);
            cells_.push_back(register_module("cell" + std::to_string(i), cell));  // RIGHT: torch-unregistered-module
        }
    }

    States initial(int64_t batch, int64_t side, const torch::TensorOptions& options) const {
        States states;
        for (const ConvLSTMCell& cell : cells_) states.push_back(cell->blank(batch, side, options));
        return states;
    }

    States forward(const torch::Tensor& frames, States states) {
        for (const torch::Tensor& frame : frames.unbind(1)) {
            torch::Tensor x = frame;
            for (size_t i = 0; i < cells_.size(); ++i) {
                states[i] = cells_[i]->forward(x, states[i]);  // RIGHT: torch-undetached-hidden-state
                x = states[i].hidden;
            }
        }
        return states;
    }
private:
    std::vector<ConvLSTMCell> cells_;
};
TORCH_MODULE(Encoder);

class DecoderImpl : public nn::Module {
public:
    explicit DecoderImpl(const Config& c) : side_(c.side) {
        for (int64_t i = 0; i < c.layers; ++i) {
            cells_.emplace_back(i == 0 ? 1 : c.channels, c.channels, c.sharpGates);  // EXPECT: torch-unregistered-module
        }
        rain_ = register_module("rain", nn::Conv2d(nn::Conv2dOptions(c.channels, 1, 1)));
        classes_ = register_module("classes", nn::Conv2d(nn::Conv2dOptions(c.channels, c.classes, 1)));
    }

    // Frames and class logits, both with the time in dimension one.
    std::pair<torch::Tensor, torch::Tensor> forward(States states, int64_t steps) {
        std::vector<torch::Tensor> frames, logits;
        const int64_t batch = states.front().hidden.size(0);
        for (int64_t t = 0; t < steps; ++t) {
            torch::Tensor x = torch::zeros({batch, 1, side_, side_}, states.front().hidden.options());  // EXPECT: torch-allocation-in-loop
            for (size_t i = 0; i < cells_.size(); ++i) {
                states[i] = cells_[i]->forward(x, states[i]);
                x = states[i].hidden;
            }
            frames.push_back(rain_->forward(x));
            logits.push_back(classes_->forward(x));
        }
        return {torch::stack(frames, 1), torch::stack(logits, 1)};
    }
private:
    int64_t side_;
    std::vector<ConvLSTMCell> cells_;
    nn::Conv2d rain_{nullptr}, classes_{nullptr};
};
TORCH_MODULE(Decoder);

class NowcastImpl : public nn::Module {
public:
    explicit NowcastImpl(const Config& c) : config_(c) {
        encoder = register_module("encoder", Encoder(c));
        decoder = register_module("decoder", Decoder(c));
        peak_ = register_buffer("peak", torch::ones({1}));
        mean_ = register_buffer("mean", torch::zeros({1}));
    }

    // Follows the range of the radar over the training set.
    void observe(const torch::Tensor& frames) {
        torch::NoGradGuard guard;
        peak_ = torch::maximum(peak_, frames.amax());  // EXPECT: torch-reassigned-member
        mean_.lerp_(frames.mean(), 0.05);  // RIGHT: torch-reassigned-member
    }

    States start(int64_t batch, const torch::TensorOptions& options) const {
        return encoder->initial(batch, config_.side, options);
    }

    std::tuple<torch::Tensor, torch::Tensor, States> forward(const torch::Tensor& past, States states) {
        states = encoder->forward((past - mean_) / peak_, std::move(states));
        auto [frames, logits] = decoder->forward(states, config_.future);
        return {torch::addcmul(mean_, frames, peak_), logits, states};
    }

    Encoder encoder{nullptr};
    Decoder decoder{nullptr};
private:
    Config config_;
    torch::Tensor peak_, mean_;
};
TORCH_MODULE(Nowcast);

// Drifting gaussian rain cells; [sequences, time, 1, side, side].
torch::Tensor simulate(const Config& c) {
    const int64_t frames = c.past + c.future;
    torch::Tensor axis = torch::arange(c.side, torch::TensorOptions(torch::kFloat).device(c.device));
    torch::Tensor time = torch::arange(frames, torch::TensorOptions(torch::kFloat).device(c.device));
    auto coordinate = [&] {
        torch::Tensor start = torch::rand({c.sequences, 1}, c.device).mul_(static_cast<double>(c.side));
        torch::Tensor speed = torch::rand({c.sequences, 1}, c.device).sub_(0.5).mul_(2.0);
        return torch::addcmul(start, speed, time).unsqueeze(2).sub(axis).square_();
    };
    torch::Tensor distance = coordinate().unsqueeze(3).add(coordinate().unsqueeze(2));
    return distance.div_(-8.0).exp_().mul_(4.0).unsqueeze(2);
}

torch::Tensor rainClasses(const torch::Tensor& frames, const torch::Tensor& limits) {
    return torch::bucketize(frames.squeeze(2).contiguous(), limits);
}

// Ordinal cross entropy: neighbouring classes share a part of the weight.
struct SoftClassLoss {
    torch::Tensor limits;
    torch::Tensor smoothing;

    torch::Tensor operator()(const torch::Tensor& logits, const torch::Tensor& truth) const {
        torch::Tensor target = smoothing.index({rainClasses(truth, limits)}).permute({0, 1, 4, 2, 3});
        torch::Tensor logs = torch::log(torch::softmax(logits, 2));  // EXPECT: torch-unfused-operation
        return logs.mul(target).sum(2).mean().neg();
    }
};

SoftClassLoss makeClassLoss(const Config& c) {
    torch::Tensor rank = torch::arange(c.classes, torch::TensorOptions(torch::kFloat).device(c.device));
    torch::Tensor gap = rank.unsqueeze(0).sub(rank.unsqueeze(1)).abs_();
    return {torch::tensor({0.1f, 0.5f, 1.5f}, c.device), torch::softmax(gap.mul_(-2.0), 1)};
}

// Log likelihood of the classes under the mixture of several forecasts.
torch::Tensor mixtureLikelihood(const std::vector<torch::Tensor>& logits, const torch::Tensor& classes) {
    torch::Tensor mixed = torch::softmax(torch::stack(logits), 3).mean(0);
    torch::Tensor logs = torch::log(mixed);  // RIGHT: torch-unfused-operation
    return logs.gather(2, classes.unsqueeze(2)).mean();
}

template <typename Model, typename ClassLoss>
class Trainer {
public:
    Trainer(Model model, ClassLoss loss, const Config& config)
        : model_(model), loss_(std::move(loss)), config_(config),
          optimizer_(model->parameters(), torch::optim::AdamOptions(3e-3)),
          blank_(model->start(config.batch, torch::TensorOptions(config.device))) {}

    double epoch(const torch::Tensor& data) {
        torch::Tensor total = torch::zeros({}, config_.device);
        torch::Tensor order = torch::randperm(data.size(0), config_.device);
        for (const torch::Tensor& rows : order.split(config_.batch)) {
            torch::Tensor batch = data.index_select(0, rows);
            model_->observe(batch);
            auto [frames, logits, after] = model_->forward(batch.slice(1, 0, config_.past), blank_);
            torch::Tensor future = batch.slice(1, config_.past);
            torch::Tensor loss = torch::mse_loss(frames, future) + loss_(logits, future);
            optimizer_.zero_grad(/*set_to_none=*/false);  // EXPECT: torch-zero-grad-in-place
            loss.backward({}, /*retain_graph=*/true);  // EXPECT: torch-retain-graph-in-loop
            optimizer_.step();
            total.add_(loss.detach());
            if (!config_.device.is_cpu()) at::accelerator::emptyCache();  // EXPECT: torch-empty-cache-in-loop
        }
        return total.item<double>();
    }

    // One long series per row, in windows; the state runs on.
    void series(const torch::Tensor& data) {
        torch::Tensor rows = data.slice(0, 0, config_.batch);
        States states = blank_;
        for (int64_t begin = 0; begin + config_.future < rows.size(1); ++begin) {
            optimizer_.zero_grad();
            auto [frames, logits, after] = model_->forward(rows.slice(1, begin, begin + 1), states);
            torch::Tensor future = rows.slice(1, begin + 1, begin + 1 + config_.future);
            torch::mse_loss(frames, future).backward();
            optimizer_.step();
            if (config_.stateful) {
                states = after;  // EXPECT: torch-undetached-hidden-state
            } else {
                states = detached(after);  // RIGHT: torch-undetached-hidden-state
            }
        }
    }

    // Balances the two losses by the norms of their gradients.
    double balance(const torch::Tensor& data, int64_t rounds) {
        const std::vector<torch::Tensor> shared = model_->encoder->parameters();
        double ratio = 1.0;
        for (int64_t r = 0; r < rounds; ++r) {
            torch::Tensor batch = data.slice(0, r * config_.batch, (r + 1) * config_.batch);
            auto [frames, logits, after] = model_->forward(batch.slice(1, 0, config_.past), blank_);
            torch::Tensor future = batch.slice(1, config_.past);
            auto first = torch::autograd::grad({torch::mse_loss(frames, future)}, shared, {}, /*retain_graph=*/true);  // RIGHT: torch-retain-graph-in-loop
            auto second = torch::autograd::grad({loss_(logits, future)}, shared);
            torch::Tensor quotient = norm(first) / norm(second);
            ratio = 0.5 * ratio + 0.5 * quotient.item<double>();  // RIGHT: torch-sync-in-loop
            if (std::abs(ratio - 1.0) < 0.05) break;
        }
        return ratio;
    }

    // Fine tuning of the encoder; the gradients lie in one flat buffer that the
    // norm and the clipping see as one vector.
    void tune(const torch::Tensor& data) {
        std::vector<torch::Tensor> weights = model_->encoder->parameters();
        int64_t count = 0;
        for (const torch::Tensor& w : weights) count += w.numel();
        torch::Tensor flat = torch::zeros({count}, config_.device);
        for (torch::Tensor& w : weights) {
            count -= w.numel();
            w.mutable_grad() = flat.slice(0, count, count + w.numel()).view_as(w);
        }
        torch::optim::SGD optimizer(weights, torch::optim::SGDOptions(1e-2));
        for (const torch::Tensor& batch : data.split(config_.batch)) {
            flat.zero_();  // RIGHT: torch-zero-grad-in-place
            auto result = model_->forward(batch.slice(1, 0, config_.past), blank_);
            torch::mse_loss(std::get<0>(result), batch.slice(1, config_.past)).backward({}, false, false, weights);
            flat.mul_(flat.norm().add_(1e-6).reciprocal_().clamp_max_(1.0));
            optimizer.step();
        }
        for (torch::Tensor& w : weights) w.mutable_grad().reset();
    }

    // Likelihood and error of a small ensemble of perturbed forecasts.
    std::pair<double, double> evaluate(const torch::Tensor& data, int64_t members) {
        torch::NoGradGuard guard;
        torch::Tensor likelihood = torch::zeros({}, config_.device);
        torch::Tensor error = torch::zeros({}, config_.device);
        for (const torch::Tensor& batch : data.split(config_.batch)) {
            torch::Tensor future = batch.slice(1, config_.past);
            std::vector<torch::Tensor> logits;
            torch::Tensor frames;
            for (int64_t m = 0; m < members; ++m) {
                torch::Tensor past = batch.slice(1, 0, config_.past).clone();  // RIGHT: torch-redundant-transfer
                past.add_(torch::randn_like(past), 0.05);  // RIGHT: torch-allocation-in-loop
                auto result = model_->forward(past, blank_);
                frames = std::get<0>(result);
                logits.push_back(std::get<1>(result));
            }
            likelihood.add_(mixtureLikelihood(logits, rainClasses(future, loss_.limits)));
            error.add_(torch::l1_loss(frames, future));
        }
        return {likelihood.item<double>(), error.item<double>()};
    }

private:
    static torch::Tensor norm(const std::vector<torch::Tensor>& gradients) {
        std::vector<torch::Tensor> flat;
        for (const torch::Tensor& g : gradients) flat.push_back(g.flatten());
        return torch::cat(flat).norm();
    }

    Model model_;
    ClassLoss loss_;
    Config config_;
    torch::optim::Adam optimizer_;
    States blank_;
};

}  // namespace nowcast

int main(int argc, char** argv) {
    torch::manual_seed(8);
    torch::set_num_threads(1);
    nowcast::Config config;
    for (int i = 1; i < argc; ++i) {
        config.stateful = config.stateful || std::string(argv[i]) == "--stateful";
        config.sharpGates = config.sharpGates || std::string(argv[i]) == "--sharp-gates";
    }
    config.device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;

    torch::Tensor data = nowcast::simulate(config);
    torch::Tensor held = nowcast::simulate(config);
    nowcast::Nowcast model(config);
    model->to(config.device);
    using Trainer = nowcast::Trainer<nowcast::Nowcast, nowcast::SoftClassLoss>;
    Trainer trainer(model, nowcast::makeClassLoss(config), config);
    std::cout << "loss ratio " << trainer.balance(data, 3) << "\n";
    for (int64_t epoch = 0; epoch < config.epochs; ++epoch) {
        const double loss = trainer.epoch(data);
        const auto [likelihood, error] = trainer.evaluate(held, 3);
        std::cout << "epoch " << epoch << " loss " << loss << " likelihood " << likelihood << " error " << error << "\n";
    }
    trainer.series(data);
    if (!config.device.is_cpu()) at::accelerator::emptyCache();  // RIGHT: torch-empty-cache-in-loop
    trainer.tune(data);
    std::cout << "after tuning: error " << trainer.evaluate(held, 3).second << "\n";

    std::stringstream checkpoint;
    torch::save(model, checkpoint);
    nowcast::Nowcast restored(config);
    torch::load(restored, checkpoint, config.device);
    restored->to(config.device);
    Trainer served(restored, nowcast::makeClassLoss(config), config);
    std::cout << "restored: error " << served.evaluate(held, 1).second << "\n";
    return 0;
}
