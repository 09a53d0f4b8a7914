// RUN: %check_torch %s torch-retained-graph %t
//
// A pool of generated images: what is read from it is detached, what is put into it
// keeps the generator's graph. A backward() in the same loop does not let it go.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

class ImagePool {
public:
  explicit ImagePool(size_t size) : size_(size) {}

  Tensor mix(const Tensor &images) {
    std::vector<Tensor> batch;
    for (int64_t i = 0; i < images.size(0); ++i) {
      if (pool_.size() < size_) {
        pool_.push_back(images[i]);
        // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: tensor kept in 'pool_' keeps what its backward() would need (its autograd graph) for every iteration, so memory grows with each; store '.item<float>()' or '.detach()' of it [torch-retained-graph]
        batch.push_back(images[i].detach());
        continue;
      }
      const auto at = static_cast<size_t>(i) % pool_.size();
      batch.push_back(pool_[at].detach().clone());
    }
    return torch::stack(batch);
  }

private:
  std::vector<Tensor> pool_;
  size_t size_;
};

static void train(Linear &generator, Linear &critic, ImagePool *pool,
                  const std::vector<Tensor> &noise) {
  torch::optim::SGD opt(generator->parameters(), 0.1);
  torch::optim::SGD critic_opt(critic->parameters(), 0.1);
  for (const auto &z : noise) {
    auto fake = generator->forward(z);
    opt.zero_grad();
    critic->forward(fake).mean().backward();
    opt.step();
    critic_opt.zero_grad();
    critic->forward(pool->mix(fake)).mean().backward();
    critic_opt.step();
  }
}

int main() {
  Linear generator(8, 8), critic(8, 1);
  auto *pool = new ImagePool(50);
  train(generator, critic, pool, {torch::rand({4, 8}), torch::rand({4, 8})});
  delete pool;
}
