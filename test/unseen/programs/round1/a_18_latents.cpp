// Inversion of a generator: find the latent vector that makes a given output. And attacks on it.
#include <torch/torch.h>
#include <iostream>
#include <vector>

using torch::Tensor;

static torch::nn::Sequential decoder()
{
    auto net = torch::nn::Sequential(torch::nn::Linear(8, 40), torch::nn::SiLU(), torch::nn::Linear(40, 25));
    for (auto& p : net->parameters())
        p.requires_grad_(false);
    net->eval();
    return net;
}

static double invertScaled(torch::nn::Sequential& net, const Tensor& wanted)
{
    auto z = torch::randn({1, 8}, torch::requires_grad()) * 0.1;
    torch::optim::Adam search({z}, torch::optim::AdamOptions(0.05)); // EXPECT: torch-non-leaf-parameter
    Tensor loss;
    for (int i = 0; i < 100; ++i)
    {
        search.zero_grad();
        loss = torch::mse_loss(net->forward(z), wanted);
        loss.backward();
        search.step();
    }
    return loss.item<double>();
}

static double invertCentred(torch::nn::Sequential& net, const Tensor& wanted)
{
    auto z = torch::rand({1, 8}, torch::requires_grad());
    torch::optim::SGD search({z}, torch::optim::SGDOptions(0.5));
    z = z - 0.5; // EXPECT: torch-non-leaf-parameter
    double last = 0;
    for (int i = 0; i < 100; ++i)
    {
        auto loss = torch::mse_loss(net->forward(z), wanted);
        search.zero_grad();
        loss.backward();
        search.step();
        last = loss.item<double>();
    }
    return last;
}

static double invert(torch::nn::Sequential& net, const Tensor& wanted)
{
    auto z = (torch::randn({1, 8}) * 0.1).set_requires_grad(true);
    torch::optim::Adam search(std::vector<Tensor>{z}, torch::optim::AdamOptions(0.05)); // RIGHT: torch-non-leaf-parameter (the product has no graph, the gradient is asked for last)
    double last = 0;
    for (int i = 0; i < 150; ++i)
    {
        auto loss = torch::mse_loss(net->forward(z), wanted);
        search.zero_grad();
        loss.backward();
        search.step();
        torch::NoGradGuard guard;
        z.clamp_(-2, 2); // RIGHT: torch-leaf-inplace (under a guard)
        last = loss.item<double>();
    }
    return last;
}

// Which inputs of the critic matter?
static Tensor saliency(torch::nn::Sequential& critic, const Tensor& x)
{
    critic->eval();
    auto input = x.clone().requires_grad_(true);
    auto score = critic->forward(input).sum(); // RIGHT: torch-missing-no-grad (the gradient of the input is wanted)
    return torch::autograd::grad({score}, {input})[0].abs();
}

static double scanCritic(torch::nn::Sequential& critic, const std::vector<Tensor>& samples)
{
    double highest = -1e9;
    for (const auto& s : samples)
        highest = std::max(highest, critic->forward(s).max().item<double>()); // EXPECT: torch-missing-no-grad
    return highest;
}

int main()
{
    torch::manual_seed(18);
    auto net = decoder();
    auto truth = torch::randn({1, 8});
    auto wanted = net->forward(truth); // RIGHT: torch-missing-no-grad (all parameters are frozen)

    for (auto f : {invertScaled, invertCentred, invert})
        try
        {
            std::cout << f(net, wanted) << "\n";
        }
        catch (const c10::Error&)
        {
            std::cout << "failed\n";
        }

    torch::nn::Sequential critic(torch::nn::Linear(25, 16), torch::nn::Tanh(), torch::nn::Linear(16, 1));
    std::cout << "most salient " << saliency(critic, wanted).argmax().item<int64_t>() << "\n";
    std::vector<Tensor> samples;
    for (int i = 0; i < 50; ++i)
        samples.push_back(net->forward(torch::randn({4, 8})));
    std::cout << "highest " << scanCritic(critic, samples) << "\n";
}
