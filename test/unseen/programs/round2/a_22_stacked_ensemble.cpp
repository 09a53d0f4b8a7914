#include <torch/torch.h>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

// A stack of recurrent cells of any kind, and several heads that vote.
template <class Cell>
class StackImpl : public torch::nn::Module
{
public:
	StackImpl(int64_t in, int64_t width, size_t depth) : width_(width)
	{
		for (size_t i = 0; i < depth; ++i)
			cells_.push_back(register_module("cell" + std::to_string(i), Cell(i == 0 ? in : width, width)));   // RIGHT: torch-unregistered-module (each cell is registered by its number)
		reset(1);
	}

	torch::Tensor forward(torch::Tensor x)
	{
		for (size_t i = 0; i < cells_.size(); ++i)
		{
			states_[i] = cells_[i]->forward(x, states_[i]);   // EXPECT: torch-undetached-hidden-state
			x = states_[i];
		}
		return x;
	}

	void reset(int64_t batch)
	{
		states_.assign(cells_.size(), torch::zeros({batch, width_}));   // RIGHT: torch-fill-alias (forward() gives each element a tensor of its own)
	}

private:
	int64_t width_;
	std::vector<Cell> cells_;
	std::vector<torch::Tensor> states_;
};

template <class Cell>
class Stack : public torch::nn::ModuleHolder<StackImpl<Cell>>
{
public:
	using torch::nn::ModuleHolder<StackImpl<Cell>>::ModuleHolder;
};

class Voters
{
public:
	explicit Voters(int64_t width) : heads_(5, torch::nn::Linear(width, 1))   // EXPECT: torch-fill-alias
	{
	}

	torch::Tensor operator()(const torch::Tensor& h)
	{
		std::vector<torch::Tensor> votes;
		for (auto& head : heads_)
			votes.push_back(head->forward(h));
		return torch::stack(votes).mean(0);
	}

	void adapt(const torch::Tensor& h, const torch::Tensor& y)
	{
		opt_.reset(new torch::optim::Adam(parameters(), torch::optim::AdamOptions(1e-3)));   // EXPECT: torch-optimizer-in-loop
		auto loss = torch::mse_loss((*this)(h), y);
		opt_->zero_grad();
		loss.backward();
		opt_->step();   // RIGHT: torch-missing-zero-grad (cleared before backward)
	}

	std::vector<torch::Tensor> parameters() const
	{
		std::vector<torch::Tensor> all;
		for (const auto& head : heads_)
			for (const auto& p : head->parameters())
				all.push_back(p);
		return all;
	}

private:
	std::vector<torch::nn::Linear> heads_;
	std::unique_ptr<torch::optim::Optimizer> opt_;
};

template <class Cell>
static float run(Stack<Cell> net, Voters voters, const torch::Tensor& xs, const torch::Tensor& ys,
                 const torch::Tensor& mean, const torch::Tensor& deviation)
{
	auto normalise = [&](const torch::Tensor& x) {
		return (x - mean.to(torch::kFloat32)) / deviation;   // EXPECT: torch-repeated-transfer
	};

	auto parameters = net->parameters();
	for (auto& p : voters.parameters())
		parameters.push_back(p);
	torch::optim::SGD opt(parameters, torch::optim::SGDOptions(1e-3));

	auto worst = torch::zeros({});
	net->reset(xs.size(1));
	for (int64_t t = 0; t < xs.size(0); ++t)
	{
		auto loss = torch::mse_loss(voters(net->forward(normalise(xs[t]))), ys[t]);
		opt.zero_grad();
		loss.backward({}, true);
		opt.step();
		worst = torch::maximum(worst, loss);   // EXPECT: torch-retained-graph
	}

	torch::NoGradGuard guard;
	net->reset(xs.size(1));
	float peak = 0;
	for (int64_t t = 0; t < xs.size(0); ++t)
	{
		auto h = net->forward(normalise(xs[t]));   // RIGHT: torch-missing-no-grad (under the guard)
		torch::AutoGradMode on(true);
		voters.adapt(h.detach(), ys[t]);
		peak = std::max(peak, h.abs().max().template item<float>());
	}
	std::cout << "worst " << worst.template item<float>() << " peak " << peak << "\n";
	return peak;
}

int main()
{
	torch::manual_seed(22);
	const int64_t features = 2000;
	auto xs = torch::randn({25, 6, features}) * 3 + 1;
	auto ys = xs.mean(at::IntArrayRef{2}, true) * 10;
	auto mean = xs.to(torch::kFloat64).flatten(0, 1).mean(0);
	auto deviation = xs.std();
	run<torch::nn::GRUCell>(Stack<torch::nn::GRUCell>(features, 16, 2), Voters(16), xs, ys, mean, deviation);
	run<torch::nn::RNNCell>(Stack<torch::nn::RNNCell>(features, 16, 3), Voters(16), xs, ys, mean, deviation);
	return 0;
}
