// Character model: truncated BPTT over a stream of text, then sampling.
#include <torch/torch.h>
#include <iostream>
#include <map>
#include <string>
#include <tuple>

using State = std::tuple<torch::Tensor, torch::Tensor>;

struct CharLSTMImpl : torch::nn::Module {
    torch::nn::Embedding embed;
    torch::nn::LSTM lstm;
    torch::nn::Linear head;

    CharLSTMImpl(int64_t vocab, int64_t width)
        : embed(vocab, 16),
          lstm(torch::nn::LSTMOptions(16, width).batch_first(true)),
          head(width, vocab)
    {
        register_module("embed", embed);    // RIGHT: torch-unregistered-module (constructed above, registered here)
        register_module("lstm", lstm);
        register_module("head", head);
    }

    std::tuple<torch::Tensor, State> forward(const torch::Tensor &x, const State &s)
    {
        auto r = lstm->forward(embed->forward(x), s);
        return {head->forward(std::get<0>(r)), std::get<1>(r)};
    }
};
TORCH_MODULE(CharLSTM);

static State zeroState(int64_t batch, int64_t width)
{
    return {torch::zeros({1, batch, width}), torch::zeros({1, batch, width})};
}

static State cut(const State &s)
{
    return {std::get<0>(s).detach(), std::get<1>(s).detach()};
}

// The old way: the graph of the whole text is kept.
static double trainWholeGraph(CharLSTM &net, const torch::Tensor &ids, int64_t window)
{
    torch::optim::SGD opt(net->parameters(), torch::optim::SGDOptions(0.05));
    State state = zeroState(1, 32);
    torch::Tensor logits;
    double sum = 0;
    for (int64_t at = 0; at + window < 8 * window; at += window) {
        opt.zero_grad();
        std::tie(logits, state) = net->forward(ids.slice(1, at, at + window), state);   // EXPECT: torch-undetached-hidden-state
        auto loss = torch::cross_entropy_loss(logits.squeeze(0), ids[0].slice(0, at + 1, at + window + 1));
        loss.backward({}, /*retain_graph=*/true);
        opt.step();
        sum += loss.item<double>();
    }
    return sum;
}

static double trainTruncated(CharLSTM &net, torch::optim::Optimizer &opt, const torch::Tensor &ids, int64_t window)
{
    State state = zeroState(1, 32);
    double sum = 0;
    int n = 0;
    for (int64_t at = 0; at + window + 1 <= ids.size(1); at += window, ++n) {
        auto [logits, next] = net->forward(ids.slice(1, at, at + window), state);
        state = cut(next);      // RIGHT: torch-undetached-hidden-state (cut() detaches both tensors)
        auto loss = torch::cross_entropy_loss(logits.squeeze(0), ids[0].slice(0, at + 1, at + window + 1));
        opt.zero_grad();
        loss.backward();
        opt.step();
        sum += loss.item<double>();
    }
    return sum / n;
}

static std::string sample(CharLSTM &net, const std::string &alphabet, int64_t first, int length)
{
    net->eval();
    State state = zeroState(1, 32);
    torch::Tensor logits, token = torch::full({1, 1}, first, torch::kLong);
    std::string text;
    for (int i = 0; i < length; ++i) {
        std::tie(logits, state) = net->forward(token, state);   // EXPECT: torch-missing-no-grad, torch-undetached-hidden-state
        token = torch::softmax(logits[0][0], 0).multinomial(1).unsqueeze(0);    // RIGHT: torch-retained-graph (drawn indices have no graph)
        text += alphabet[token.item<int64_t>()];
    }
    net->train();
    return text;
}

int main()
{
    torch::manual_seed(5);
    std::string text;
    for (int i = 0; i < 30; ++i)
        text += "the quick brown fox jumps over the lazy dog. ";
    std::map<char, int64_t> index;
    std::string alphabet;
    std::vector<int64_t> ids;
    for (char c : text) {
        if (!index.count(c)) {
            index[c] = static_cast<int64_t>(alphabet.size());
            alphabet += c;
        }
        ids.push_back(index[c]);
    }
    auto stream = torch::tensor(ids).unsqueeze(0);

    CharLSTM net(static_cast<int64_t>(alphabet.size()), 32);
    try {
        std::cout << "whole graph " << trainWholeGraph(net, stream, 16) << "\n";
    } catch (const std::exception &) {
        std::cout << "whole graph: failed\n";
    }
    torch::optim::Adam opt(net->parameters(), 5e-3);
    for (int epoch = 0; epoch < 3; ++epoch)
        std::cout << "epoch " << epoch << " loss " << trainTruncated(net, opt, stream, 32) << "\n";
    std::cout << sample(net, alphabet, index['t'], 60) << "\n";
    return 0;
}
