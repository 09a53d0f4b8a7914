/*
 * WGAN-GP on a ring of Gaussians.
 */
#include <torch/torch.h>
#include <cmath>
#include <iostream>

static const int64_t BATCH = 256;
static const int64_t LATENT = 16;
static const int CRITIC_STEPS = 5;
static const double LAMBDA = 10.0;

template <int In, int Out>
struct MlpImpl : torch::nn::Module
{
	torch::nn::Sequential layers;

	MlpImpl() : layers(torch::nn::Linear(In, 128), torch::nn::ReLU(), torch::nn::Linear(128, 128), torch::nn::ReLU(), torch::nn::Linear(128, Out))
	{
		register_module("layers", layers);
	}

	torch::Tensor forward(torch::Tensor x) { return layers->forward(x); }
};

struct Generator : torch::nn::ModuleHolder<MlpImpl<LATENT, 2>>
{
	using torch::nn::ModuleHolder<MlpImpl<LATENT, 2>>::ModuleHolder;
};
struct Critic : torch::nn::ModuleHolder<MlpImpl<2, 1>>
{
	using torch::nn::ModuleHolder<MlpImpl<2, 1>>::ModuleHolder;
};

static torch::Tensor ring(int64_t n, const torch::Device &device)
{
	auto k = torch::randint(8, {n}).to(device) * (2 * M_PI / 8);
	return torch::stack({k.cos(), k.sin()}, 1) * 2 + 0.05 * torch::randn({n, 2}, device);
}

static torch::Tensor gradient_penalty(Critic &critic, const torch::Tensor &real, const torch::Tensor &fake)
{
	auto mix = torch::rand({real.size(0), 1}, real.device());
	auto between = (mix * real + (1 - mix) * fake).detach().requires_grad_();
	auto score = critic->forward(between);  // RIGHT: torch-missing-no-grad (the penalty is made of the gradient by the input)
	auto grad = torch::autograd::grad({score.sum()}, {between}, {}, true, true)[0];
	return (grad.norm(2, {1}) - 1).square().mean();
}

int main()
{
	torch::manual_seed(77);
	torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
	Generator gen;
	Critic critic;
	gen->to(device);
	critic->to(device);

	auto betas = std::make_tuple(0.0, 0.9);
	torch::optim::Adam opt_g(gen->parameters(), torch::optim::AdamOptions(1e-3).betas(betas));
	torch::optim::Adam opt_c(critic->parameters(), torch::optim::AdamOptions(1e-3).betas(betas));

	// Running map of the generated density on a fixed grid.
	torch::Tensor density;
	double distance = 0;
	for (int it = 0; it < 80; ++it)
	{
		opt_c.zero_grad();
		for (int k = 0; k < CRITIC_STEPS; ++k)
		{
			auto real = ring(BATCH, device);
			torch::Tensor fake;
			{
				torch::NoGradGuard guard;
				fake = gen->forward(torch::randn({BATCH, LATENT}, device));  // RIGHT: torch-missing-no-grad (guarded by the block)
			}
			auto gap = critic->forward(fake).mean() - critic->forward(real).mean();
			auto loss = gap + LAMBDA * gradient_penalty(critic, real, fake);
			loss.backward();
			opt_c.step();  // EXPECT: torch-missing-zero-grad
			distance = 0.99 * distance - 0.01 * gap.item<double>();
		}

		opt_g.zero_grad();
		auto loss_g = -critic->forward(gen->forward(torch::randn({BATCH, LATENT}, device))).mean();
		loss_g.backward();
		opt_g.step();  // RIGHT: torch-missing-zero-grad (cleared at the beginning of each iteration)

		{
			torch::NoGradGuard guard;
			auto axis = torch::linspace(-3, 3, 128, device);  // EXPECT: torch-allocation-in-loop
			auto cells = torch::stack(torch::meshgrid({axis, axis}, "ij"), -1).view({-1, 2});
			auto samples = gen->forward(torch::randn({64, LATENT}, device));
			auto frame = torch::exp(-8 * torch::cdist(cells, samples).square()).sum(1).view({128, 128});
			density = density.defined() ? 0.9 * density + 0.1 * frame : frame;  // RIGHT: torch-retained-graph (made under a guard)
		}
	}
	std::cout << "distance " << distance << ", peak of density " << density.max().item<double>() << std::endl;
	return 0;
}
