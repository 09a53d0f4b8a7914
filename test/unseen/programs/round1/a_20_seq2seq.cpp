/* seq2seq: reverses short words. Plain functions, no classes but the two modules. */
#include <torch/torch.h>
#include <iostream>
#include <vector>

const int64_t LETTERS = 1000;
const int64_t HIDDEN = 48;
const int64_t BATCH = 40;
const int64_t LEN = 6;

torch::nn::Embedding g_embed(LETTERS, 24);
torch::nn::GRU g_encoder(torch::nn::GRUOptions(24, HIDDEN));
torch::nn::GRUCell g_decoder(24, HIDDEN);
torch::nn::Linear g_out(HIDDEN, LETTERS);

std::vector<torch::Tensor> all_parameters()
{
  std::vector<torch::Tensor> all;
  for (auto list : { g_embed->parameters(), g_encoder->parameters(), g_decoder->parameters(), g_out->parameters() })
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

torch::Tensor encode(const torch::Tensor& words)
{
  return std::get<1>(g_encoder->forward(g_embed->forward(words.t()))).squeeze(0);
}

/* loss of one batch, with teacher forcing */
torch::Tensor batch_loss(const torch::Tensor& words)
{
  auto wanted = words.flip(1);
  auto h = encode(words);
  auto previous = torch::zeros({ words.size(0) }, torch::kLong);   // RIGHT: torch-allocation-in-loop (as many as the batch has words)
  std::vector<torch::Tensor> logits;
  for (int64_t t = 0; t < LEN; ++t) {
    h = g_decoder->forward(g_embed->forward(previous), h);   // RIGHT: torch-undetached-hidden-state (the steps of one word are backwarded together)
    logits.push_back(g_out->forward(h));   // RIGHT: torch-retained-graph (stacked and backwarded as a whole)
    previous = wanted.select(1, t);
  }
  return torch::cross_entropy_loss(torch::stack(logits, 1).flatten(0, 1), wanted.flatten());
}

/* how often each letter follows each other, for a look at the data */
torch::Tensor follow_counts(const std::vector<torch::Tensor>& batches)
{
  auto sum = torch::zeros({ LETTERS, LETTERS });
  for (const auto& words : batches) {
    auto counts = torch::zeros({ LETTERS, LETTERS });   // EXPECT: torch-allocation-in-loop
    auto from = words.slice(1, 0, LEN - 1).flatten(), to = words.slice(1, 1).flatten();
    counts.index_put_({ from, to }, torch::ones({ 1 }), /*accumulate=*/true);
    sum += counts / words.numel();
  }
  return sum;
}

double exact(const torch::Tensor& words)
{
  torch::NoGradGuard guard;
  auto wanted = words.flip(1);
  auto h = encode(words);
  auto previous = torch::zeros({ words.size(0) }, torch::kLong);
  auto same = torch::ones({ words.size(0) }, torch::kBool);
  for (int64_t t = 0; t < words.size(1); ++t) {
    h = g_decoder->forward(g_embed->forward(previous), h);
    previous = g_out->forward(h).argmax(1);
    same &= previous == wanted.select(1, t);
  }
  return same.to(torch::kFloat32).mean().item<double>();
}

int main()
{
  torch::manual_seed(30);
  std::vector<torch::Tensor> batches;
  for (int i = 0; i < 20; ++i)
    batches.push_back(torch::randint(1, 20, { BATCH, LEN }, torch::kLong));
  std::cout << "most frequent pair " << follow_counts(batches).max().item<float>() << "\n";

  auto parameters = all_parameters();
  torch::optim::Adam opt(parameters, torch::optim::AdamOptions(5e-3));
  torch::Tensor epoch_loss;
  for (int epoch = 0; epoch < 4; ++epoch) {
    epoch_loss = torch::zeros({ 1 });
    for (const auto& words : batches) {
      for (auto& p : parameters)
        if (p.grad().defined())
          p.mutable_grad().zero_();
      auto loss = batch_loss(words);
      loss.backward();
      opt.step();   // RIGHT: torch-missing-zero-grad (the gradients are zeroed by hand above)
      epoch_loss = epoch_loss + loss;   // EXPECT: torch-retained-graph
    }
    std::cout << "epoch " << epoch << " " << epoch_loss.item<float>() / batches.size() << "\n";
  }
  std::cout << "exact " << exact(batches[0]) << "\n";
  return 0;
}
