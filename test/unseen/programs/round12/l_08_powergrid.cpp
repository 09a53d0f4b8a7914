// Day-ahead load forecasts for the zones of a power grid, and the server that hands them out.
//
//   loadcast [--zones N] [--days N] [--epochs N] [--save FILE] [--cpu]

#include <torch/torch.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using torch::Tensor;
using Clock = std::chrono::steady_clock;

constexpr int64_t kDay = 24;
constexpr int64_t kPast = 7 * kDay;

struct Options {
    int64_t zones = 6;
    int64_t days = 60;
    int64_t epochs = 3;
    std::string save;
    torch::Device device{torch::cuda::is_available() ? torch::kCUDA : torch::kCPU};
};

// Hourly megawatts as the meters delivered them.
struct Archive {
    std::vector<std::vector<float>> load;  // [zone][hour]

    int64_t zones() const { return static_cast<int64_t>(load.size()); }
    int64_t hours() const { return static_cast<int64_t>(load.front().size()); }

    Tensor series(int64_t zone) const {
        auto* first = const_cast<float*>(load[zone].data());
        return torch::from_blob(first, {hours()}, torch::kFloat32).clone();  // RIGHT: torch-blob-lifetime (cloned, so the archive may go)
    }

    Tensor table() const {
        std::vector<Tensor> columns;
        for (int64_t zone = 0; zone < zones(); ++zone) columns.push_back(series(zone));
        return torch::stack(columns, 1);
    }
};

Archive simulate(const Options& options) {
    Archive archive;
    for (int64_t zone = 0; zone < options.zones; ++zone) {
        std::vector<float> load(options.days * kDay);
        for (size_t hour = 0; hour < load.size(); ++hour) {
            const double daily = std::sin(6.28318 * (hour % 24 - 7.0) / 24.0);
            const double weekend = (hour / 24) % 7 >= 5 ? 0.8 : 1.0;
            const double weather = 40.0 * std::sin(0.013 * hour * (zone + 1));
            load[hour] = static_cast<float>((300.0 + 60.0 * zone + 90.0 * daily + weather) * weekend);
        }
        archive.load.push_back(std::move(load));
    }
    return archive;
}

struct Windows {
    Tensor past;  // [N, kPast]
    Tensor next;  // [N, kDay]
};

Windows cut(const Tensor& series) {
    const auto windows = series.unfold(0, kPast + kDay, kDay);
    return {windows.slice(1, 0, kPast).contiguous(), windows.slice(1, kPast).contiguous()};
}

Windows cut_all(const Archive& archive) {
    std::vector<Tensor> past, next;
    for (int64_t zone = 0; zone < archive.zones(); ++zone) {
        auto windows = cut(archive.series(zone));
        past.push_back(windows.past);
        next.push_back(windows.next);
    }
    return {torch::cat(past), torch::cat(next)};
}

class Forecaster {
public:
    virtual ~Forecaster() = default;
    virtual void fit(const Windows&) {}
    virtual Tensor forecast(const Tensor& past) = 0;
};

class SameHourLastWeek : public Forecaster {
public:
    Tensor forecast(const Tensor& past) override { return past.slice(1, 0, kDay); }
};

struct LoadNetImpl : torch::nn::Module {
    LoadNetImpl()
        : mean(register_buffer("mean", torch::zeros({kPast}))),
          spread(register_buffer("spread", torch::ones({}))),
          body(register_module("body", torch::nn::Linear(kPast, 64))),
          drop(register_module("drop", torch::nn::Dropout(0.1))),
          head(register_module("head", torch::nn::Linear(64, kDay))) {}

    void calibrate(const Tensor& past) {
        mean = past.mean(0);  // EXPECT: torch-reassigned-member
        spread.copy_(past.std());  // RIGHT: torch-reassigned-member (the buffer itself is written)
    }

    Tensor forward(const Tensor& past) {
        const auto level = past.slice(1, -kDay);
        const auto hidden = torch::relu(body->forward((past - mean) / spread));
        return level + spread * head->forward(drop->forward(hidden));
    }

    Tensor mean, spread;
    torch::nn::Linear body;
    torch::nn::Dropout drop;
    torch::nn::Linear head;
};
TORCH_MODULE(LoadNet);

class NeuralForecaster : public Forecaster, public std::enable_shared_from_this<NeuralForecaster> {
public:
    explicit NeuralForecaster(const Options& options)
        : options_(options), device_(options.device), steepest_(torch::zeros({}, device_)) {}

    // Keeps the largest gradient that the output layer has seen.
    void watch_gradients() {
        auto self = shared_from_this();
        net_->to(device_);
        net_->head->weight.register_hook([self](Tensor gradient) {  // EXPECT: torch-reference-cycle
            self->steepest_ = torch::maximum(self->steepest_, gradient.norm());
        });
    }

    void fit(const Windows& train) override {
        net_->calibrate(train.past);
        net_->to(device_);
        net_->train();
        torch::optim::AdamW optimizer(net_->parameters(), torch::optim::AdamWOptions(1e-3));
        const auto begin = Clock::now();
        for (int64_t epoch = 0; epoch < options_.epochs; ++epoch) {
            const auto order = torch::randperm(train.past.size(0));
            for (const auto& rows : order.split(32)) {
                auto past = train.past.index_select(0, rows).to(device_, /*non_blocking=*/true);  // EXPECT: torch-pageable-transfer
                auto next = train.next.index_select(0, rows).to(device_);  // RIGHT: torch-repeated-transfer (other rows each time)
                auto loss = torch::smooth_l1_loss(net_->forward(past), next);
                optimizer.zero_grad();
                loss.backward();
                optimizer.step();
                losses_.push_back(loss);  // EXPECT: torch-retained-graph
                last_ = loss.detach();  // RIGHT: torch-retained-graph (detached, and the one before it goes)
            }
        }
        if (device_.is_cuda()) torch::cuda::synchronize();
        seconds_ = std::chrono::duration<double>(Clock::now() - begin).count();  // RIGHT: torch-timing-without-sync (waited just before)
        net_->eval();
        if (!options_.save.empty()) torch::save(net_, options_.save);
    }

    Tensor forecast(const Tensor& past) override { return net_->forward(past); }

    void summary() const {
        const auto mean = torch::stack(losses_).detach().mean();
        const auto figures = torch::stack({mean, last_, steepest_}).cpu();
        const float* figure = figures.data_ptr<float>();
        std::printf("loss %.3f in the mean, %.3f at last; steepest %.3f; %.2f s\n", figure[0],
                    figure[1], figure[2], seconds_);
    }

private:
    Options options_;
    torch::Device device_;
    LoadNet net_;
    Tensor steepest_;
    Tensor last_;
    std::vector<Tensor> losses_;
    double seconds_ = 0.0;
};

// The clock of the control room: it calls its listeners at each full hour.
class Scada {
public:
    void on_hour(std::function<void(int64_t)> listener) { listeners_.push_back(std::move(listener)); }
    void tick(int64_t hour) { for (auto& listener : listeners_) listener(hour); }

private:
    std::vector<std::function<void(int64_t)>> listeners_;
};

// The last day of each zone, for the wall display.
class Display {
public:
    void refresh(const Archive& archive) {
        const auto table = archive.table();
        for (int64_t zone = 0; zone < archive.zones(); ++zone) {
            today_[zone] = table.select(1, zone).slice(0, -kDay);  // EXPECT: torch-view-pins-storage
            yesterday_[zone] = table.select(1, zone).slice(0, -2 * kDay, -kDay).clone();  // RIGHT: torch-view-pins-storage (a copy of its own)
        }
    }

    double rise(int64_t zone) const { return (today_.at(zone) - yesterday_.at(zone)).mean().item<double>(); }

private:
    std::map<int64_t, Tensor> today_, yesterday_;
};

class Server : public std::enable_shared_from_this<Server> {
public:
    Server(std::shared_ptr<Forecaster> forecaster, std::shared_ptr<Scada> scada, torch::Device device)
        : forecaster_(std::move(forecaster)), scada_(std::move(scada)), device_(device) {
        const auto host = torch::TensorOptions().pinned_memory(device_.is_cuda());
        staging_ = torch::empty({1, kPast}, host);
        reply_ = torch::empty({1, kDay}, host);
    }

    ~Server() { stop(); }

    void start() {
        std::weak_ptr<Server> weak = weak_from_this();
        scada_->on_hour([weak](int64_t hour) {  // RIGHT: torch-reference-cycle (the listener holds it weakly)
            if (auto self = weak.lock()) self->hour_.store(hour);
        });
        thread_ = std::thread([this] { serve(); });
    }

    void stop() {
        std::unique_lock<std::mutex> lock(mutex_);
        closing_ = true;
        lock.unlock();
        ready_.notify_all();
        if (thread_.joinable()) thread_.join();
    }

    std::future<std::vector<float>> ask(Tensor past) {
        std::lock_guard<std::mutex> lock(mutex_);
        queue_.push_back({std::move(past), {}});
        ready_.notify_one();
        return queue_.back().answer.get_future();
    }

    int64_t hour() const { return hour_.load(); }

private:
    struct Request {
        Tensor past;  // [1, kPast] on the host
        std::promise<std::vector<float>> answer;
    };

    void serve() {
        torch::NoGradGuard no_grad;  // RIGHT: torch-thread-local-guard (taken in the thread that works)
        for (;;) {
            std::unique_lock<std::mutex> lock(mutex_);
            ready_.wait(lock, [this] { return closing_ || !queue_.empty(); });
            if (queue_.empty()) return;
            Request request = std::move(queue_.front());
            queue_.pop_front();
            lock.unlock();
            staging_.copy_(request.past);
            const auto past = staging_.to(device_, /*non_blocking=*/true);  // RIGHT: torch-pageable-transfer (staging_ is pinned where there is a GPU)
            reply_.copy_(forecaster_->forecast(past), /*non_blocking=*/true);
            std::vector<float> hours(reply_.data_ptr<float>(), reply_.data_ptr<float>() + kDay);  // EXPECT: torch-unsynchronized-copy
            request.answer.set_value(std::move(hours));
        }
    }

    std::shared_ptr<Forecaster> forecaster_;
    std::shared_ptr<Scada> scada_;
    torch::Device device_;
    Tensor staging_, reply_;
    std::mutex mutex_;
    std::condition_variable ready_;
    std::deque<Request> queue_;
    std::thread thread_;
    std::atomic<int64_t> hour_{0};
    bool closing_ = false;
};

void score_zone(const Archive& archive, Forecaster& forecaster, int64_t zone, torch::Device device,
                double* error) {
    const auto windows = cut(archive.series(zone));
    const auto guess = forecaster.forecast(windows.past.to(device));
    *error = (guess - windows.next.to(device)).abs().mean().item<double>();
}

std::vector<double> score_all(const Archive& archive, Forecaster& forecaster, torch::Device device) {
    torch::NoGradGuard no_grad;  // EXPECT: torch-thread-local-guard
    std::vector<double> errors(archive.zones());
    std::vector<std::thread> workers;
    for (int64_t zone = 0; zone < archive.zones(); ++zone)
        workers.emplace_back(score_zone, std::cref(archive), std::ref(forecaster), zone, device, &errors[zone]);  // RIGHT: torch-dataset-copied (handed over by reference)
    for (auto& worker : workers) worker.join();
    return errors;
}

void find_peak(const Archive& archive, int64_t zone, int64_t* hour) {
    const auto& load = archive.load[zone];
    *hour = std::max_element(load.begin(), load.end()) - load.begin();
}

std::vector<int64_t> peak_hours(const Archive& archive) {
    std::vector<int64_t> hours(archive.zones());
    std::vector<std::thread> workers;
    for (int64_t zone = 0; zone < archive.zones(); ++zone)
        workers.emplace_back(find_peak, archive, zone, &hours[zone]);  // EXPECT: torch-dataset-copied
    for (auto& worker : workers) worker.join();
    return hours;
}

double milliseconds_each(Forecaster& forecaster, const Tensor& past) {
    torch::NoGradGuard no_grad;
    constexpr int kRuns = 50;
    const auto begin = Clock::now();
    for (int run = 0; run < kRuns; ++run)
        forecaster.forecast(past);  // RIGHT: torch-discarded-result (only its time is asked)
    const auto end = Clock::now();  // EXPECT: torch-timing-without-sync
    return std::chrono::duration<double, std::milli>(end - begin).count() / kRuns;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string flag = argv[i];
        if (flag == "--cpu") options.device = torch::kCPU;
        else if (flag == "--zones" && i + 1 < argc) options.zones = std::stoll(argv[++i]);
        else if (flag == "--days" && i + 1 < argc) options.days = std::stoll(argv[++i]);
        else if (flag == "--epochs" && i + 1 < argc) options.epochs = std::stoll(argv[++i]);
        else if (flag == "--save" && i + 1 < argc) options.save = argv[++i];
    }
    torch::manual_seed(5);
    const Archive archive = simulate(options);
    const Windows windows = cut_all(archive);

    auto network = std::make_shared<NeuralForecaster>(options);
    network->watch_gradients();
    network->fit(windows);
    network->summary();

    SameHourLastWeek naive;
    for (Forecaster* forecaster : {static_cast<Forecaster*>(&naive), static_cast<Forecaster*>(network.get())}) {
        for (double error : score_all(archive, *forecaster, options.device)) std::printf(" %7.2f", error);
        std::printf(" MW off\n");
    }
    std::printf("%.3f ms for each batch\n", milliseconds_each(*network, windows.past.to(options.device)));

    Display display;
    display.refresh(archive);
    auto scada = std::make_shared<Scada>();
    auto server = std::make_shared<Server>(network, scada, options.device);
    server->start();
    scada->tick(archive.hours());
    const auto tomorrow = server->ask(windows.past.narrow(0, 0, 1)).get();
    std::printf("hour %lld: %.1f MW, today %+.1f MW, peak at %lld\n", static_cast<long long>(server->hour()),
                tomorrow[0], display.rise(0), static_cast<long long>(peak_hours(archive)[0] % kDay));
    return 0;
}
