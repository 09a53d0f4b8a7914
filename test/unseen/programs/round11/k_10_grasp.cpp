// Antipodal grasp prediction from depth images.
//
// For every pixel the network predicts the quality, direction and opening of a
// grasp. The training is driven by callbacks, one trainer per gripper model.

#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace grasp {

constexpr int64_t kSize = 32;
constexpr int64_t kAngleBins = 6;

using BatchCallback = std::function<void(int64_t step, const torch::Tensor& loss)>;
using EpochCallback = std::function<void(int64_t epoch)>;
using DepthFilter = std::function<torch::Tensor(const torch::Tensor& depth)>;

struct Gripper {
    std::string name;
    double opening = 0.1;
};

// Depth images in metres and, per scene, the box [row, column, angle, width].
// The scenes stay in host memory, the recorded set is far larger than a card.
struct Scenes {
    torch::Tensor depth;
    torch::Tensor boxes;
    int64_t size() const { return depth.size(0); }
};

struct Targets {
    torch::Tensor quality;
    torch::Tensor direction;
    torch::Tensor opening;
};

class GraspNetImpl : public torch::nn::Module {
public:
    GraspNetImpl() {
        namespace nn = torch::nn;
        stem = register_module("stem", nn::Conv2d(nn::Conv2dOptions(3, 16, 5).padding(2)));
        norm = register_module("norm", nn::BatchNorm2d(16));
        body = register_module("body", nn::Conv2d(nn::Conv2dOptions(16, 16, 3).padding(1)));
        head = register_module("head", nn::Conv2d(nn::Conv2dOptions(16, 4, 1)));
    }

    torch::Tensor features(const torch::Tensor& x) {
        return torch::relu(body->forward(torch::relu(norm->forward(stem->forward(x)))));
    }

    torch::Tensor forward(const torch::Tensor& x) { return head->forward(features(x)); }

    torch::nn::Conv2d stem{nullptr}, body{nullptr}, head{nullptr};
    torch::nn::BatchNorm2d norm{nullptr};
};
TORCH_MODULE(GraspNet);

Scenes renderScenes(int64_t count) {
    Scenes scenes;
    scenes.depth = torch::full({count, 1, kSize, kSize}, 0.9f).add_(torch::randn({count, 1, kSize, kSize}), 0.004);
    scenes.boxes = torch::rand({count, 4});
    scenes.boxes.select(1, 0).mul_(kSize - 12).add_(4).floor_();
    scenes.boxes.select(1, 1).mul_(kSize - 12).add_(4).floor_();
    scenes.boxes.select(1, 2).sub_(0.5).mul_(M_PI);
    scenes.boxes.select(1, 3).mul_(0.06).add_(0.03);
    const auto box = scenes.boxes.accessor<float, 2>();
    auto pixels = scenes.depth.accessor<float, 4>();
    for (int64_t i = 0; i < count; ++i) {
        const auto row = static_cast<int64_t>(box[i][0]);
        const auto column = static_cast<int64_t>(box[i][1]);
        for (int64_t k = 0; k < 16; ++k) {
            pixels[i][0][row + k / 4][column + k % 4] -= 0.15f;
        }
    }
    return scenes;
}

torch::Tensor makePixelGrid() {
    torch::Tensor axis = torch::linspace(-1.0, 1.0, kSize);
    return torch::stack(torch::meshgrid({axis, axis}, "ij"));
}

// Height of the highest point above the table, in metres.
double clearance(const torch::Tensor& depth) {
    const float* values = depth.clamp(0.2, 1.5).data_ptr<float>();  // EXPECT: torch-dangling-data
    const float nearest = *std::min_element(values, values + depth.numel());
    return 0.9 - nearest;
}

double tableRoughness(const torch::Tensor& depth) {
    torch::Tensor row = depth.select(-2, 0);
    const float* values = row.data_ptr<float>();  // RIGHT: torch-dangling-data
    double sum = 0.0;
    for (int64_t i = 1; i < row.numel(); ++i) {
        sum += std::abs(values[i] - values[i - 1]);
    }
    return sum / static_cast<double>(row.numel());
}

class Trainer {
public:
    Trainer(Gripper gripper, torch::Device device, double rate)
        : gripper_(std::move(gripper)), device_(device), pixelGrid_(makePixelGrid()),
          axis_(torch::arange(kSize, torch::TensorOptions(torch::kFloat).device(device))),
          optimizer_(net_->parameters(), torch::optim::AdamOptions(rate)) {
        net_->to(device_);
        noise_ = at::detail::createCPUGenerator(7);
    }

    std::vector<BatchCallback> onBatch;
    std::vector<EpochCallback> onEpoch;
    std::vector<DepthFilter> filters;

    void fit(const Scenes& scenes, int64_t epochs, int64_t batch) {
        net_->train();
        int64_t step = 0;
        for (int64_t epoch = 0; epoch < epochs; ++epoch) {
            for (int64_t begin = 0; begin < scenes.size(); begin += batch, ++step) {
                torch::Tensor depth = scenes.depth.slice(0, begin, begin + batch).to(device_);  // RIGHT: torch-repeated-transfer
                torch::Tensor boxes = scenes.boxes.slice(0, begin, begin + batch).to(device_);
                const torch::Tensor loss = trainStep(augment(depth), targets(boxes));
                for (const BatchCallback& callback : onBatch) {
                    callback(step, loss);
                }
            }
            for (const EpochCallback& callback : onEpoch) {
                callback(epoch);
            }
        }
    }

    torch::Tensor predict(const torch::Tensor& depth) { return net_->forward(withGrid(depth)); }

    GraspNet& net() { return net_; }
    const Gripper& gripper() const { return gripper_; }
    torch::Device device() const { return device_; }
    torch::Tensor featureGradient() const { return featureGradient_; }

private:
    torch::Tensor withGrid(const torch::Tensor& depth) {
        torch::Tensor input = depth;
        for (const DepthFilter& filter : filters) {
            input = filter(input);
        }
        torch::Tensor grid = pixelGrid_.to(device_);  // EXPECT: torch-repeated-transfer
        return torch::cat({input, grid.expand({depth.size(0), 2, kSize, kSize})}, 1);
    }

    // Sensor noise; the same on every machine, whatever its accelerator.
    torch::Tensor augment(const torch::Tensor& depth) {
        torch::Tensor noise = torch::randn(depth.sizes(), noise_).to(device_);  // RIGHT: torch-allocate-on-device
        return torch::add(depth, noise, 0.003);
    }

    Targets targets(const torch::Tensor& boxes) {
        const int64_t count = boxes.size(0);
        torch::Tensor row = boxes.select(1, 0).view({count, 1, 1});
        torch::Tensor column = boxes.select(1, 1).view({count, 1, 1});
        torch::Tensor inRow = (axis_.view({1, kSize, 1}) - row - 1.5).abs_().lt(2.0);
        torch::Tensor inColumn = (axis_.view({1, 1, kSize}) - column - 1.5).abs_().lt(2.0);
        torch::Tensor fits = boxes.select(1, 3).lt(gripper_.opening).view({count, 1, 1});

        Targets target;
        target.quality = torch::zeros({count, kSize, kSize}).to(device_);  // EXPECT: torch-allocate-on-device
        target.quality.masked_fill_(inRow.logical_and(inColumn).logical_and_(fits), 1.0);
        torch::Tensor angle = boxes.select(1, 2);
        target.direction = torch::stack({angle.mul(2.0).cos_(), angle.mul(2.0).sin_()}, 1).view({count, 2, 1, 1});
        target.opening = boxes.select(1, 3).view({count, 1, 1});
        return target;
    }

    torch::Tensor trainStep(const torch::Tensor& depth, const Targets& target) {
        net_->stem->weight.register_hook([](torch::Tensor g) { return g.clamp(-0.5, 0.5); });  // EXPECT: torch-hook-in-loop
        torch::Tensor features = net_->features(withGrid(depth));
        features.register_hook([this](torch::Tensor g) { featureGradient_ = g.norm(); });  // RIGHT: torch-hook-in-loop
        torch::Tensor out = net_->head->forward(features);

        torch::Tensor quality = torch::binary_cross_entropy_with_logits(out.select(1, 0), target.quality);
        torch::Tensor mask = target.quality.unsqueeze(1);
        torch::Tensor direction = (out.slice(1, 1, 3) - target.direction).square().mul(mask).mean();
        torch::Tensor opening = (out.select(1, 3) - target.opening).square().mul(target.quality).mean();
        torch::Tensor loss = quality + direction + opening;
        optimizer_.zero_grad();
        loss.backward();
        optimizer_.step();
        return loss.detach();
    }

    Gripper gripper_;
    torch::Device device_;
    torch::Tensor pixelGrid_;
    torch::Tensor axis_;
    GraspNet net_;
    torch::optim::Adam optimizer_;
    torch::Generator noise_;
    torch::Tensor featureGradient_;
};

// ------------------------------------------------------------- evaluation --

struct Report {
    double success = 0.0;
    std::vector<double> byAngle;
};

// Copies the quality of one scene to the planner's buffer.
void exportQuality(const torch::Tensor& quality, std::vector<float>& buffer) {
    buffer.resize(static_cast<size_t>(quality.numel()));
    torch::Tensor map = torch::sigmoid(quality);
    std::memcpy(buffer.data(), map.to(torch::kCPU, true).data_ptr<float>(), buffer.size() * sizeof(float));  // EXPECT: torch-unsynchronized-copy
}

torch::Tensor directionBins(const torch::Tensor& direction) {
    torch::Tensor angle = torch::atan2(direction.select(1, 1), direction.select(1, 0)).mul_(0.5);
    static const torch::Tensor centres = torch::linspace(-M_PI / 2, M_PI / 2, kAngleBins);
    return (angle.unsqueeze(1) - centres).abs_().argmin(1);  // EXPECT: torch-device-mismatch
}

Report evaluate(Trainer& trainer, const Scenes& scenes, int64_t batch) {
    torch::NoGradGuard guard;
    trainer.net()->eval();
    const torch::Device device = trainer.device();
    const torch::Tensor limit = torch::tensor(4.0f);
    auto options = torch::TensorOptions(torch::kFloat).device(device);
    std::vector<torch::Tensor> tally(kAngleBins, torch::zeros({2}, options));  // EXPECT: torch-fill-alias
    torch::Tensor hits = torch::zeros({}, options);
    for (int64_t begin = 0; begin < scenes.size(); begin += batch) {
        torch::Tensor depth = scenes.depth.slice(0, begin, begin + batch).to(device);
        torch::Tensor boxes = scenes.boxes.slice(0, begin, begin + batch).to(device);
        torch::Tensor out = trainer.predict(depth);  // RIGHT: torch-missing-no-grad
        torch::Tensor best = out.select(1, 0).flatten(1).argmax(1);
        torch::Tensor row = best.div(kSize, "floor").sub(boxes.select(1, 0)).sub_(1.5).abs_();
        torch::Tensor column = best.remainder(kSize).sub(boxes.select(1, 1)).sub_(1.5).abs_();
        torch::Tensor good = torch::maximum(row, column).lt(limit);  // RIGHT: torch-device-mismatch
        hits.add_(good.sum());

        torch::Tensor at = best.view({-1, 1, 1}).expand({-1, 2, 1});
        torch::Tensor bins = directionBins(out.slice(1, 1, 3).flatten(2).gather(2, at).squeeze(2));
        for (int64_t b = 0; b < kAngleBins; ++b) {
            torch::Tensor inside = bins.eq(b);
            tally[static_cast<size_t>(b)].add_(torch::stack({inside.logical_and(good).sum(), inside.sum()}));
        }
    }
    trainer.net()->train();

    Report report;
    torch::Tensor counts = torch::stack(tally).cpu();
    const auto values = counts.accessor<float, 2>();
    for (int64_t b = 0; b < kAngleBins; ++b) {
        report.byAngle.push_back(values[b][0] / std::max(1.0f, values[b][1]));
    }
    report.success = hits.item<double>() / static_cast<double>(scenes.size());
    return report;
}

// Milliseconds per image of the network alone.
double latency(Trainer& trainer, const torch::Tensor& depth, int repeats) {
    torch::NoGradGuard guard;
    trainer.predict(depth);
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) {
        trainer.predict(depth);
    }
    const auto elapsed = std::chrono::steady_clock::now() - start;  // EXPECT: torch-timing-without-sync
    return std::chrono::duration<double, std::milli>(elapsed).count() / repeats;
}

// Milliseconds from the image to the planner's map.
double responseTime(Trainer& trainer, const torch::Tensor& depth) {
    torch::NoGradGuard guard;
    const bool cuda = trainer.device().is_cuda();
    torch::Tensor pinned = torch::empty({depth.size(0), kSize, kSize}, torch::TensorOptions().pinned_memory(cuda));
    const auto start = std::chrono::steady_clock::now();
    pinned.copy_(trainer.predict(depth).select(1, 0), true);
    if (cuda) {
        torch::cuda::synchronize();
    }
    const auto elapsed = std::chrono::steady_clock::now() - start;  // RIGHT: torch-timing-without-sync
    const float peak = *std::max_element(pinned.data_ptr<float>(), pinned.data_ptr<float>() + pinned.numel());  // RIGHT: torch-unsynchronized-copy
    return std::isfinite(peak) ? std::chrono::duration<double, std::milli>(elapsed).count() : -1.0;
}

// --------------------------------------------------------------- assembly --

// Smoothing in the four orientations of an edge preserving kernel.
DepthFilter smoothing(torch::Device device) {
    torch::Tensor base = torch::tensor({0.0f, 0.1f, 0.0f, 0.0f, 0.8f, 0.1f, 0.0f, 0.0f, 0.0f}).view({1, 1, 3, 3});
    std::vector<torch::Tensor> kernels(4, base);  // RIGHT: torch-fill-alias
    for (int64_t k = 1; k < 4; ++k) {
        kernels[static_cast<size_t>(k)] = torch::rot90(base, k, {2, 3});
    }
    torch::Tensor weight = torch::cat(kernels).mean(0, true).to(device);
    return [weight](const torch::Tensor& depth) {
        return torch::conv2d(depth, weight, {}, /*stride=*/1, /*padding=*/1);
    };
}

std::shared_ptr<Trainer> assemble(const Gripper& gripper, torch::Device device, const Scenes& validation) {
    auto trainer = std::make_shared<Trainer>(gripper, device, 4e-3);
    trainer->filters.push_back(smoothing(device));

    trainer->onBatch.push_back([name = gripper.name](int64_t step, const torch::Tensor& loss) {
        if (step % 16 == 0) {
            std::cout << name << " step " << step << " loss " << loss.item<double>() << "\n";  // RIGHT: torch-sync-in-loop
        }
    });
    trainer->onEpoch.push_back([trainer, validation](int64_t epoch) {  // EXPECT: torch-reference-cycle
        const Report report = evaluate(*trainer, validation, 32);
        std::cout << trainer->gripper().name << " epoch " << epoch << " success " << report.success << " best angle "
                  << *std::max_element(report.byAngle.begin(), report.byAngle.end()) << "\n";
    });
    std::weak_ptr<Trainer> watched = trainer;
    trainer->onEpoch.push_back([watched](int64_t epoch) {  // RIGHT: torch-reference-cycle
        if (auto owner = watched.lock()) {
            std::cout << owner->gripper().name << " epoch " << epoch << " feature gradient "
                      << owner->featureGradient().item<double>() << "\n";
        }
    });
    return trainer;
}

}  // namespace grasp

int main(int argc, char** argv) {
    torch::manual_seed(4);
    torch::set_num_threads(1);
    const int64_t epochs = argc > 1 ? std::atoll(argv[1]) : 3;
    const torch::Device device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;

    const grasp::Scenes training = grasp::renderScenes(192);
    const grasp::Scenes validation = grasp::renderScenes(64);
    for (const grasp::Gripper& gripper : {grasp::Gripper{"parallel", 0.08}, grasp::Gripper{"wide", 0.12}}) {
        std::shared_ptr<grasp::Trainer> trainer = grasp::assemble(gripper, device, validation);
        trainer->fit(training, epochs, 16);

        torch::Tensor image = validation.depth.slice(0, 0, 1).to(device);
        std::vector<float> map;
        {
            torch::NoGradGuard guard;
            trainer->net()->eval();
            grasp::exportQuality(trainer->predict(image)[0][0], map);
        }
        std::cout << gripper.name << " clearance " << grasp::clearance(validation.depth[0]) << " roughness "
                  << grasp::tableRoughness(validation.depth[0]) << " peak " << *std::max_element(map.begin(), map.end())
                  << " latency " << grasp::latency(*trainer, image, 20) << " ms, response "
                  << grasp::responseTime(*trainer, image) << " ms\n";
    }
    return 0;
}
