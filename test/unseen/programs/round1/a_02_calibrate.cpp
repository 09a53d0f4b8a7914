// Fits a sensor's gain and offset by gradient descent written out by hand.
#include <torch/torch.h>
#include <cmath>
#include <cstdio>
#include <vector>

static std::vector<double> readRaw(int n)
{
    std::vector<double> v;
    v.reserve(n);
    for (int i = 0; i < n; ++i)
        v.push_back(0.02 * i + 0.1 * std::sin(0.7 * i));
    return v;
}

static std::vector<float> readReference(int n)
{
    std::vector<float> v(n);
    for (int i = 0; i < n; ++i)
        v[i] = 1.7f * (0.02f * i) - 0.4f;
    return v;
}

// First version. Kept to show what happens.
static double fitNaive(const torch::Tensor &x, const torch::Tensor &y, int steps)
{
    auto gain = torch::ones({1}, torch::requires_grad());
    auto offset = torch::zeros({1}, torch::requires_grad());
    double last = 0;
    for (int i = 0; i < steps; ++i) {
        auto loss = torch::mse_loss(x * gain + offset, y);
        loss.backward();
        gain -= 0.1 * gain.grad();              // EXPECT: torch-leaf-inplace
        offset.sub_(offset.grad(), 0.1);        // EXPECT: torch-leaf-inplace
        gain.grad().zero_();                    // RIGHT: torch-leaf-inplace (the gradient is no leaf that requires one)
        offset.grad().zero_();
        last = loss.item<double>();
    }
    return last;
}

static double fit(const torch::Tensor &x, const torch::Tensor &y, int steps)
{
    auto gain = torch::ones({1}).set_requires_grad(true);
    auto offset = torch::zeros({1}).set_requires_grad(true);
    double last = 0;
    for (int i = 0; i < steps; ++i) {
        auto loss = torch::mse_loss(x * gain + offset, y);
        loss.backward();
        {
            torch::NoGradGuard guard;
            gain -= 0.1 * gain.grad();          // RIGHT: torch-leaf-inplace (under a guard)
        }
        offset.data().sub_(offset.grad(), 0.1); // RIGHT: torch-leaf-inplace (by data(), outside of autograd)
        gain.mutable_grad().reset();
        offset.mutable_grad().reset();
        last = loss.item<double>();
    }
    std::printf("gain %.3f offset %.3f\n", gain.item<double>(), offset.item<double>());
    return last;
}

int main()
{
    constexpr int n = 200;
    auto raw = readRaw(n);
    auto reference = readReference(n);

    auto x = torch::from_blob(raw.data(), {n});       // EXPECT: torch-blob-dtype
    auto y = torch::from_blob(reference.data(), {n}); // RIGHT: torch-blob-dtype (a vector of floats)

    try {
        fitNaive(x, y, 50);
    } catch (const c10::Error &e) {
        std::printf("naive descent failed\n");
    }

    auto x64 = torch::from_blob(raw.data(), {n}, torch::kFloat64).to(torch::kFloat32); // RIGHT: torch-blob-dtype (the type is given)
    std::printf("loss %.5f\n", fit(x64, y, 300));

    std::vector<int64_t> stamps(n);
    for (int i = 0; i < n; ++i)
        stamps[i] = 1000 + 10 * i;
    auto when = torch::from_blob(stamps.data(), {n}, torch::dtype(torch::kInt32)); // EXPECT: torch-blob-dtype
    std::printf("last stamp %d\n", when[n - 1].item<int>());

    std::vector<uint8_t> flags(n, 1);
    auto valid = torch::from_blob(flags.data(), {n}, torch::kBool); // RIGHT: torch-blob-dtype (bytes that hold 0 or 1)
    std::printf("%lld valid\n", static_cast<long long>(valid.sum().item<int64_t>()));
}
