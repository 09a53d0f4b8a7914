// RUN: %check_torch %s torch-undetached-hidden-state %t
//
// The gradient through time is wanted, or no state is carried at all.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::GRU;
using torch::nn::GRUCell;
using torch::nn::Linear;
using torch::nn::LSTM;
using torch::nn::LSTMCell;
using torch::optim::SGD;

// One sequence, one backward() through all of it.
void lossOfLast(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
                Tensor y) {
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs)
    h = cell->forward(x, h);
  opt.zero_grad();
  torch::mse_loss(h, y).backward();
  opt.step();
}

void sumOfLosses(LSTMCell cell, SGD &opt, const std::vector<Tensor> &xs,
                 Tensor y) {
  for (int epoch = 0; epoch < 3; ++epoch) {
    auto state = std::make_tuple(torch::zeros({4, 8}), torch::zeros({4, 8}));
    auto loss = torch::zeros({});
    for (const auto &x : xs) {
      state = cell->forward(x, state);
      loss = loss + torch::mse_loss(std::get<0>(state), y);
    }
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

void stackedOutputs(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
                    Tensor y) {
  Tensor h;
  for (int epoch = 0; epoch < 3; ++epoch) {
    h = torch::zeros({4, 8});
    std::vector<Tensor> outputs;
    for (const auto &x : xs) {
      h = cell->forward(x, h);
      outputs.push_back(h);
    }
    auto loss = torch::stack(outputs).sub(y).pow(2).mean();
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

// Inside a forward.
struct UnrolledImpl : torch::nn::Module {
  UnrolledImpl() {
    cell = register_module("cell", LSTMCell(8, 8));
    head = register_module("head", Linear(8, 8));
  }
  Tensor forward(const Tensor &sequence) {
    auto h = torch::zeros({sequence.size(1), 8});
    auto c = torch::zeros_like(h);
    for (int64_t t = 0; t < sequence.size(0); ++t)
      std::tie(h, c) = cell->forward(sequence[t], std::make_tuple(h, c));
    return head->forward(h);
  }
  LSTMCell cell{nullptr};
  Linear head{nullptr};
};
TORCH_MODULE(Unrolled);

void unrolled(const std::vector<Tensor> &xs, Tensor y) {
  Unrolled net;
  SGD opt(net->parameters(), 0.1);
  for (const auto &x : xs) {
    opt.zero_grad();
    torch::mse_loss(net->forward(x), y[0]).backward();
    opt.step();
  }
}

// The state of the encoder starts the decoder, batch by batch.
void encoderDecoder(LSTM encoder, LSTM decoder, SGD &opt,
                    const std::vector<Tensor> &xs, Tensor y) {
  Tensor output;
  std::tuple<Tensor, Tensor> state;
  for (const auto &x : xs) {
    std::tie(output, state) = encoder->forward(x);
    std::tie(output, state) = decoder->forward(x, state);
    opt.zero_grad();
    torch::mse_loss(output, y).backward();
    opt.step();
  }
}

// The state is stored, and never passed.
void notPassed(GRU layer, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  Tensor output, state;
  for (const auto &x : xs) {
    opt.zero_grad();
    std::tie(output, state) = layer->forward(x);
    torch::mse_loss(output, y).backward();
    opt.step();
  }
  std::cout << state.sizes() << '\n';
}

// Every batch begins with zeros.
void zerosEachTime(LSTM layer, SGD &opt, const std::vector<Tensor> &xs,
                   Tensor y) {
  std::tuple<Tensor, Tensor> state;
  for (const auto &x : xs) {
    state = std::make_tuple(torch::zeros({1, 4, 8}), torch::zeros({1, 4, 8}));
    Tensor output;
    std::tie(output, state) = layer->forward(x, state);
    opt.zero_grad();
    torch::mse_loss(output, y).backward();
    opt.step();
  }
}

// The same initial state for every batch, learned or not.
void learnedInitialState(GRU layer, const std::vector<Tensor> &xs, Tensor y) {
  auto initial = torch::zeros({1, 4, 8}, torch::requires_grad());
  std::vector<Tensor> parameters = layer->parameters();
  parameters.push_back(initial);
  SGD opt(parameters, 0.1);
  for (const auto &x : xs) {
    opt.zero_grad();
    auto [output, last] = layer->forward(x, initial);
    torch::mse_loss(output, y).backward();
    opt.step();
  }
}

// Made again from itself, by a function that only takes its shape.
void zerosLike(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
               Tensor y) {
  Tensor h = torch::zeros({4, 8});
  for (int epoch = 0; epoch < 3; ++epoch) {
    h = torch::zeros_like(h);
    for (const auto &x : xs)
      h = cell->forward(x, h);
    opt.zero_grad();
    torch::mse_loss(h, y).backward();
    opt.step();
  }
}

// What a public function returns may be backwarded by its callers.
Tensor encode(GRUCell cell, const std::vector<Tensor> &xs) {
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs)
    h = cell->forward(x, h);
  return h;
}

std::vector<Tensor> encodeAll(GRUCell cell, const std::vector<Tensor> &xs) {
  std::vector<Tensor> all;
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    h = cell->forward(x, h);
    all.push_back(h);
  }
  return all;
}

// Without a backward() in sight and with unknown callers: one of them may have
// a guard.
void predict(GRUCell cell, Linear head, const std::vector<Tensor> &xs) {
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    h = cell->forward(x, h);
    std::cout << head->forward(h).argmax(1) << '\n';
  }
}

// Handed to a function in another file, which may backward it.
void trainOn(const Tensor &loss);

void handedOn(GRUCell cell, const std::vector<Tensor> &xs, Tensor y) {
  auto h = torch::zeros({4, 8});
  auto loss = torch::zeros({});
  for (const auto &x : xs) {
    h = cell->forward(x, h);
    loss = loss + torch::mse_loss(h, y);
  }
  trainOn(loss);
}

// No recurrence: a loss is added up or averaged, which is another mistake, and
// the input of a layer is the output of the one before.
void otherThings(Linear net, SGD &opt, const std::vector<Tensor> &xs,
                 Tensor y) {
  Tensor total = torch::zeros({}), last;
  for (const auto &x : xs) {
    Tensor hidden = x;
    for (int layer = 0; layer < 3; ++layer)
      hidden = torch::relu(net->forward(hidden));
    auto loss = torch::mse_loss(hidden, y);
    opt.zero_grad();
    loss.backward();
    opt.step();
    total += loss;
    last = hidden;
  }
  std::cout << total.item<float>() << last.sizes() << '\n';
}

// Not a state: what is computed once before the loop is only moved in it.
void generate(Linear encoder, torch::nn::Embedding decoder, torch::Tensor source,
              torch::Device device, int length) {
  auto memory = encoder->forward(source);
  auto token = torch::zeros({1}, torch::kLong);
  for (int i = 0; i < length; ++i) {
    memory = memory.to(device); // NOLINT(torch-repeated-transfer)
    auto logits = decoder->forward(token) + memory;
    token = logits.argmax(-1);
  }
}
