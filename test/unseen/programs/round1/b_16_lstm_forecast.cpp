#include <torch/torch.h>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <limits>
#include <sstream>

// Forecasting of a noisy seasonal series: stateful GRU over consecutive windows,
// learning-rate schedule, checkpoint of the best epoch, early stopping.

struct ForecasterImpl : torch::nn::Module {
    torch::nn::GRU gru{nullptr};
    torch::nn::Linear out{nullptr};

    explicit ForecasterImpl(int64_t hidden = 24) {
        gru = register_module("gru", torch::nn::GRU(torch::nn::GRUOptions(1, hidden).batch_first(true)));
        out = register_module("out", torch::nn::Linear(hidden, 1));
    }

    std::tuple<torch::Tensor, torch::Tensor> forward(torch::Tensor x, torch::Tensor h) {
        auto [y, hn] = gru->forward(x, h);
        return {out->forward(y), hn};
    }
};
TORCH_MODULE(Forecaster);

class EarlyStopping {
public:
    explicit EarlyStopping(int patience) : patience_(patience) {}

    bool operator()(Forecaster &net, const torch::Tensor &loss) {
        curve_.push_back(loss);  // EXPECT: torch-retained-graph
        double value = loss.item<double>();
        if (value < best_) {
            best_ = value;
            waited_ = 0;
            torch::serialize::OutputArchive archive;
            net->save(archive);
            std::ostringstream os;
            archive.save_to(os);
            checkpoint_ = os.str();
            return false;
        }
        return ++waited_ >= patience_;
    }

    void restore(Forecaster &net) const {
        std::istringstream is(checkpoint_);
        torch::serialize::InputArchive archive;
        archive.load_from(is);
        net->load(archive);
    }

    void print(std::ostream &os) const {
        for (auto &v : curve_)
            os << v.item<double>() << ' ';
        os << "-> " << best_ << '\n';
    }

private:
    int patience_, waited_ = 0;
    double best_ = std::numeric_limits<double>::infinity();
    std::string checkpoint_;
    std::vector<torch::Tensor> curve_;
};

static torch::Tensor series(int64_t n) {
    auto t = torch::arange(n, torch::kFloat);
    return torch::sin(t * 0.2) + 0.5 * torch::sin(t * 0.05) + 0.05 * torch::randn({n});
}

static torch::Tensor validate(Forecaster &net, const torch::Tensor &data) {
    net->eval();
    auto x = data.slice(0, 0, -1).view({1, -1, 1});
    auto y = data.slice(0, 1).view({1, -1, 1});
    auto prediction = std::get<0>(net->forward(x, torch::zeros({1, 1, 24})));  // EXPECT: torch-missing-no-grad
    net->train();
    return torch::l1_loss(prediction, y);
}

int main() {
    torch::manual_seed(19);
    const int64_t window = 20, windows = 12;
    auto data = series(window * windows + 1);
    auto held = series(400);

    Forecaster net;
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.02));
    torch::optim::StepLR scheduler(optimizer, 4, 0.7);
    EarlyStopping stop(3);

    for (int epoch = 0; epoch < 8; ++epoch) {
        auto h = torch::zeros({1, 1, 24});
        for (int64_t k = 0; k < windows; ++k) {
            auto x = data.slice(0, k * window, (k + 1) * window).view({1, window, 1});
            auto y = data.slice(0, k * window + 1, (k + 1) * window + 1).view({1, window, 1});
            optimizer.zero_grad();
            torch::Tensor p;
            std::tie(p, h) = net->forward(x, h);  // EXPECT: torch-undetached-hidden-state
            auto loss = torch::mse_loss(p, y);
            loss.backward({}, /*retain_graph=*/true);
            torch::nn::utils::clip_grad_norm_(net->parameters(), 1.0);
            optimizer.step();  // RIGHT: torch-missing-zero-grad (cleared at the top of each window)
        }
        scheduler.step();  // RIGHT: torch-missing-zero-grad (a scheduler applies no gradients)
        if (stop(net, validate(net, held)))
            break;
    }

    stop.print(std::cout << std::fixed << std::setprecision(4));
    stop.restore(net);
    torch::NoGradGuard guard;
    auto h = torch::zeros({1, 1, 24});
    auto x = held[-1].view({1, 1, 1});
    for (int i = 0; i < 5; ++i) {
        std::tie(x, h) = net->forward(x, h);  // RIGHT: torch-undetached-hidden-state (under a guard), torch-missing-no-grad (likewise)
        std::cout << x.item<double>() << ' ';
    }
    std::cout << std::endl;
    return 0;
}
