// A patch GAN for 16 x 16 textures: the discriminator answers for each pixel's surroundings.
//   patch_gan                     trains and shows a checksum of the preview
//   patch_gan out.pgm             writes the preview as well
//   patch_gan out.pgm invert      looks for the latent vector of a given texture
#include <torch/torch.h>

#include <cstdio>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

namespace nn = torch::nn;
namespace F = torch::nn::functional;

namespace {

constexpr int64_t kSide = 16, kLatent = 128, kBatch = 32;

struct GeneratorImpl : nn::Module {
  GeneratorImpl() {
    seed = register_module("seed", nn::Linear(kLatent, 4 * kSide * kSide));
    paint = register_module("paint", nn::Conv2d(nn::Conv2dOptions(4, 1, 3).padding(1)));
  }
  torch::Tensor forward(const torch::Tensor& z) {
    return torch::tanh(paint(torch::relu(seed(z)).view({-1, 4, kSide, kSide})));
  }
  nn::Linear seed{nullptr};
  nn::Conv2d paint{nullptr};
};
TORCH_MODULE(Generator);

nn::Sequential make_critic() {
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 8, 3).padding(1)),
                        nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)),
                        nn::Conv2d(nn::Conv2dOptions(8, 1, 3).padding(1)));
}

torch::Tensor real_textures() {
  auto phase = torch::rand({kBatch, 1, 1, 1}) * 6.28;
  return torch::sin(torch::arange(kSide).view({1, 1, 1, kSide}) * 0.8 + phase).expand({kBatch, 1, kSide, kSide});
}

void train(Generator& generator, nn::Sequential& critic, int64_t iterations) {
  torch::optim::Adam generator_optimizer(generator->parameters(), torch::optim::AdamOptions(2e-4).betas({0.5, 0.999}));
  torch::optim::Adam critic_optimizer(critic->parameters(), torch::optim::AdamOptions(2e-4).betas({0.5, 0.999}));
  const auto forged = torch::zeros({kBatch, 1, kSide, kSide});
  for (int64_t i = 0; i < iterations; ++i) {
    auto genuine = torch::full({kBatch, 1, kSide, kSide}, 0.9);  // EXPECT: torch-allocation-in-loop
    auto z = torch::randn({kBatch, kLatent});  // RIGHT: torch-allocation-in-loop drawn afresh for each batch

    critic_optimizer.zero_grad();
    auto real_loss = F::binary_cross_entropy_with_logits(critic->forward(real_textures()), genuine);
    real_loss.backward();
    auto fake = generator->forward(z);
    auto fake_loss = F::binary_cross_entropy_with_logits(critic->forward(fake.detach()), forged);
    fake_loss.backward();
    critic_optimizer.step();  // RIGHT: torch-missing-zero-grad two backward() for one step, cleared before both

    auto loss = F::binary_cross_entropy_with_logits(critic->forward(fake), genuine);
    loss.backward();
    generator_optimizer.step();  // EXPECT: torch-missing-zero-grad
    if (i % 10 == 0)
      std::printf("%3ld  critic %.3f  generator %.3f\n", long(i), (real_loss + fake_loss).item<double>(), loss.item<double>());
  }
}

// Grey values from 0 to 255, one texture below the other.
torch::Tensor preview(Generator& generator, const torch::Tensor& z, double contrast) {
  torch::NoGradGuard no_grad;
  generator->eval();
  auto sheet = generator->forward(z).reshape({-1, kSide}) * contrast;  // RIGHT: torch-missing-no-grad guard above
  sheet.clamp(-1, 1);  // EXPECT: torch-discarded-result
  sheet.add_(1).mul_(127.5);  // RIGHT: torch-discarded-result in place
  return sheet;
}

double checksum(const torch::Tensor& sheet) {
  const float* row = sheet[0].data_ptr<float>();  // RIGHT: torch-dangling-data the memory is that of 'sheet'
  return std::accumulate(row, row + kSide, 0.0);
}

void write_pgm(const std::string& path, const torch::Tensor& sheet) {
  std::ofstream file(path, std::ios::binary);
  file << "P5 " << sheet.size(1) << ' ' << sheet.size(0) << " 255\n";
  const uint8_t* pixels = sheet.round().to(torch::kUInt8).contiguous().data_ptr<uint8_t>();  // EXPECT: torch-dangling-data
  for (int64_t y = 0; y < sheet.size(0); ++y)
    file.write(reinterpret_cast<const char*>(pixels + y * sheet.size(1)), sheet.size(1));
}

// The latent vector whose texture is nearest to the given one.
torch::Tensor invert(Generator& generator, const torch::Tensor& texture, int64_t steps) {
  auto z = torch::randn({1, kLatent}, torch::requires_grad()) * 0.5;
  torch::optim::Adam optimizer(std::vector<torch::Tensor>{z}, torch::optim::AdamOptions(0.05));  // EXPECT: torch-non-leaf-parameter
  for (int64_t i = 0; i < steps; ++i) {
    optimizer.zero_grad();
    auto loss = torch::mse_loss(generator->forward(z), texture) + 1e-3 * z.pow(2).mean();
    loss.backward();
    optimizer.step();
  }
  return z.detach();
}

// An offset in the latent space that makes all textures of a batch darker.
torch::Tensor darker(Generator& generator, const torch::Tensor& z, int64_t steps) {
  auto offset = (torch::randn({1, kLatent}) * 0.01).requires_grad_();
  torch::optim::RMSprop optimizer(std::vector<torch::Tensor>{offset}, torch::optim::RMSpropOptions(0.01));  // RIGHT: torch-non-leaf-parameter the gradient is asked for last, so it is a leaf
  for (int64_t i = 0; i < steps; ++i) {
    optimizer.zero_grad();
    auto brightness = generator->forward(z + offset).mean();
    brightness.backward();
    optimizer.step();
  }
  return offset.detach();
}

}  // namespace

int main(int argc, char** argv) {
  torch::manual_seed(4);
  torch::set_num_threads(1);
  Generator generator;
  auto critic = make_critic();
  train(generator, critic, 40);

  auto z = torch::randn({4, kLatent});
  auto offset = darker(generator, z, 20);
  auto sheet = preview(generator, z + offset, 1.5);
  std::printf("checksum %.2f, offset %.3f\n", checksum(sheet), offset.norm().item<double>());
  if (argc > 1)
    write_pgm(argv[1], sheet);
  if (argc > 2)
    std::printf("norm of the inverse %.3f\n", invert(generator, real_textures()[0].unsqueeze(0), 50).norm().item<double>());
}
