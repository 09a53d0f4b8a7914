#include <torch/torch.h>

#include <functional>
#include <iostream>
#include <vector>

// Gatys style transfer in miniature, optimised with LBFGS over the pixels.

class Extractor : public torch::nn::Module
{
  public:
    Extractor()
    {
        int64_t channels[] = {3, 12, 24, 24};
        for (int i = 0; i < 3; ++i)
            convs.push_back(register_module("conv" + std::to_string(i),
                                            torch::nn::Conv2d(torch::nn::Conv2dOptions(channels[i], channels[i + 1], 3).padding(1))));  // RIGHT: torch-unregistered-module (each element is registered)
    }

    std::vector<torch::Tensor> forward(torch::Tensor x)
    {
        std::vector<torch::Tensor> features;
        for (auto &conv : convs)
        {
            x = torch::relu(conv(x));
            features.push_back(x);  // RIGHT: torch-retained-graph (part of one forward pass)
            x = torch::avg_pool2d(x, 2);
        }
        return features;
    }

  private:
    std::vector<torch::nn::Conv2d> convs;
};

static torch::Tensor gram(const torch::Tensor &f)
{
    auto flat = f.flatten(2).squeeze(0);
    return flat.mm(flat.t()) / flat.numel();
}

struct Targets
{
    torch::Tensor content;
    std::vector<torch::Tensor> style;
};

static Targets measure(Extractor &net, const torch::Tensor &content, const torch::Tensor &style)
{
    Targets t;
    t.content = net.forward(content)[2];  // RIGHT: torch-missing-no-grad (all parameters are frozen, no graph is recorded)
    for (auto &f : net.forward(style))
        t.style.push_back(gram(f));
    return t;
}

class Transfer
{
  public:
    Transfer(Extractor &net, Targets targets) : net(net), targets(std::move(targets)) {}

    torch::Tensor run(torch::Tensor pixels, int rounds)
    {
        torch::optim::LBFGS lbfgs({pixels}, torch::optim::LBFGSOptions(0.8).max_iter(8));
        auto closure = [&]() {
            lbfgs.zero_grad();
            auto features = net.forward(pixels);
            auto loss = torch::mse_loss(features[2], targets.content);
            for (size_t i = 0; i < features.size(); ++i)
                loss = loss + 50 * torch::mse_loss(gram(features[i]), targets.style[i]);
            auto smooth = (pixels.diff(1, 2)).abs().mean() + (pixels.diff(1, 3)).abs().mean();
            smoothness.push_back(smooth);  // EXPECT: torch-retained-graph
            loss = loss + 0.01 * smooth;
            loss.backward();
            return loss;
        };
        for (int r = 0; r < rounds; ++r)
        {
            auto loss = lbfgs.step(closure);
            losses.push_back(loss.item<double>());
            pixels.data().clamp_(0, 1);  // RIGHT: torch-leaf-inplace (through data())
        }
        return pixels.detach();
    }

    void report(std::ostream &os) const
    {
        for (double l : losses)
            os << l << ' ';
        os << "\nsmoothness " << smoothness.front().item<double>() << " -> " << smoothness.back().item<double>() << '\n';
    }

  private:
    Extractor &net;
    Targets targets;
    std::vector<double> losses;
    std::vector<torch::Tensor> smoothness;
};

int main()
{
    torch::manual_seed(2);
    Extractor net;
    for (auto &p : net.parameters())
        p.set_requires_grad(false);
    net.eval();

    auto grid = torch::linspace(0, 1, 48);
    auto content = torch::stack({grid.expand({48, 48}), grid.unsqueeze(1).expand({48, 48}), torch::full({48, 48}, 0.5)}).unsqueeze(0);
    auto style = (torch::rand({1, 3, 48, 48}) > 0.5).to(torch::kFloat);
    Transfer transfer(net, measure(net, content, style));

    auto canvas = content.clone().requires_grad_();
    torch::optim::Adam warm({canvas}, 0.02);  // RIGHT: torch-non-leaf-parameter (a clone of a tensor without gradient is a leaf)
    const auto wanted = gram(net.forward(style)[0]);
    for (int i = 0; i < 40; ++i)
    {
        warm.zero_grad();
        auto vignette = torch::linspace(0.5, 1, 48 * 48).view({48, 48});  // EXPECT: torch-allocation-in-loop
        auto loss = torch::mse_loss(gram(net.forward(canvas * vignette)[0]), wanted);
        loss.backward();
        warm.step();
    }
    auto result = transfer.run(canvas, 5);
    transfer.report(std::cout);
    std::cout << "mean pixel " << result.mean().item<double>() << '\n';

    // From noise, with the amplitude that the paper uses.
    try
    {
        auto noise = torch::randn({1, 3, 48, 48}, torch::requires_grad()) * 0.1 + 0.5;
        torch::optim::Adam fromNoise({noise}, torch::optim::AdamOptions(0.05));  // EXPECT: torch-non-leaf-parameter
        for (int i = 0; i < 5; ++i)
        {
            fromNoise.zero_grad();
            torch::mse_loss(net.forward(noise)[2], net.forward(content)[2]).backward();
            fromNoise.step();
        }
    }
    catch (const c10::Error &)
    {
        std::cout << "noise start failed\n";
    }
    return 0;
}
