// Estimated time of arrival of merchant vessels, learned from the AIS reports of their voyages.
//
//   eta [--voyages N] [--epochs N] [--batch N] [--hidden N] [--cpu] [--online]

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <unordered_map>
#include <tuple>
#include <utility>
#include <vector>

namespace eta {

constexpr int64_t kFields = 5;   // speed, course, rate of turn, east and north of the harbour
constexpr int64_t kHarbours = 12;
constexpr int64_t kClasses = 3;  // tanker, bulk carrier, container ship

struct Config {
    int64_t voyages = 192;
    int64_t steps = 24;
    int64_t epochs = 3;
    int64_t batch = 32;
    int64_t hidden = 32;
    double learning_rate = 2e-3;
    bool online = false;
    torch::Device device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
};

Config parse(int argc, char** argv) {
    Config config;
    for (int i = 1; i < argc; ++i) {
        const std::string flag = argv[i];
        auto value = [&] { return i + 1 < argc ? std::atoll(argv[++i]) : 0; };
        if (flag == "--voyages") config.voyages = value();
        else if (flag == "--epochs") config.epochs = value();
        else if (flag == "--batch") config.batch = value();
        else if (flag == "--hidden") config.hidden = value();
        else if (flag == "--online") config.online = true;
        else if (flag == "--cpu") config.device = torch::kCPU;
    }
    return config;
}

// ---------------------------------------------------------------------------------------------
// Voyages as the receiver stores them: AIS fields are small integers, clocks are Unix seconds.

struct Voyage {
    int64_t mmsi = 0;
    int64_t harbour = 0;
    int64_t ship_class = 0;
    std::vector<double> stamps;
    std::vector<int16_t> reports;
    double hours = 0.0;  // from the last report to the berth
};

std::vector<Voyage> simulate(const Config& config, std::mt19937& engine) {
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    std::vector<Voyage> voyages(config.voyages);
    for (int64_t v = 0; v < config.voyages; ++v) {
        Voyage& voyage = voyages[v];
        voyage.mmsi = 211000000 + v % 40;
        voyage.harbour = static_cast<int64_t>(uniform(engine) * kHarbours);
        voyage.ship_class = v % kClasses;
        const double knots = 9.0 + 4.0 * voyage.ship_class + 2.0 * uniform(engine);
        const double bearing = 6.28318 * uniform(engine);
        double distance = 250.0 + 400.0 * uniform(engine);
        double clock = 1.7e9 + 3600.0 * v;
        for (int64_t s = 0; s < config.steps; ++s) {
            const double gap = 0.4 + 0.4 * uniform(engine);
            clock += 3600.0 * gap;
            distance -= knots * gap;
            voyage.stamps.push_back(clock);
            voyage.reports.push_back(static_cast<int16_t>(10.0 * knots));
            voyage.reports.push_back(static_cast<int16_t>(572.9 * bearing));
            voyage.reports.push_back(static_cast<int16_t>(20.0 * (uniform(engine) - 0.5)));
            voyage.reports.push_back(static_cast<int16_t>(10.0 * distance * std::cos(bearing)));
            voyage.reports.push_back(static_cast<int16_t>(10.0 * distance * std::sin(bearing)));
        }
        voyage.hours = distance / knots;
    }
    return voyages;
}

torch::Tensor report_rows(Voyage& voyage) {
    const auto rows = static_cast<int64_t>(voyage.stamps.size());
    auto view = torch::from_blob(voyage.reports.data(), {rows, kFields}, torch::kShort);  // RIGHT: torch-blob-dtype (int16_t is kShort)
    return view.clone();  // RIGHT: torch-blob-lifetime (the clone owns its memory)
}

// Hours between one report and the next; the first report has none before it.
torch::Tensor report_gaps(Voyage& voyage) {
    const auto rows = static_cast<int64_t>(voyage.stamps.size());
    auto stamps = torch::from_blob(voyage.stamps.data(), {rows}, torch::kFloat32);  // EXPECT: torch-blob-dtype
    auto gaps = torch::zeros({rows});
    gaps.slice(0, 1).copy_(stamps.diff() / 3600.0);
    return gaps.nan_to_num(0.0).clamp(0.0, 6.0);
}

struct Fleet {
    torch::Tensor reports;  // [N, T, kFields], int16
    torch::Tensor gaps;     // [N, T], float
    torch::Tensor harbour;  // [N], int64
    torch::Tensor hours;    // [N], double

    int64_t size() const { return reports.size(0); }
};

Fleet assemble(std::vector<Voyage>& voyages, size_t first, size_t last) {
    std::vector<torch::Tensor> reports, gaps;
    std::vector<int64_t> harbour;
    std::vector<double> hours;
    for (size_t v = first; v < last; ++v) {
        reports.push_back(report_rows(voyages[v]));
        gaps.push_back(report_gaps(voyages[v]));
        harbour.push_back(voyages[v].harbour);
        hours.push_back(voyages[v].hours);
    }
    return {torch::stack(reports), torch::stack(gaps), torch::tensor(harbour), torch::tensor(hours)};
}

struct Batch { torch::Tensor reports, gaps, harbour, hours; };

Batch fetch(const Fleet& fleet, const torch::Tensor& rows, const torch::Device& device) {
    Batch batch;
    batch.reports = fleet.reports.index_select(0, rows).to(torch::kFloat32).to(device);  // EXPECT: torch-convert-before-transfer
    batch.gaps = fleet.gaps.index_select(0, rows).to(device);
    batch.harbour = fleet.harbour.index_select(0, rows).to(device);
    batch.hours = fleet.hours.index_select(0, rows).to(torch::kFloat32).to(device);  // RIGHT: torch-convert-before-transfer (double to float is narrower)
    return batch;
}

// ---------------------------------------------------------------------------------------------
// The network: a GRU over the reports, and what is known of the harbour.

struct EtaNetImpl : torch::nn::Module {
    explicit EtaNetImpl(int64_t hidden)
        : gru(register_module("gru", torch::nn::GRU(
              torch::nn::GRUOptions(kFields + 1, hidden).batch_first(true)))),
          harbour(register_module("harbour", torch::nn::Embedding(kHarbours, 8))),
          drop(register_module("drop", torch::nn::Dropout(0.2))),
          head(register_module("head", torch::nn::Linear(hidden + 8 + 2, 1))),
          scale(register_buffer("scale", torch::tensor({0.01f, 3e-4f, 0.1f, 2e-4f, 2e-4f}))) {
        torch::NoGradGuard no_grad;
        auto table = harbour->weight;
        table.mul_(0.1);  // RIGHT: torch-parameter-copy (in place through a handle reaches the parameter)
    }

    // The outputs of all steps, and the state to go on from.
    std::tuple<torch::Tensor, torch::Tensor> encode(const Batch& batch, const torch::Tensor& state = {}) {
        return gru->forward(torch::cat({batch.reports * scale, batch.gaps.unsqueeze(-1)}, -1), state);
    }

    torch::Tensor estimate(const torch::Tensor& outputs, const torch::Tensor& port, const torch::Tensor& coords) {
        const auto last = outputs.select(1, -1);
        auto known = torch::cat({last, harbour->forward(port), coords.index_select(0, port)}, 1);
        return head->forward(drop->forward(known)).squeeze(1);
    }

    torch::Tensor forward(const Batch& batch, const torch::Tensor& coords) {
        return estimate(std::get<0>(encode(batch)), batch.harbour, coords);
    }

    torch::nn::GRU gru;
    torch::nn::Embedding harbour;
    torch::nn::Dropout drop;
    torch::nn::Linear head;
    torch::Tensor scale;
};
TORCH_MODULE(EtaNet);

// The first guess of an untrained network is the mean of the voyages.
void start_at_mean(EtaNet& net, const torch::Tensor& hours) {
    torch::NoGradGuard no_grad;
    auto bias = net->head->bias;
    bias = torch::full_like(bias, hours.mean().item<double>());  // EXPECT: torch-parameter-copy
}

class Trainer {
public:
    Trainer(EtaNet net, torch::Tensor coords, Config config)
        : net_(std::move(net)), coords_(std::move(coords)), config_(std::move(config)) {}

    void fit(const Fleet& train, const Fleet& held_out) {
        const auto near = coords_.to(config_.device);
        net_->train();
        for (int64_t epoch = 0; epoch < config_.epochs; ++epoch) {
            torch::optim::Adam optimizer(net_->parameters(), config_.learning_rate);  // EXPECT: torch-optimizer-in-loop
            const double loss = run_epoch(train, optimizer);
            std::printf("epoch %lld  loss %.3f  held out %.2f h\n", static_cast<long long>(epoch),
                        loss, validate(held_out, near));
        }
    }

    // Mean absolute error in hours.
    double validate(const Fleet& fleet, const torch::Tensor& coords) {
        torch::NoGradGuard no_grad;
        net_->eval();  // EXPECT: torch-eval-mode-not-restored
        auto error = torch::zeros({}, config_.device);
        int64_t count = 0;
        for (const auto& rows : torch::arange(fleet.size()).split(config_.batch)) {
            auto batch = fetch(fleet, rows, config_.device);
            error += (net_->forward(batch, coords) - batch.hours).abs().sum();
            count += batch.hours.cpu().size(0);  // EXPECT: torch-transfer-for-metadata
        }
        return error.item<double>() / static_cast<double>(count);  // RIGHT: torch-sync-in-loop (once, after the loop)
    }

private:
    void apply(torch::optim::Optimizer& optimizer, const torch::Tensor& loss) {
        optimizer.zero_grad();  // RIGHT: torch-missing-zero-grad (cleared here for each batch)
        loss.backward();
        torch::nn::utils::clip_grad_value_(net_->parameters(), 1.0);
        optimizer.step();
    }

    double run_epoch(const Fleet& fleet, torch::optim::Optimizer& optimizer) {
        auto total = torch::zeros({}, config_.device);
        const auto order = torch::randperm(fleet.size());
        for (const auto& rows : order.split(config_.batch)) {
            auto batch = fetch(fleet, rows, config_.device);  // RIGHT: torch-repeated-transfer (other rows each time)
            auto coords = coords_.to(config_.device);  // EXPECT: torch-repeated-transfer
            auto loss = torch::smooth_l1_loss(net_->forward(batch, coords), batch.hours);
            apply(optimizer, loss);
            total += loss.detach() * rows.size(0);  // RIGHT: torch-retained-graph (detached before it is added)
        }
        return total.item<double>() / static_cast<double>(fleet.size());
    }

    EtaNet net_;
    torch::Tensor coords_;
    Config config_;
};

// ---------------------------------------------------------------------------------------------
// On duty: every vessel in the area has its own state, which each new window of reports moves on.

class Watch {
public:
    Watch(EtaNet net, torch::Tensor coords) : net_(std::move(net)), coords_(std::move(coords)) {
        net_->eval();  // RIGHT: torch-eval-mode-not-restored (the watch only reads the network)
    }

    torch::Tensor hail(int64_t mmsi, const Batch& window) {
        torch::NoGradGuard no_grad;
        auto [outputs, state] = net_->encode(window, state_[mmsi]);
        state_[mmsi] = state;  // RIGHT: torch-undetached-hidden-state (no graph is recorded here)
        return net_->estimate(outputs, window.harbour, coords_);
    }

private:
    EtaNet net_;
    torch::Tensor coords_;
    std::unordered_map<int64_t, torch::Tensor> state_;
};

// Goes on learning from vessels that have berthed, window by window.
class OnlineTuner {
public:
    OnlineTuner(EtaNet net, torch::Tensor coords, double rate)
        : net_(std::move(net)), coords_(std::move(coords)), optimizer_(net_->parameters(), rate) {
        net_->train();
    }

    void observe(int64_t mmsi, const Batch& window) {
        auto [outputs, state] = net_->encode(window, state_[mmsi]);
        auto guess = net_->estimate(outputs, window.harbour, coords_);
        state_[mmsi] = state;  // EXPECT: torch-undetached-hidden-state
        auto loss = torch::smooth_l1_loss(guess, window.hours);
        optimizer_.zero_grad();
        loss.backward();
        optimizer_.step();
    }

private:
    EtaNet net_;
    torch::Tensor coords_;
    torch::optim::SGD optimizer_;
    std::unordered_map<int64_t, torch::Tensor> state_;
};

// One straight line for each class of ship, from the estimate to the truth; the slopes.
torch::Tensor class_slopes(const torch::Tensor& estimates, const torch::Tensor& hours,
                           const torch::Tensor& ship_class) {
    std::vector<torch::Tensor> slopes;
    for (int64_t c = 0; c < kClasses; ++c) {
        torch::nn::Linear line(1, 1);
        line->to(estimates.device());
        torch::optim::SGD optimizer(line->parameters(), 1e-4);  // RIGHT: torch-optimizer-in-loop (a new model for each class)
        const auto rows = (ship_class == c).nonzero().squeeze(1);
        const auto x = estimates.index_select(0, rows).unsqueeze(1);
        const auto y = hours.index_select(0, rows).unsqueeze(1);
        for (int step = 0; step < 20; ++step) {
            optimizer.zero_grad();
            torch::mse_loss(line->forward(x), y).backward();
            optimizer.step();
        }
        slopes.push_back(line->weight.detach().view(-1));
    }
    return torch::cat(slopes).cpu();
}

// Nautical miles between the first and the last report of a track of [T, kFields].
double miles_sailed(const torch::Tensor& track) {
    const auto legs = track.slice(1, 3, 5).diff(1, 0);
    double miles = 0.0;
    for (int64_t s = 0; s < legs.size(0); ++s)
        miles += std::hypot(legs[s][0].item<double>(), legs[s][1].item<double>());  // EXPECT: torch-element-access-in-loop
    return miles / 10.0;
}

double fastest(const torch::Tensor& reports) {
    const auto rows = reports.accessor<int16_t, 3>();
    int16_t best = 0;
    for (int64_t n = 0; n < rows.size(0); ++n)
        for (int64_t s = 0; s < rows.size(1); ++s)
            best = std::max(best, rows[n][s][0]);  // RIGHT: torch-element-access-in-loop (an accessor reads host memory)
    return best / 10.0;
}

int run(const Config& config) {
    torch::manual_seed(11);
    std::mt19937 engine(11);
    auto voyages = simulate(config, engine);
    const size_t cut = voyages.size() * 3 / 4;
    const Fleet train = assemble(voyages, 0, cut);
    const Fleet held_out = assemble(voyages, cut, voyages.size());
    const auto coords = torch::rand({kHarbours, 2});
    std::printf("first track %.1f nm, fastest %.1f kn\n", miles_sailed(train.reports[0]),
                fastest(train.reports));

    EtaNet net(config.hidden);
    net->to(config.device);
    start_at_mean(net, train.hours);
    Trainer trainer(net, coords, config);
    trainer.fit(train, held_out);

    const auto near = coords.to(config.device);
    if (config.online) {
        OnlineTuner tuner(net, near, 1e-3);
        for (const auto& row : torch::arange(train.size()).split(1))
            tuner.observe(voyages[*row.data_ptr<int64_t>()].mmsi, fetch(train, row, config.device));
    }

    Watch watch(net, near);
    std::vector<torch::Tensor> estimates;
    std::vector<int64_t> classes;
    size_t v = cut;
    for (const auto& row : torch::arange(held_out.size()).split(1)) {
        estimates.push_back(watch.hail(voyages[v].mmsi, fetch(held_out, row, config.device)));
        classes.push_back(voyages[v++].ship_class);
    }
    const auto hours = held_out.hours.to(torch::kFloat32).to(config.device);
    const auto slopes = class_slopes(torch::cat(estimates), hours,
                                     torch::tensor(classes, config.device));
    const float* slope = slopes.data_ptr<float>();
    std::printf("slopes %.3f %.3f %.3f\n", slope[0], slope[1], slope[2]);
    return 0;
}

}  // namespace eta

int main(int argc, char** argv) { return eta::run(eta::parse(argc, argv)); }
