// Quantisation aware training with a straight-through estimator and a clipped
// activation that has a learnable bound (PACT), both as custom autograd functions.
#include <torch/torch.h>
#include <cstdio>

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;
using torch::autograd::Variable;

struct RoundSTE : public torch::autograd::Function<RoundSTE>
{
    static Tensor forward(AutogradContext *ctx, Tensor x, double step)
    {
        ctx->saved_data["step"] = step;
        return (x / step).round() * step;
    }
    static tensor_list backward(AutogradContext *, tensor_list grads)
    {
        return {grads[0], Tensor()};
    }
};

struct PactClip : public torch::autograd::Function<PactClip>
{
    static Tensor forward(AutogradContext *ctx, Tensor x, Tensor bound)
    {
        ctx->save_for_backward({x, bound});  // RIGHT: torch-retained-graph (the context gives it back after the backward pass)
        return torch::minimum(x.clamp_min(0), bound);
    }
    static tensor_list backward(AutogradContext *ctx, tensor_list grads)
    {
        auto saved = ctx->get_saved_variables();
        auto x = saved[0], bound = saved[1];
        auto g = grads[0];
        auto inside = ((x > 0) & (x < bound)).to(g.scalar_type());
        auto above = (x >= bound).to(g.scalar_type());
        return {g * inside, (g * above).sum().reshape(bound.sizes())};
    }
};

struct QuantLinearImpl : torch::nn::Module
{
    QuantLinearImpl(int64_t in, int64_t out, int bits) : levels((1 << (bits - 1)) - 1)
    {
        weight = register_parameter("weight", torch::randn({out, in}) * std::sqrt(2.0 / in));
        bias = register_parameter("bias", torch::zeros({out}));
    }
    Tensor forward(const Tensor &x)
    {
        double step = weight.detach().abs().max().item<double>() / levels;
        return torch::nn::functional::linear(x, RoundSTE::apply(weight, step), bias);
    }
    int levels;
    Tensor weight, bias;
};
TORCH_MODULE(QuantLinear);

struct NetImpl : torch::nn::Module
{
    NetImpl()
    {
        bound = register_parameter("bound", torch::full({1}, 3.0));
        a = register_module("a", QuantLinear(16, 48, 4));
        b = register_module("b", QuantLinear(48, 3, 4));
    }
    Tensor forward(Tensor x) { return b(PactClip::apply(a(x), bound)); }
    QuantLinear a{nullptr}, b{nullptr};
    Tensor bound;
};
TORCH_MODULE(Net);

static Tensor labelsOf(const Tensor &x) { return x.slice(1, 0, 3).argmax(1); }

static double accuracy(Net &net, const Tensor &x)
{
    torch::NoGradGuard noGrad;
    net->eval();
    double acc = net(x).argmax(1).eq(labelsOf(x)).to(torch::kDouble).mean().item<double>();  // RIGHT: torch-missing-no-grad (guarded)
    net->train();
    return acc;
}

int main()
{
    torch::manual_seed(11);
    Net net;
    torch::optim::SGD opt(net->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
    auto test = torch::randn({1024, 16});

    Tensor last;
    for (int it = 0; it < 200; ++it)
    {
        auto x = torch::randn({128, 16});  // RIGHT: torch-allocation-in-loop (fresh random samples in each iteration)
        auto loss = torch::cross_entropy_loss(net(x), labelsOf(x)) + 1e-4 * net->bound.square().sum();
        loss.backward();
        opt.step();  // RIGHT: torch-missing-zero-grad (zero_grad follows the step)
        opt.zero_grad();
        net->bound.data().clamp_(0.1, 10.0);  // RIGHT: torch-leaf-inplace (the operation goes through data())
        last = loss.detach();  // RIGHT: torch-retained-graph (detached)
    }
    std::printf("loss %.4f bound %.3f accuracy %.3f\n", last.item<double>(), net->bound.item<double>(), accuracy(net, test));
}
