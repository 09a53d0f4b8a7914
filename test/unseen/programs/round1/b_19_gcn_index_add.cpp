#include <torch/torch.h>
#include <iostream>
#include <vector>

// Message passing with index_add on a stochastic block model.

namespace graph {

struct Graph {
    torch::Tensor source, target;   // edges, both directions
    torch::Tensor features, labels;
    torch::Tensor degree;           // of each node, at least 1
    int64_t nodes;

    Graph to(torch::Device device) const {
        return {source.to(device), target.to(device), features.to(device), labels.to(device), degree.to(device), nodes};
    }
};

Graph blockModel(int64_t per_block, int64_t blocks, double inside, double across) {
    const int64_t n = per_block * blocks;
    auto label = torch::arange(n).div(per_block, "floor");
    auto same = label.unsqueeze(0).eq(label.unsqueeze(1)).to(torch::kFloat);
    auto probability = same * inside + (1 - same) * across;
    auto upper = (torch::rand({n, n}) < probability).triu(1);
    auto pairs = upper.nonzero().t();
    auto source = torch::cat({pairs[0], pairs[1]});
    auto target = torch::cat({pairs[1], pairs[0]});
    auto features = torch::randn({n, 8}) + torch::one_hot(label, 8).to(torch::kFloat);
    auto degree = torch::zeros({n, 1}).index_add_(0, target, torch::ones({target.size(0), 1})).clamp_min(1);
    return {source, target, features, label, degree, n};
}

class ConvImpl : public torch::nn::Module {
public:
    ConvImpl(int64_t in, int64_t out)
        : self(register_module("self", torch::nn::Linear(in, out))),
          neighbour(register_module("neighbour", torch::nn::Linear(torch::nn::LinearOptions(in, out).bias(false)))) {}

    torch::Tensor forward(const torch::Tensor &x, const Graph &g) {
        auto message = neighbour->forward(x).index_select(0, g.source);
        auto sum = torch::zeros({g.nodes, message.size(1)}, message.options());  // RIGHT: torch-allocation-in-loop (becomes a part of the graph of each forward pass)
        sum.index_add_(0, g.target, message);  // RIGHT: torch-leaf-inplace (a leaf that requires no gradient)
        return self->forward(x) + sum / g.degree;
    }

private:
    torch::nn::Linear self, neighbour;
};
TORCH_MODULE(Conv);

class GcnImpl : public torch::nn::Module {
public:
    GcnImpl(int64_t in, int64_t hidden, int64_t out, int depth) {
        for (int i = 0; i < depth; ++i)
            convs->push_back(Conv(i ? hidden : in, i + 1 == depth ? out : hidden));
        register_module("convs", convs);
        register_module("dropout", dropout);
    }

    torch::Tensor forward(torch::Tensor x, const Graph &g) {
        for (size_t i = 0; i < convs->size(); ++i) {
            x = convs[i]->as<Conv>()->forward(x, g);
            if (i + 1 < convs->size()) x = dropout(torch::relu(x));
        }
        return x;
    }

private:
    torch::nn::ModuleList convs;  // RIGHT: torch-unregistered-module (registered in the constructor)
    torch::nn::Dropout dropout{0.3};  // RIGHT: torch-unregistered-module (likewise)
};
TORCH_MODULE(Gcn);

double accuracy(Gcn &net, const Graph &g, const torch::Tensor &mask) {
    torch::NoGradGuard no_grad;
    const bool was = net->is_training();
    net->eval();
    auto hit = net->forward(g.features, g).argmax(1).eq(g.labels).masked_select(mask);
    net->train(was);
    return hit.to(torch::kFloat).mean().item<double>();
}

}  // namespace graph

int main() {
    torch::manual_seed(23);
    torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
    auto g = graph::blockModel(60, 5, 0.15, 0.01).to(device);
    auto train = torch::rand({g.nodes}, device) < 0.2;
    auto test = train.logical_not();

    graph::Gcn net(8, 32, 5, 2);
    net->to(device);
    torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(0.01).weight_decay(5e-4));

    torch::Tensor running = torch::zeros({}, device);
    const auto rows = train.nonzero().squeeze(1);
    const auto wanted = g.labels.index_select(0, rows);
    for (int epoch = 1; epoch <= 80; ++epoch) {
        auto logits = net->forward(g.features, g);
        auto loss = torch::cross_entropy_loss(logits.index_select(0, rows), wanted);
        for (auto &p : net->parameters())
            if (p.grad().defined()) p.mutable_grad().zero_();  // RIGHT: torch-parameter-copy (the gradient is written in place)
        loss.backward();
        optimizer.step();  // RIGHT: torch-missing-zero-grad (each gradient is set to zero before the backward pass)
        running += loss.detach();  // RIGHT: torch-retained-graph (detached)
        if (epoch % 20 == 0) {
            std::cout << "epoch " << epoch << " loss " << running.item<float>() / 20 << " train "
                      << graph::accuracy(net, g, train) << " test " << graph::accuracy(net, g, test) << "\n";
            running.zero_();
        }
    }
    return 0;
}
