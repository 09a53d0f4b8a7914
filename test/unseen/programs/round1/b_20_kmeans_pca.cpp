#include <torch/torch.h>
#include <algorithm>
#include <iostream>
#include <numeric>
#include <optional>
#include <vector>

// k-means (with k-means++ seeding) and PCA by power iteration. Nothing here has a gradient.

struct KMeansResult {
    torch::Tensor centres;
    torch::Tensor assignment;
    double inertia = 0.0;
    int iterations = 0;
};

static torch::Tensor seedCentres(const torch::Tensor& x, int64_t k)
{
    std::vector<torch::Tensor> chosen;
    chosen.push_back(x[torch::randint(x.size(0), {1}).item<int64_t>()]);
    while (static_cast<int64_t>(chosen.size()) < k) {
        auto d = torch::cdist(x, torch::stack(chosen)).square();
        auto next = std::get<0>(d.min(1)).multinomial(1).item<int64_t>();
        chosen.push_back(x[next]);  // RIGHT: torch-retained-graph (data has no graph)
    }
    return torch::stack(chosen);
}

static KMeansResult kmeans(const torch::Tensor& x, int64_t k, int limit = 50)
{
    KMeansResult r;
    r.centres = seedCentres(x, k);
    const auto ones = torch::ones({x.size(0), 1}, x.options());
    auto sums = torch::empty({k, x.size(1)}, x.options());
    auto counts = torch::empty({k, 1}, x.options());
    for (; r.iterations < limit; ++r.iterations) {
        auto [distance, nearest] = torch::cdist(x, r.centres).min(1);
        double inertia = distance.square().sum().item<double>();
        sums.zero_().index_add_(0, nearest, x);
        counts.zero_().index_add_(0, nearest, ones);
        r.centres = torch::where(counts > 0, sums / counts.clamp_min(1), r.centres);
        r.assignment = nearest;
        const bool done = r.iterations > 0 && std::abs(r.inertia - inertia) < 1e-4 * inertia;
        r.inertia = inertia;
        if (done) break;
    }
    return r;
}

class Pca {
public:
    explicit Pca(int64_t components) : components_(components) {}

    Pca& fit(const torch::Tensor& x)
    {
        mean_ = x.mean(0);
        auto rest = x - mean_;
        basis_.clear();
        for (int64_t c = 0; c < components_; ++c) {
            auto v = torch::randn({x.size(1)}, x.options());  // RIGHT: torch-allocation-in-loop (a start of its own for each component, and it is kept)
            for (int i = 0; i < 60; ++i) {
                v = rest.t().mv(rest.mv(v));  // RIGHT: torch-undetached-hidden-state (no gradient anywhere)
                v /= v.norm();
            }
            basis_.push_back(v);
            rest = rest - rest.mv(v).unsqueeze(1) * v;
        }
        return *this;
    }

    torch::Tensor transform(const torch::Tensor& x) const { return (x - mean_).mm(torch::stack(basis_, 1)); }

    std::optional<torch::Tensor> component(size_t i) const
    {
        if (i >= basis_.size()) return std::nullopt;
        return basis_[i];
    }

private:
    int64_t components_;
    torch::Tensor mean_;
    std::vector<torch::Tensor> basis_;
};

static std::vector<int64_t> largestFirst(const torch::Tensor& assignment, int64_t k)
{
    auto counts = torch::bincount(assignment, {}, k).contiguous();
    const int64_t* p = counts.data_ptr<int64_t>();  // RIGHT: torch-dangling-data (the tensor has a name and lives on)
    std::vector<int64_t> order(k);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [p](int64_t a, int64_t b) { return p[a] > p[b]; });
    return order;
}

int main()
{
    torch::manual_seed(99);
    auto truth = torch::randn({5, 16}, torch::kDouble) * 3;
    auto which = torch::randint(5, {3000}, torch::kLong);
    auto x = truth.index_select(0, which) + torch::randn({3000, 16}, torch::kDouble);

    KMeansResult best;
    best.inertia = std::numeric_limits<double>::max();
    for (int restart = 0; restart < 5; ++restart) {
        auto r = kmeans(x, 5);
        if (r.inertia < best.inertia) best = r;  // RIGHT: torch-parameter-copy (handles to another result are what is meant)
    }
    std::cout << "inertia " << best.inertia << " after " << best.iterations << " iterations; sizes by rank:";
    for (auto c : largestFirst(best.assignment, 5)) std::cout << ' ' << c;

    Pca pca(3);
    auto z = pca.fit(x).transform(x);
    std::cout << "\nvariance of the projections " << z.var(0) << "\n";
    auto exact = std::get<1>(torch::linalg_svd(x - x.mean(0), false)).slice(0, 0, 3).square() / 2999;
    std::cout << "exact " << exact << "\n";
    if (auto first = pca.component(0)) std::cout << "|first| " << first->norm().item<double>() << std::endl;
    return 0;
}
