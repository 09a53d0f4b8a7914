#include <torch/torch.h>
#include <cstdio>
#include <map>
#include <string>

/* An Elman network without torch::nn and without torch::optim: the weights are plain
   tensors in a map, the descent is written out. */

typedef std::map<std::string, torch::Tensor> Weights;

static Weights fresh(int64_t in, int64_t hidden, int64_t out)
{
	Weights w;
	w["xh"] = torch::randn({in, hidden}).div_(4).requires_grad_();  // RIGHT: torch-leaf-inplace (nothing required a gradient yet)
	w["hh"] = torch::eye(hidden).mul_(0.9).requires_grad_();
	w["hb"] = torch::zeros({hidden}, torch::requires_grad());
	w["ho"] = torch::randn({hidden, out}).div_(6).requires_grad_();
	return w;
}

static torch::Tensor cell(Weights &w, const torch::Tensor &x, const torch::Tensor &h)
{
	return torch::tanh(x.mm(w["xh"]) + h.mm(w["hh"]) + w["hb"]);
}

static void descend(Weights &w, double lr)
{
	for (auto &entry : w) {
		auto &p = entry.second;
		p.grad().clamp(-1, 1);  // EXPECT: torch-discarded-result
		p.data().sub_(lr * p.grad());  // RIGHT: torch-leaf-inplace (through data())
		p.mutable_grad().zero_();
	}
}

/* Delayed echo: the output is the input of three steps ago. */
static torch::Tensor target(const torch::Tensor &x)
{
	return torch::cat({torch::zeros({3, x.size(1)}), x.slice(0, 0, -3)}, 0);
}

static double learn(Weights &w, int chunks, bool keep)
{
	auto h = torch::zeros({8, 32});
	double last = 0;
	for (int c = 0; c < chunks; c++) {
		auto x = torch::rand({12, 8, 1}) - 0.5;
		auto y = target(x.squeeze(2));
		auto loss = torch::zeros({});
		for (int t = 0; t < 12; t++) {
			h = cell(w, x[t], h);  // EXPECT: torch-undetached-hidden-state
			if (t >= 3)
				loss = loss + (h.mm(w["ho"]).squeeze(1) - y[t]).square().mean();  // RIGHT: torch-retained-graph (the chunk is backwarded as a whole)
		}
		loss.backward({}, keep);
		descend(w, 0.05);
		last = loss.item<double>() / 9;
	}
	return last;
}

static double learnTruncated(Weights &w, int chunks)
{
	auto h = torch::zeros({8, 32});
	double last = 0;
	for (int c = 0; c < chunks; c++) {
		auto x = torch::rand({12, 8, 1}) - 0.5;
		auto y = target(x.squeeze(2));
		auto loss = torch::zeros({});
		h = h.detach();  // RIGHT: torch-undetached-hidden-state (the gradient ends here)
		for (int t = 0; t < 12; t++) {
			h = cell(w, x[t], h);
			if (t >= 3)
				loss = loss + (h.mm(w["ho"]).squeeze(1) - y[t]).square().mean();
		}
		loss.backward();
		descend(w, 0.05);
		last = loss.item<double>() / 9;
	}
	return last;
}

/* Sets the recurrent matrix to spectral radius one. */
static void rescale(Weights &w)
{
	auto radius = w["hh"].detach().norm() / 5;
	w["hh"].div_(radius);  // EXPECT: torch-leaf-inplace
}

int main()
{
	torch::manual_seed(40);
	auto w = fresh(1, 32, 1);
	std::printf("truncated %.4f\n", learnTruncated(w, 200));
	w = fresh(1, 32, 1);
	std::printf("all the way back %.4f\n", learn(w, 12, true));
	try {
		learn(w, 2, false);
	} catch (const c10::Error &e) {
		std::printf("second chunk: %.48s\n", e.what_without_backtrace());
	}
	try {
		rescale(w);
	} catch (const std::exception &e) {
		std::printf("no rescaling\n");
	}

	/* A bias that is tuned alone, by the library this time. */
	torch::Tensor shift = torch::full({32}, 0.1, torch::requires_grad()).clone();
	try {
		torch::optim::Adagrad tune(std::vector<torch::Tensor>{shift}, 0.1);  // EXPECT: torch-non-leaf-parameter
		tune.zero_grad();
		cell(w, torch::ones({1, 1}), shift.unsqueeze(0)).sum().backward();
		tune.step();
	} catch (const c10::Error &) {
		std::printf("shift is not trained\n");
	}
	return 0;
}
