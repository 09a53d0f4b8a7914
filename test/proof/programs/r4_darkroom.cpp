#include <torch/torch.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

namespace {

constexpr int64_t kHeight = 64, kWidth = 96;

class Film {
 public:
  uint8_t* next() {
    for (auto& b : bytes_) {
      seed_ = seed_ * 1664525u + 1013904223u;
      b = static_cast<uint8_t>(seed_ >> 25);
    }
    return bytes_.data();
  }

 private:
  std::vector<uint8_t> bytes_ = std::vector<uint8_t>(kHeight * kWidth * 3);
  uint32_t seed_ = 99;
};

torch::Tensor develop(Film& film) {
  auto raw = torch::from_blob(film.next(), {kHeight, kWidth, 3}, torch::kUInt8);
  // PLANT true torch-redundant-transfer/clone loop=roll: the conversion returns a copy anyway
  return raw.clone().to(torch::kFloat32);
}

template <typename T>
double lightness(const T& image) {
  // PLANT true torch-noncontiguous-operand/needless loop=roll: only a division and a mean come of the planes
  auto mean = (image.permute({2, 0, 1}).contiguous() / 255).mean();
  return mean.template item<double>();
}

double roll(Film& film, int shots) {
  double sum = 0;
  for (int n = 0; n < shots; ++n) {  // AT roll
    auto image = develop(film);
    // PLANT true torch-redundant-transfer/of-that-type loop=roll: develop() returns floats
    auto exact = image.to(torch::kFloat32);
    sum += lightness(exact);
    // PLANT true torch-redundant-transfer/clone loop=roll: nobody else has the bytes that the conversion returns
    auto print = (exact * 0.9).to(torch::kUInt8).clone();
    sum += print[0][0][0].item<double>() * 1e-3;
  }
  return sum / shots;
}

double mixed_sources(Film& film, int shots) {
  auto grey = torch::full({kHeight, kWidth, 3}, 64.0f);
  double sum = 0;
  for (int n = 0; n < shots; ++n) {  // AT mixed
    auto shot = n % 3 == 2 ? grey : torch::from_blob(film.next(), {kHeight, kWidth, 3}, torch::kUInt8);
    // PLANT innocent torch-redundant-transfer/clone loop=mixed: the grey card is in floats already, and must not be written below
    auto image = shot.to(torch::kFloat32).clone();
    image.mul_(1.0 / 255);
    auto gain = n % 5 == 4 ? torch::tensor({1.1, 1.0, 0.9}, torch::kFloat64) : torch::tensor({1.0f, 1.0f, 1.0f});
    // PLANT innocent torch-redundant-transfer/of-that-type loop=mixed: every fifth gain is in doubles
    auto factors = gain.to(torch::kFloat32);
    sum += (image * factors).mean().item<double>();
  }
  return sum / shots;
}

torch::Tensor project(const torch::Tensor& rows, const torch::Tensor& basis) {
  // PLANT true torch-noncontiguous-operand/again loop=projected: the basis is the same for all rows
  auto turned = basis.t().contiguous();
  return rows.mm(turned);
}

double projected(const torch::Tensor& basis, int count) {
  double sum = 0;
  for (int n = 0; n < count; ++n) {  // AT projected
    sum += project(torch::full({8, kWidth}, 0.01 * n), basis).sum().item<double>();
  }
  return sum;
}

double shading(const torch::Tensor& lamp, int count) {
  auto light = torch::zeros({kHeight, kWidth});
  for (int n = 0; n < count; ++n) {  // AT shaded
    auto noise = torch::rand({kHeight, kWidth});
    // PLANT true torch-noncontiguous-operand/mixed loop=shaded: the lamp lies across, and the noise in order, each time
    auto lit = noise + lamp.t();
    light.add_(lit);
  }
  return light.mean().item<double>();
}

double sharpen(torch::Tensor axes, int count) {
  for (int n = 0; n < count; ++n) {  // AT sharpened
    // PLANT innocent torch-noncontiguous-operand/again loop=sharpened: the axes are others in each iteration
    auto turned = axes.t().contiguous();
    auto near = turned.mm(axes);
    axes.sub_(0.01 * axes.mm(near - torch::eye(kHeight)));
  }
  return axes.norm().item<double>();
}

int64_t planar(Film& film, int shots, std::vector<float>& sink) {
  int64_t bright = 0;
  for (int n = 0; n < shots; ++n) {  // AT planar
    auto image = torch::from_blob(film.next(), {kHeight, kWidth, 3}, torch::kUInt8).to(torch::kFloat32);
    // PLANT innocent torch-noncontiguous-operand/needless loop=planar: plane by plane it is read through a pointer
    auto planes = image.permute({2, 0, 1}).contiguous();
    const float* p = planes.data_ptr<float>();
    sink.assign(p, p + kHeight * kWidth);
    for (const float v : sink) bright += v > 120;
  }
  return bright;
}

double vignette(int count) {
  const auto edge = torch::linspace(0, 1, kWidth);
  const auto stripes = torch::stack({torch::ones({kWidth}), edge});
  double sum = 0;
  for (int n = 0; n < count; ++n) {  // AT vignette
    // PLANT innocent torch-repeat-for-broadcast/repeated loop=vignette: each row is written for itself below
    auto mask = edge.unsqueeze(0).repeat({kHeight, 1});
    mask.narrow(0, n % kHeight, 1).zero_();
    mask.select(1, n % kWidth).add_(torch::linspace(0, 1, kHeight));
    // PLANT innocent torch-repeat-for-broadcast/repeated loop=vignette: there are two stripes, which no operation would stretch to so many rows
    auto lines = stripes.repeat({kHeight / 2, 1});
    sum += (mask * lines).mean().item<double>();
  }
  return sum / count;
}

struct Plate {
  torch::Tensor pixels = torch::rand({kHeight, kWidth}) + 1;
  torch::Tensor flat() const { return pixels.view({-1}); }
};

double crossed(const Plate& plate, int count) {
  auto gather = [&plate](const torch::Tensor& row) {
    // PLANT true torch-noncontiguous-operand/again loop=crossed: nobody writes the plate between two rows
    auto across = plate.pixels.transpose(0, 1).contiguous();
    return row.mm(across).sum();
  };
  double sum = 0;
  for (int n = 0; n < count; ++n) {  // AT crossed
    sum += gather(torch::full({1, kWidth}, 0.001 * n)).item<double>();
  }
  return sum;
}

int readings(const Plate& plate, torch::nn::Linear& net, int count) {
  double sum = 0;
  int odd = 0;
  for (int n = 0; n < count; ++n) {  // AT readings
    // PLANT true torch-dangling-data/pointer loop=readings: the difference ends with the statement, and its memory
    const float* row = (plate.pixels - 0.5).select(0, n % kHeight).data_ptr<float>();
    for (int64_t i = 0; i < kWidth; ++i) sum += row[i];
    // PLANT true torch-dangling-data/list loop=readings: the sizes are those of the view, which is gone
    at::IntArrayRef sides = plate.pixels.unsqueeze(0).sizes();
    odd += sides[1] != kHeight;
    // PLANT true torch-dangling-data/array-ref loop=readings: the list of numbers ends with the statement
    at::IntArrayRef shape = {kWidth, kHeight};
    odd += shape[0] * shape[1] != kHeight * kWidth;
    // PLANT true torch-dangling-data/part-of-result loop=readings: the dictionary is a temporary, and the list is a part of it
    const auto& items = net->named_parameters().items();
    odd += items.size() != 2;
    // PLANT innocent torch-dangling-data/pointer loop=readings: flat() is a view of the plate, which has the memory
    const float* all = plate.flat().data_ptr<float>();
    sum += all[n] + all[kWidth];
    // PLANT innocent torch-dangling-data/list loop=readings: vec() makes a copy of the numbers
    const std::vector<int64_t> copied = plate.pixels.unsqueeze(1).sizes().vec();
    odd += copied[1] != 1;
  }
  return sum == sum ? count : odd;
}

struct Negatives : torch::data::Dataset<Negatives> {
  using Rows = std::vector<std::vector<float>>;
  explicit Negatives(std::shared_ptr<const Rows> r) : rows(std::move(r)) {}
  torch::data::Example<> get(size_t i) override { return {torch::tensor((*rows)[i]), torch::tensor(int64_t(i % 2))}; }
  torch::optional<size_t> size() const override { return rows->size(); }
  std::shared_ptr<const Rows> rows;
};

double load(int epochs) {
  auto rows = std::make_shared<Negatives::Rows>(40, std::vector<float>(4000, 0.5f));
  Negatives negatives(rows);
  double sum = 0;
  std::vector<std::vector<float>> seen;
  for (int epoch = 0; epoch < epochs; ++epoch) {  // AT loaded
    auto stacked = negatives.map(torch::data::transforms::Stack<>());
    // PLANT innocent torch-dataset-copied/by-value loop=loaded: what is copied for the workers is a pointer to the rows
    auto loader = torch::data::make_data_loader(stacked, torch::data::DataLoaderOptions().batch_size(8).workers(2));
    for (auto& batch : *loader) {
      sum += batch.data.mean().item<double>();
      auto first = batch.data[0].contiguous();
      seen.emplace_back(first.data_ptr<float>(), first.data_ptr<float>() + first.numel());
    }
  }
  return sum + seen.size();
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(1);
  torch::NoGradGuard no_grad;
  Film film;
  std::vector<float> sink;
  std::printf("roll %.5f mixed %.5f\n", roll(film, 60), mixed_sources(film, 60));
  std::printf("projected %.4f\n", projected(torch::ones({128, kWidth}), 100));
  std::printf("shading %.4f\n", shading(torch::rand({kWidth, kHeight}), 100));
  std::printf("sharpen %.4f\n", sharpen(torch::eye(kHeight) + 0.05 * torch::randn({kHeight, kHeight}), 100));
  std::printf("planar %ld vignette %.5f\n", long(planar(film, 40, sink)), vignette(100));
  torch::nn::Linear net(4, 2);
  std::printf("crossed %.3f\n", crossed(Plate(), 100));
  std::printf("readings %d\n", readings(Plate(), net, 200));
  std::printf("load %.3f\n", load(20));
  return 0;
}
