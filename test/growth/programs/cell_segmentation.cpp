// Segments synthetic microscope images (cells on an uneven background) with a
// small encoder-decoder. The activation is a custom autograd function, the
// loss is cross entropy plus a soft Dice term. From time to time the model is
// scored on a held-out set, with the best threshold found by a sweep.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int64_t kSide = 64;
constexpr int64_t kBatch = 6;
constexpr int64_t kHeldOut = 192;

// x * sigmoid(x), which keeps only its input for the backward pass.
class Swish : public torch::autograd::Function<Swish> {
public:
  static torch::Tensor forward(torch::autograd::AutogradContext *context,
                               const torch::Tensor &x) {
    context->save_for_backward({x});
    return x * torch::sigmoid(x);
  }

  static torch::autograd::variable_list
  backward(torch::autograd::AutogradContext *context,
           torch::autograd::variable_list grads) {
    const torch::Tensor x = context->get_saved_variables()[0];
    const torch::Tensor s = torch::sigmoid(x);
    return {grads[0] * (s + x * s * (1 - s))};
  }
};

struct BlockImpl : torch::nn::Module {
  BlockImpl(int64_t in, int64_t out)
      : conv(torch::nn::Conv2dOptions(in, out, 3).padding(1)),
        norm(torch::nn::GroupNormOptions(4, out)) {
    register_module("conv", conv);
    register_module("norm", norm);
  }

  torch::Tensor forward(const torch::Tensor &x) {
    return Swish::apply(norm(conv(x)));
  }

  torch::nn::Conv2d conv;
  torch::nn::GroupNorm norm;
};
TORCH_MODULE(Block);

struct SegmenterImpl : torch::nn::Module {
  SegmenterImpl()
      : wide(1, 12), deep(12, 24), bottom(24, 24), join(36, 12),
        out(torch::nn::Conv2dOptions(12, 1, 1)) {
    register_module("wide", wide);
    register_module("deep", deep);
    register_module("bottom", bottom);
    register_module("join", join);
    register_module("out", out);
  }

  torch::Tensor forward(const torch::Tensor &x) {
    const torch::Tensor fine = wide(x);
    torch::Tensor coarse = bottom(deep(torch::max_pool2d(fine, 2)));
    coarse =
        torch::upsample_nearest2d(coarse, torch::IntArrayRef({kSide, kSide}));
    return out(join(torch::cat({fine, coarse}, 1)));
  }

  Block wide, deep, bottom, join;
  torch::nn::Conv2d out;
};
TORCH_MODULE(Segmenter);

struct Slides {
  torch::Tensor images;
  torch::Tensor masks;
};

Slides makeSlides(int64_t count) {
  const torch::Tensor axis = torch::linspace(0.0, 1.0, kSide);
  const torch::Tensor x = axis.view({1, 1, kSide});
  const torch::Tensor y = axis.view({1, kSide, 1});
  torch::Tensor masks = torch::zeros({count, kSide, kSide});
  for (int cell = 0; cell < 6; ++cell) {
    const torch::Tensor cx = torch::rand({count, 1, 1});
    const torch::Tensor cy = torch::rand({count, 1, 1});
    const torch::Tensor r = torch::rand({count, 1, 1}) * 0.09 + 0.05;
    const torch::Tensor stretch = torch::rand({count, 1, 1}) + 0.6;
    const torch::Tensor inside =
        (x - cx).square() * stretch + (y - cy).square() / stretch - r.square();
    masks = torch::maximum(masks, inside.lt(0.0).to(torch::kFloat));
  }
  const torch::Tensor shade = torch::rand({count, 1, 1}) * x + y * 0.5;
  const torch::Tensor noise = torch::randn({count, kSide, kSide}) * 0.35;
  return {(masks * 0.6 + shade + noise).unsqueeze(1), masks.unsqueeze(1)};
}

torch::Tensor softDice(const torch::Tensor &chance, const torch::Tensor &mask) {
  const torch::Tensor overlap = (chance * mask).sum({1, 2, 3});
  const torch::Tensor total = chance.sum({1, 2, 3}) + mask.sum({1, 2, 3});
  return ((overlap * 2.0 + 1.0) / (total + 1.0)).mean();
}

struct Score {
  double dice = 0.0;
  double threshold = 0.0;
};

// All predictions are needed at once: the best threshold is one for the whole
// set, not one for each batch.
Score evaluate(Segmenter &model, const Slides &slides) {
#ifdef MENDED
  torch::NoGradGuard guard;
#endif
  model->eval();
  std::vector<torch::Tensor> chances;
  for (const torch::Tensor &images : slides.images.split(2 * kBatch)) {
    const torch::Tensor logits = model->forward(images);
    chances.push_back(torch::sigmoid(logits));
  }
  const torch::Tensor chance = torch::cat(chances);

  Score best;
  for (int step = 1; step < 10; ++step) {
    const double threshold = 0.1 * step;
    const torch::Tensor hard = chance.gt(threshold).to(torch::kFloat);
    const double dice = softDice(hard, slides.masks).item<double>();
    if (dice > best.dice)
      best = {dice, threshold};
  }
  model->train();
  return best;
}

Slides pick(const Slides &slides) {
  const torch::Tensor rows =
      torch::randint(slides.images.size(0), {kBatch}, torch::kLong);
  Slides batch = {slides.images.index_select(0, rows),
                  slides.masks.index_select(0, rows)};
  if (torch::rand({1}).item<double>() < 0.5) {
    batch.images = batch.images.flip({3});
    batch.masks = batch.masks.flip({3});
  }
  return batch;
}

} // namespace

int main(int argc, char **argv) {
  int64_t iterations = 240;
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], "--iterations") == 0)
      iterations = std::atoll(argv[i + 1]);

  torch::manual_seed(90);
  const Slides train = makeSlides(360);
  const Slides held_out = makeSlides(kHeldOut);
  Segmenter model;
  torch::optim::AdamW optimizer(model->parameters(),
                                torch::optim::AdamWOptions(3e-3));

  double loss_sum = 0.0;
  for (int64_t step = 1; step <= iterations; ++step) {
    const Slides batch = pick(train);
    optimizer.zero_grad();
    const torch::Tensor logits = model->forward(batch.images);
    const torch::Tensor loss =
        torch::binary_cross_entropy_with_logits(logits, batch.masks) + 1.0 -
        softDice(torch::sigmoid(logits), batch.masks);
    loss.backward();
    optimizer.step();
    loss_sum += loss.item<double>();

    if (step % 60 == 0) {
      const Score score = evaluate(model, held_out);
      std::printf("step %4lld  loss %.4f  dice %.4f at %.1f\n",
                  static_cast<long long>(step), loss_sum / 60.0, score.dice,
                  score.threshold);
      loss_sum = 0.0;
    }
  }
  return 0;
}
