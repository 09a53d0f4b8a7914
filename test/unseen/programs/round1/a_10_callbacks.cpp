// A training loop that tells observers what happens.
#include <torch/torch.h>
#include <functional>
#include <iostream>
#include <unordered_map>
#include <vector>

struct BatchInfo {
    int64_t step;
    torch::Tensor loss;
    torch::Tensor output;
};

using BatchCallback = std::function<void(const BatchInfo&)>;

class Session {
    torch::nn::Sequential net_;
    torch::optim::SGD opt_;
    std::vector<BatchCallback> callbacks_;

public:
    explicit Session(torch::nn::Sequential net)
        : net_{net}, opt_{net->parameters(), torch::optim::SGDOptions{0.05}.momentum(0.8)} {}

    void on_batch(BatchCallback cb) { callbacks_.push_back(std::move(cb)); }

    void train(const torch::Tensor& x, const torch::Tensor& y, const torch::Tensor& class_weights, int epochs) {
        int64_t step = 0;
        for (int e = 0; e < epochs; ++e) {
            for (int64_t i = 0; i < x.size(0); i += 32, ++step) {
                auto xb = x.slice(0, i, i + 32);
                auto yb = y.slice(0, i, i + 32);
                auto out = net_->forward(xb);
                auto w = class_weights.to(torch::kFloat);  // EXPECT: torch-repeated-transfer
                auto loss = torch::nn::functional::cross_entropy(
                    out, yb, torch::nn::functional::CrossEntropyFuncOptions().weight(w));
                opt_.zero_grad();
                loss.backward();
                opt_.step();
                for (auto& cb : callbacks_) cb({step, loss, out});
            }
        }
    }
};

int main() {
    torch::manual_seed(9);
    const int64_t classes = 4000, features = 20;
    auto x = torch::randn({256, features});
    auto y = (x.select(1, 0) * 100).abs().to(torch::kLong).clamp(0, classes - 1);
    auto weights = torch::rand({classes}, torch::kDouble) + 0.5;

    torch::nn::Sequential net(torch::nn::Linear(features, 64), torch::nn::ReLU(), torch::nn::Linear(64, classes));
    Session session(net);

    std::vector<torch::Tensor> losses, smoothed;
    session.on_batch([&losses](const BatchInfo& b) {
        losses.push_back(b.loss);  // EXPECT: torch-retained-graph
    });
    session.on_batch([&smoothed](const BatchInfo& b) {
        smoothed.push_back(b.loss.detach());  // RIGHT: torch-retained-graph (detached; cross_entropy's result is one number)
    });

    double confident = 0;
    session.on_batch([&confident](const BatchInfo& b) {
        torch::NoGradGuard no_grad;
        confident += b.output.softmax(1).amax(1).mean().item<double>();  // RIGHT: torch-retained-graph (a number)
    });

    // gradients of the first layer, as they arrive
    std::unordered_map<std::string, torch::Tensor> last_gradient;
    std::vector<unsigned> hooks;
    for (const auto& item : net->named_parameters()) {
        const std::string key = item.key();
        auto p = item.value();
        hooks.push_back(p.register_hook([key, &last_gradient](torch::Tensor g) {
            last_gradient[key] = g.abs().mean();  // RIGHT: torch-retained-graph (gradients of a plain backward have no graph)
        }));
    }

    session.train(x, y, weights, 4);

    std::cout << losses.size() << " losses, first " << losses.front().item<float>() << ", last "
              << losses.back().item<float>() << "\n"
              << "mean " << torch::stack(smoothed).mean().item<float>() << ", confidence " << confident << "\n";
    for (auto& [name, g] : last_gradient) std::cout << name << " " << g.item<float>() << "\n";
    return 0;
}
