// two tower retrieval + small ranker, offline trainer. quick version for the weekly job
#include <torch/torch.h>

#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

using torch::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

static const int64_t N_USERS = 3000;
static const int64_t N_ITEMS = 2000;
static const int64_t DIM = 32;
static const int64_t BATCH = 256;
static const int SEGMENTS = 6;

// ------------------------------------------------------------------ log data
struct Clicks {
    Tensor user, item, label, segment;
    int64_t size() const { return user.size(0); }
    Clicks rows(int64_t a, int64_t b) const {
        return {user.slice(0, a, b), item.slice(0, a, b), label.slice(0, a, b), segment.slice(0, a, b)};
    }
};

static Clicks fake_log(int64_t n, torch::Device d) {
    auto ids = torch::TensorOptions().dtype(torch::kLong).device(d);
    Clicks c;
    c.user = torch::randint(N_USERS, {n}, ids);
    c.item = torch::randint(N_ITEMS, {n}, ids);
    c.label = ((c.user + c.item) % 3 == 0).to(torch::kFloat);
    c.segment = c.user % SEGMENTS;
    return c;
}

// ------------------------------------------------------------------ models
struct TowerImpl : nn::Module {
    nn::Embedding table{nullptr};
    nn::Linear fc1{nullptr}, fc2{nullptr};
    nn::Dropout drop{nullptr};

    TowerImpl(int64_t n, double p) {
        table = register_module("table", nn::Embedding(n, DIM));
        fc1 = register_module("fc1", nn::Linear(DIM, 64));
        fc2 = register_module("fc2", nn::Linear(64, DIM));
        drop = register_module("drop", nn::Dropout(p));
    }
    Tensor forward(Tensor ids) {
        auto h = torch::relu(fc1(table(ids)));
        return F::normalize(fc2(drop(h)), F::NormalizeFuncOptions().dim(1));
    }
};
TORCH_MODULE(Tower);

// p(click) for a (user vec, item vec, segment)
struct RankerImpl : nn::Module {
    nn::Linear a{nullptr}, b{nullptr};
    nn::Dropout drop{nullptr};
    Tensor field_scale;   // per feature scaling from the feature store
    Tensor seg_prior;
    Tensor temp = torch::tensor(0.5f);

    RankerImpl() {
        a = register_module("a", nn::Linear(2 * DIM, 64));
        b = register_module("b", nn::Linear(64, 1));
        drop = register_module("drop", nn::Dropout(0.2));
        field_scale = torch::linspace(0.5, 1.5, 2 * DIM);
        seg_prior = register_buffer("seg_prior", torch::zeros({SEGMENTS}));
    }
    Tensor logits(const Tensor& u, const Tensor& v, const Tensor& seg) {
        auto x = torch::cat({u, v}, 1) * field_scale;  // EXPECT: torch-device-mismatch
        auto z = b(drop(torch::relu(a(x)))).squeeze(1);
        z = z + seg_prior.index_select(0, seg);  // RIGHT: torch-device-mismatch
        return z / temp;  // RIGHT: torch-device-mismatch
    }
    Tensor forward(const Tensor& u, const Tensor& v, const Tensor& seg) {
        return torch::sigmoid(logits(u, v, seg));
    }
};
TORCH_MODULE(Ranker);

// ------------------------------------------------------------------ bookkeeping
struct SegStat {
    Tensor hist;
    int64_t n = 0;
};

struct Smooth {
    Tensor v;
    void push(const Tensor& x) {
        if (!v.defined()) v = x.detach().clone();
        else v = v * 0.95 + x * 0.05;  // EXPECT: torch-retained-graph
    }
};

struct Meter {
    Tensor sum;
    int64_t n = 0;
    void push(const Tensor& x) {
        auto d = x.detach();
        if (n++ == 0) sum = d.clone();  // RIGHT: torch-retained-graph
        else sum.add_(d);
    }
    double read() {
        double r = n ? sum.item<double>() / n : 0.0;
        sum = Tensor();
        n = 0;
        return r;
    }
};

struct EvalScope {
    nn::Module& m;
    bool was;
    explicit EvalScope(nn::Module& m_) : m(m_), was(m_.is_training()) { m.eval(); }  // RIGHT: torch-eval-mode-not-restored
    ~EvalScope() { m.train(was); }
};

struct Job {
    Tower users{Tower(N_USERS, 0.1)};
    Tower items{Tower(N_ITEMS, 0.1)};
    Ranker ranker;
    torch::Device dev{torch::kCPU};
    std::vector<SegStat> stats;

    Job() {
        if (torch::cuda::is_available()) dev = torch::Device(torch::kCUDA, 0);
        users->to(dev);
        items->to(dev);
        ranker->to(dev);
        SegStat empty{torch::zeros({10}), 0};
        stats.assign(SEGMENTS, empty);  // EXPECT: torch-fill-alias
    }

    // ---------------- stage 1: towers
    void train_towers(const Clicks& log, int epochs) {
        std::vector<Tensor> ps = users->parameters();
        for (auto& p : items->parameters()) ps.push_back(p);
        torch::optim::Adam opt(ps, torch::optim::AdamOptions(1e-3));
        Smooth smooth;
        const int64_t steps = log.size() / BATCH;
        auto target = torch::arange(BATCH, torch::TensorOptions().dtype(torch::kLong).device(dev));  // RIGHT: torch-allocation-in-loop
        users->train();
        items->train();
        for (int e = 0; e < epochs; e++) {
            for (int64_t s = 0; s < steps; s++) {
                auto b = log.rows(s * BATCH, (s + 1) * BATCH);
                auto u = users(b.user);
                auto v = items(b.item);
                auto scores = torch::mm(u, v.t()) / 0.1;
                auto margin = torch::eye(BATCH, torch::TensorOptions().device(dev)).mul_(0.2);  // EXPECT: torch-allocation-in-loop
                auto loss = F::cross_entropy(scores - margin, target);  // RIGHT: torch-loss-input
                opt.zero_grad(false);  // EXPECT: torch-zero-grad-in-place
                loss.backward();
                opt.step();
                smooth.push(loss);
            }
            std::cout << "towers " << e << " loss~" << smooth.v.item<float>()
                      << " recall " << recall(log.rows(0, 512)) << "\n";
        }
    }

    double recall(const Clicks& c) {
        torch::NoGradGuard g;
        EvalScope a(*users), b(*items);
        auto sc = torch::mm(users(c.user), items(c.item).t());
        auto top = std::get<1>(sc.topk(10, 1));
        auto me = torch::arange(c.size(), top.options()).unsqueeze(1);
        return (top == me).any(1).to(torch::kFloat).mean().item<double>();
    }

    // ---------------- stage 2: ranker on frozen towers
    std::pair<Tensor, Tensor> vectors(const Clicks& c) {
        torch::NoGradGuard g;
        EvalScope a(*users), b(*items);
        return {users(c.user), items(c.item)};
    }

    double auc_like(const Clicks& c) {
        torch::NoGradGuard g;
        auto uv = vectors(c);
        ranker->eval();  // EXPECT: torch-eval-mode-not-restored
        auto p = ranker(uv.first, uv.second, c.segment);
        auto pos = p.masked_select(c.label > 0.5).mean();
        auto neg = p.masked_select(c.label < 0.5).mean();
        return (pos - neg).item<double>();
    }

    void train_ranker(const Clicks& log, const Clicks& held, int epochs) {
        torch::optim::AdamW opt(ranker->parameters(), torch::optim::AdamWOptions(1e-3));
        ranker->train();
        const int64_t steps = log.size() / BATCH;
        for (int e = 0; e < epochs; e++) {
            double running = 0;
            for (int64_t s = 0; s < steps; s++) {
                auto b = log.rows(s * BATCH, (s + 1) * BATCH);
                auto uv = vectors(b);
                auto p = ranker(uv.first, uv.second, b.segment);
                auto loss = F::binary_cross_entropy_with_logits(p, b.label);  // EXPECT: torch-loss-input
                opt.zero_grad();  // RIGHT: torch-zero-grad-in-place
                loss.backward();
                opt.step();
                running += loss.item<double>();  // EXPECT: torch-sync-in-loop
            }
            std::cout << "ranker " << e << " loss " << running / steps << " gap " << auc_like(held) << "\n";
        }
    }

    // second pass with the hard examples only, keeps the calibration
    void refine_ranker(const Clicks& log, int epochs) {
        torch::optim::SGD opt(ranker->parameters(), torch::optim::SGDOptions(1e-3).momentum(0.9));
        Meter meter;
        for (int e = 0; e < epochs; e++) {
            ranker->train();
            const int64_t steps = log.size() / BATCH;
            for (int64_t s = 0; s < steps; s++) {
                auto b = log.rows(s * BATCH, (s + 1) * BATCH);
                auto uv = vectors(b);
                auto p = ranker(uv.first, uv.second, b.segment);
                auto loss = F::binary_cross_entropy(p, b.label);  // RIGHT: torch-loss-input
                opt.zero_grad();
                loss.backward();
                opt.step();
                meter.push(loss);
                if (s % 50 == 49) std::cout << "  step " << s << " " << loss.item<float>() << "\n";  // RIGHT: torch-sync-in-loop
            }
            std::cout << "refine " << e << " " << meter.read() << "\n";
        }
    }

    // ---------------- reports and export
    void segment_report(const Clicks& c) {
        torch::NoGradGuard g;
        auto uv = vectors(c);
        EvalScope r(*ranker);
        auto p = ranker(uv.first, uv.second, c.segment).cpu();
        auto seg = c.segment.cpu();
        std::vector<Tensor> mean(SEGMENTS, torch::zeros({}));  // RIGHT: torch-fill-alias
        for (int s = 0; s < SEGMENTS; s++) {
            auto mine = p.masked_select(seg == s);
            stats[s].hist.add_(torch::histc(mine, 10, 0, 1));
            stats[s].n += mine.numel();
            if (mine.numel()) mean[s] = mine.mean();
        }
        for (int s = 0; s < SEGMENTS; s++)
            std::cout << "seg " << s << " n=" << stats[s].n << " mass=" << stats[s].hist.sum().item<float>()
                      << " mean=" << mean[s].item<float>() << "\n";
    }

    std::pair<Tensor, Tensor> export_vectors() {
        torch::NoGradGuard g;
        users->eval();
        users->eval();  // EXPECT: torch-partial-eval-mode
        auto opt = torch::TensorOptions().dtype(torch::kLong).device(dev);
        auto all_u = torch::arange(N_USERS, opt);
        auto all_i = torch::arange(N_ITEMS, opt);
        return {users(all_u), items(all_i)};
    }

    // many cheap candidates per user, catalogue goes through in blocks
    Tensor shortlist(const Tensor& uvec, const Tensor& ivec, int64_t k) {
        const int64_t block = 500;
        std::vector<Tensor> val, idx;
        for (int64_t a = 0; a < ivec.size(0); a += block) {
            auto s = torch::mm(uvec, ivec.slice(0, a, a + block).t());
            auto t = s.topk(k, 1);
            val.push_back(std::get<0>(t));
            idx.push_back(std::get<1>(t) + a);
        }
        auto best = std::get<1>(torch::cat(val, 1).topk(k, 1));
        return torch::cat(idx, 1).gather(1, best).cpu();
    }
};

// between two weekly jobs: new users only, the index of items is not rebuilt
static void adapt_users(Job& job, const Clicks& fresh, int64_t steps) {
    torch::optim::Adam opt(job.users->parameters(), torch::optim::AdamOptions(5e-4));
    job.users->train();
    job.items->eval();  // RIGHT: torch-partial-eval-mode
    Tensor index;
    {
        torch::NoGradGuard g;
        index = job.items(torch::arange(N_ITEMS, torch::TensorOptions().dtype(torch::kLong).device(job.dev)));
    }
    for (int64_t s = 0; s < steps; s++) {
        const int64_t a = (s * BATCH) % (fresh.size() - BATCH + 1);
        auto b = fresh.rows(a, a + BATCH);
        auto scores = torch::mm(job.users(b.user), index.t()) / 0.1;
        auto loss = F::cross_entropy(scores, b.item);
        opt.zero_grad();
        loss.backward();
        opt.step();
        if (s % 4 == 3) std::cout << "adapt " << s << " " << loss.item<float>() << "\n";
    }
}

int main(int argc, char** argv) {
    torch::set_num_threads(1);
    torch::manual_seed(11);
    int epochs = argc > 1 ? std::atoi(argv[1]) : 2;

    Job job;
    auto log = fake_log(8192, job.dev);
    auto held = fake_log(1024, job.dev);

    job.train_towers(log, epochs);
    job.train_ranker(log, held, epochs);
    job.refine_ranker(log, 1);
    job.segment_report(held);
    if (job.dev.is_cuda()) at::accelerator::emptyCache();  // RIGHT: torch-empty-cache-in-loop

    auto uv = job.export_vectors();
    auto list = job.shortlist(uv.first.slice(0, 0, 64), uv.second, 20);
    std::cout << "shortlist " << list.sizes() << "\n";
    adapt_users(job, held, 8);
    return 0;
}
