// The heat equation on a rod by a network: first Adam, then LBFGS; the best weights are kept.
#include <torch/torch.h>
#include <cmath>
#include <iostream>
#include <sstream>

namespace
{

struct Field final : torch::nn::Cloneable<Field>
{
    explicit Field(int64_t width) : width(width) { reset(); }

    void reset() override
    {
        layers = register_module("layers", torch::nn::ModuleList());   // RIGHT: torch-reassigned-member (assigned and registered in one)
        layers->push_back(torch::nn::Linear(2, width));                // RIGHT: torch-unregistered-module (part of a registered list)
        layers->push_back(torch::nn::Linear(width, width));
        layers->push_back(torch::nn::Linear(width, 1));
    }

    torch::Tensor forward(torch::Tensor xt)
    {
        for (size_t i = 0; i + 1 < layers->size(); ++i)
            xt = torch::tanh(layers[i]->as<torch::nn::Linear>()->forward(xt));
        return layers[layers->size() - 1]->as<torch::nn::Linear>()->forward(xt);
    }

    int64_t width;
    torch::nn::ModuleList layers{nullptr};
};

auto gradient(const torch::Tensor& of, const torch::Tensor& by)
{
    return torch::autograd::grad({of.sum()}, {by}, {}, /*retain_graph=*/true, /*create_graph=*/true)[0];
}

struct Problem
{
    torch::Tensor inside, start, start_value, ends;

    Problem()
    {
        inside = torch::rand({200, 2});
        auto x = torch::linspace(0, 1, 50);
        start = torch::stack({x, torch::zeros_like(x)}, 1);
        start_value = torch::sin(M_PI * x).unsqueeze(1);
        auto t = torch::rand({50});
        ends = torch::stack({torch::round(torch::rand({50})), t}, 1);
    }

    torch::Tensor loss(Field& u) const
    {
        auto points = inside.detach().clone().requires_grad_();
        auto value = u.forward(points);   // RIGHT: torch-missing-no-grad (its derivatives are the loss)
        auto d = gradient(value, points);
        auto dxx = gradient(d.select(1, 0), points).select(1, 0);
        auto residual = d.select(1, 1) - 0.1 * dxx;
        return residual.pow(2).mean() + (u.forward(start) - start_value).pow(2).mean() + u.forward(ends).pow(2).mean();
    }
};

double solution_error(Field& u)
{
    const torch::NoGradGuard guard;
    auto x = torch::linspace(0, 1, 21), t = torch::full({21}, 0.5);
    auto exact = torch::sin(M_PI * x) * std::exp(-0.1 * M_PI * M_PI * 0.5);
    return (u.forward(torch::stack({x, t}, 1)).squeeze(1) - exact).abs().max().item<double>();   // RIGHT: torch-missing-no-grad (guard)
}

}   // namespace

int main()
{
    torch::manual_seed(25);
    const Problem problem;
    auto field = std::make_shared<Field>(20);
    double best = 1e9;
    std::shared_ptr<Field> kept;
    torch::Tensor previous;

    torch::optim::Adam adam(field->parameters(), 5e-3);
    for (int step = 1; step <= 150; ++step)
    {
        auto loss = problem.loss(*field);
        loss.backward();
        adam.step();         // RIGHT: torch-missing-zero-grad (cleared in the next line)
        adam.zero_grad();
        const auto now = loss.item<double>();
        if (previous.defined() && step % 50 == 0)
            std::cout << "change " << now - previous.item<double>() << '\n';
        previous = loss.detach();   // RIGHT: torch-retained-graph (detached)
        if (now < best)
        {
            best = now;
            kept = std::dynamic_pointer_cast<Field>(field->clone());   // RIGHT: torch-parameter-copy (a deep copy)
        }
    }

    for (int restart = 0; restart < 3; ++restart)
    {
        torch::optim::LBFGS lbfgs(kept->parameters(), torch::optim::LBFGSOptions(0.5).max_iter(10));   // RIGHT: torch-optimizer-in-loop (LBFGS: each step() with a closure is an optimisation of its own)
        lbfgs.step([&] {
            lbfgs.zero_grad();
            auto loss = problem.loss(*kept);
            loss.backward();
            return loss;
        });
        std::cout << "error " << solution_error(*kept) << '\n';
    }

    std::stringstream file;
    torch::serialize::OutputArchive out;
    kept->save(out);
    out.save_to(file);
    std::cout << "saved " << file.str().size() / 1024 << " KiB\n";
    return 0;
}
