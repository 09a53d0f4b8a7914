// Variational autoencoder on noisy bars.
#include <torch/torch.h>
#include <iostream>

struct VAEImpl : torch::nn::Module
{
  struct Output { torch::Tensor recon, mu, logvar; };

  VAEImpl(int64_t pixels, int64_t hidden, int64_t latent)
  : encoder(register_module("encoder", torch::nn::Linear(pixels, hidden)))
  , to_mu(register_module("to_mu", torch::nn::Linear(hidden, latent)))
  , to_logvar(register_module("to_logvar", torch::nn::Linear(hidden, latent)))
  , decoder(register_module("decoder", torch::nn::Sequential(
      torch::nn::Linear(latent, hidden), act, torch::nn::Linear(hidden, pixels))))
  {}

  torch::Tensor decode(const torch::Tensor& z) { return torch::sigmoid(decoder->forward(z)); }

  Output forward(const torch::Tensor& x)
  {
    auto h = act(encoder(x));
    auto mu = to_mu(h), logvar = to_logvar(h);
    auto z = is_training() ? mu + torch::randn_like(mu) * (0.5 * logvar).exp() : mu;
    return { decode(z), mu, logvar };
  }

  torch::nn::ReLU act;  // RIGHT: torch-unregistered-module (no parameters, and the mode does not matter)
  torch::nn::Linear encoder, to_mu, to_logvar;
  torch::nn::Sequential decoder;
};
TORCH_MODULE(VAE);

static torch::Tensor bars(int64_t n, int64_t side)
{
  auto which = torch::randint(side, { n }, torch::kLong);
  auto image = torch::one_hot(which, side).unsqueeze(1).expand({ n, side, side }).to(torch::kFloat);
  return (0.9 * image + 0.05 * torch::rand({ n, side, side })).flatten(1);
}

static torch::Tensor elbo(const VAEImpl::Output& o, const torch::Tensor& x)
{
  auto rec = torch::binary_cross_entropy(o.recon, x, {}, at::Reduction::Sum);
  auto kl = -0.5 * (1 + o.logvar - o.mu.pow(2) - o.logvar.exp()).sum();
  return rec + kl;
}

int main()
{
  torch::manual_seed(20);
  const int64_t side = 10, batch = 64;
  auto device = torch::cuda::is_available() ? torch::Device(torch::kCUDA) : torch::Device(torch::kCPU);
  auto train = bars(1024, side).to(device);
  auto held = bars(128, side).to(device);

  VAE vae(side * side, 64, 6);
  vae->to(device);
  torch::optim::Adam adam(vae->parameters(), torch::optim::AdamOptions(2e-3));
  auto best = std::numeric_limits<double>::infinity();

  for (int epoch = 0; epoch < 6; ++epoch)
  {
    vae->train();
    auto order = torch::randperm(train.size(0), torch::TensorOptions(torch::kLong).device(device));  // RIGHT: torch-allocation-in-loop (another order in each epoch)
    auto total = torch::zeros({}, device);  // RIGHT: torch-allocation-in-loop (one number, once for each epoch)
    for (int64_t i = 0; i + batch <= train.size(0); i += batch)
    {
      auto x = train.index_select(0, order.slice(0, i, i + batch));
      adam.zero_grad();
      auto loss = elbo(vae->forward(x), x);
      loss.backward();
      adam.step();
      total += loss.detach();  // RIGHT: torch-retained-graph (detached)
    }

    torch::NoGradGuard no_grad;
    vae->eval();
    auto v = elbo(vae->forward(held), held).item<double>() / held.size(0);  // RIGHT: torch-missing-no-grad (the guard of this epoch)
    best = std::min(best, v);
    std::cout << "epoch " << epoch << " train " << total.item<double>() / train.size(0) << " held " << v << "\n";
  }

  vae->eval();
  c10::InferenceMode infer;
  auto drawn = vae->decode(torch::randn({ 9, 6 }, device));  // RIGHT: torch-missing-no-grad (InferenceMode)
  std::cout << "best " << best << ", mean pixel of samples " << drawn.mean().item<double>() << "\n";
}
