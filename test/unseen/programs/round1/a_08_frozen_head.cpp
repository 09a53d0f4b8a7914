/*
 * Transfer learning in small: a convolutional backbone that stays as it is and a head that learns.
 */
#include <torch/torch.h>
#include <iostream>

struct BackboneImpl : torch::nn::Module
{
	BackboneImpl()
	{
		stack->push_back("conv1", torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 8, 3).padding(1)));
		stack->push_back("relu1", torch::nn::ReLU());
		stack->push_back("conv2", torch::nn::Conv2d(torch::nn::Conv2dOptions(8, 16, 3).stride(2)));
		stack->push_back("relu2", torch::nn::ReLU());
		register_module("stack", stack); // RIGHT: torch-unregistered-module (the member below is registered here)
	}
	torch::Tensor forward(torch::Tensor x) { return stack->forward(x).flatten(1); }
	torch::nn::Sequential stack;
};
TORCH_MODULE(Backbone);

struct ClassifierImpl : torch::nn::Module
{
	ClassifierImpl(int64_t classes)
	{
		backbone = register_module("backbone", Backbone());
		head = register_module("head", torch::nn::Linear(16 * 5 * 5, classes));
	}
	torch::Tensor forward(torch::Tensor x) { return head(backbone(x)); }

	Backbone backbone{nullptr};
	torch::nn::Linear head{nullptr};
};
TORCH_MODULE(Classifier);

// stripes against checks
static std::pair<torch::Tensor, torch::Tensor> pictures(int64_t n)
{
	auto labels = torch::randint(2, {n}, torch::kLong);
	auto rows = torch::arange(12).view({1, 12, 1}), cols = torch::arange(12).view({1, 1, 12});
	auto stripes = rows.remainder(2).expand({n, 12, 12});
	auto checks = (rows + cols).remainder(2).expand({n, 12, 12});
	auto clean = torch::where(labels.view({n, 1, 1}) == 1, checks, stripes).to(torch::kFloat32);
	return {(clean + 0.3 * torch::randn({n, 12, 12})).unsqueeze(1), labels};
}

static double headOnly(Backbone backbone, torch::Tensor x, torch::Tensor y)
{
	torch::nn::Linear head(16 * 5 * 5, 2);
	torch::optim::Adam optimizer(head->parameters(), 1e-3);
	backbone->eval();
	double last = 0;
	for (int epoch = 0; epoch < 3; ++epoch)
		for (int64_t i = 0; i < x.size(0); i += 50)
		{
			auto features = backbone->forward(x.slice(0, i, i + 50)); // EXPECT: torch-missing-no-grad
			auto loss = torch::cross_entropy_loss(head->forward(features), y.slice(0, i, i + 50));
			optimizer.zero_grad();
			loss.backward();
			optimizer.step();
			last = loss.item<double>();
		}
	return last;
}

static double fineTune(Classifier net, torch::Tensor x, torch::Tensor y)
{
	for (auto &p : net->backbone->parameters())
		p.set_requires_grad(false);
	torch::optim::SGD optimizer(net->head->parameters(), torch::optim::SGDOptions(0.02).momentum(0.9));
	double last = 0;
	for (int epoch = 0; epoch < 3; ++epoch)
		for (int64_t i = 0; i < x.size(0); i += 50)
		{
			auto f = net->backbone->forward(x.slice(0, i, i + 50)); // RIGHT: torch-missing-no-grad (all parameters of the backbone are frozen)
			auto loss = torch::cross_entropy_loss(net->head->forward(f), y.slice(0, i, i + 50));
			optimizer.zero_grad();
			loss.backward();
			optimizer.step();
			last = loss.item<double>();
		}
	return last;
}

static double accuracy(Classifier &net, const torch::Tensor &x, const torch::Tensor &y)
{
	torch::NoGradGuard quiet;
	net->eval();
	return net->forward(x).argmax(1).eq(y).to(torch::kFloat32).mean().item<double>();
}

int main()
{
	torch::manual_seed(8);
	auto [x, y] = pictures(200);
	Classifier net(10);
	std::cout << "head only " << headOnly(net->backbone, x, y) << std::endl;

	net->head = torch::nn::Linear(16 * 5 * 5, 2); // EXPECT: torch-reassigned-member
	std::cout << "fine tuned " << fineTune(net, x, y) << ", accuracy " << accuracy(net, x, y) << std::endl;

	Classifier second(10);
	second->head = second->replace_module("head", torch::nn::Linear(16 * 5 * 5, 2)); // RIGHT: torch-reassigned-member (replaced in the table as well)
	std::cout << "fine tuned " << fineTune(second, x, y) << ", accuracy " << accuracy(second, x, y) << std::endl;
	return 0;
}
