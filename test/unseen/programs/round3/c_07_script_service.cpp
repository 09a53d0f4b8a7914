// Serves TorchScript classifiers: loads an archive, answers batches, explains an answer, and
// lets an ensemble vote. Archives come from memory here, in production from the registry.
#include <torch/script.h>
#include <torch/torch.h>

#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int64_t kPixels = 144, kClasses = 6;

// Stands in for an archive that was exported from Python.
std::string archive(int64_t seed) {
  torch::manual_seed(seed);
  torch::jit::Module module("Classifier");
  module.register_parameter("weight", (torch::randn({kPixels, kClasses}) * 0.1).requires_grad_(), false);
  module.register_parameter("bias", torch::zeros({kClasses}).requires_grad_(), false);
  module.define(R"(
    def forward(self, x):
        logits = torch.matmul(x, self.weight) + self.bias
        return (torch.softmax(logits, 1), logits)
  )");
  std::ostringstream out;
  module.save(out);
  return out.str();
}

torch::jit::Module load(const std::string& bytes) {
  std::istringstream in(bytes);
  auto module = torch::jit::load(in);
  module.eval();
  return module;
}

std::vector<float> read_tile(int64_t index) {
  std::vector<float> pixels(kPixels);
  for (int64_t i = 0; i < kPixels; ++i)
    pixels[i] = float((index * 31 + i * 7) % 255) / 255.0f;
  return pixels;
}

std::vector<torch::Tensor> load_tiles(int64_t count) {
  std::vector<torch::Tensor> tiles;
  for (int64_t i = 0; i < count; ++i) {
    auto pixels = read_tile(i);
    tiles.push_back(torch::from_blob(pixels.data(), {1, kPixels}).clone());  // RIGHT: torch-blob-lifetime the clone is kept
  }
  return tiles;
}

// The neighbours of a tile, ahead of the request that will ask for them.
std::vector<torch::Tensor> prefetch(int64_t index) {
  std::vector<torch::Tensor> tiles;
  for (int64_t i = index - 1; i <= index + 1; ++i) {
    std::vector<float> pixels = read_tile(i);
    tiles.push_back(torch::from_blob(pixels.data(), {1, kPixels}));  // EXPECT: torch-blob-lifetime
  }
  return tiles;
}

torch::Tensor from_camera(const std::string& frame) {
  std::vector<unsigned char> bytes(frame.begin(), frame.end());
  auto raw = torch::from_blob(bytes.data(), {1, kPixels}, torch::kByte);  // RIGHT: torch-blob-lifetime the conversion below copies
  return raw.to(torch::kFloat) / 255;
}

class Service {
 public:
  explicit Service(const std::string& bytes) : module_(load(bytes)) {}

  std::pair<int64_t, float> classify(const torch::Tensor& batch) {
    auto result = module_.forward({batch}).toTuple();  // EXPECT: torch-missing-no-grad
    auto [p, label] = result->elements()[0].toTensor().max(1);
    return {label[0].item<int64_t>(), p[0].item<float>()};
  }

  // Which pixels speak for the answer.
  torch::Tensor explain(const torch::Tensor& batch) {
    auto x = batch.clone().requires_grad_();
    auto result = module_.forward({x}).toTuple();  // RIGHT: torch-missing-no-grad the gradient of the input is wanted
    result->elements()[1].toTensor().amax(1).sum().backward();
    return x.grad().abs();
  }

  void dump(const torch::Tensor& batch) {
    torch::NoGradGuard no_grad;
    int index = 0;
    for (const auto& part : module_.forward({batch}).toTuple()->elements())  // EXPECT: torch-dangling-data
      std::printf("output %d: mean %.4f\n", index++, part.toTensor().mean().item<double>());
  }

  float entropy(const torch::Tensor& batch) {
    torch::NoGradGuard no_grad;
    auto p = module_.forward({batch}).toTuple()->elements()[0].toTensor();  // RIGHT: torch-dangling-data the tensor is a handle of its own
    return -(p * p.log()).sum().item<float>();
  }

 private:
  torch::jit::Module module_;
};

// For each class the share of the ensemble's probability, by member.
torch::Tensor votes(std::vector<torch::jit::Module>& members, const std::vector<torch::Tensor>& tiles) {
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> shares(members.size(), torch::zeros({kClasses}));  // EXPECT: torch-fill-alias
  for (size_t m = 0; m < members.size(); ++m)
    for (const auto& tile : tiles) {
      auto p = members[m].forward({tile}).toTuple()->elements()[0].toTensor();
      shares[m] += p.squeeze(0) / double(tiles.size());
    }
  return torch::stack(shares);
}

}  // namespace

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  Service service(archive(1));
  auto tiles = load_tiles(20);
  float sure = 0;
  for (const auto& tile : tiles)
    sure += service.classify(tile).second;
  auto camera = from_camera(std::string(kPixels, 'x'));
  std::printf("mean confidence %.3f, camera says %ld\n", sure / float(tiles.size()), long(service.classify(camera).first));
  std::printf("saliency %.4f, entropy %.3f\n", service.explain(tiles[3]).sum().item<double>(), service.entropy(tiles[3]));

  std::vector<torch::jit::Module> members;
  for (int64_t seed = 1; seed <= 3; ++seed)
    members.push_back(load(archive(seed)));
  auto shares = votes(members, tiles);
  std::printf("members disagree by %.4f\n", (shares[0] - shares[2]).abs().sum().item<double>());

  if (argc > 1 && std::strcmp(argv[1], "--debug") == 0) {
    service.dump(tiles[0]);
    for (const auto& tile : prefetch(5))
      service.classify(tile);
  }
}
