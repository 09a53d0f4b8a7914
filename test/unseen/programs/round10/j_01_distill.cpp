// Road-surface damage classifier. Two larger experts are distilled into a student that fits
// on the inspection vehicle; a small risk head is trained on the student's features afterwards.
#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include <cstring>
#include <iomanip>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace nn = torch::nn;
namespace F = torch::nn::functional;

namespace roads {

struct Settings {
  int64_t classes = 6;
  int64_t batch = 8;
  int epochs = 2;
  int steps = 4;
  int probe_every = 3;
  double temperature = 3.0;
  double hard_weight = 0.3;
  bool gallery = false;
};

nn::Sequential make_block(int64_t in, int64_t out, int64_t stride) {
  return nn::Sequential(
      nn::Conv2d(nn::Conv2dOptions(in, out, 3).stride(stride).padding(1).bias(false)),
      nn::BatchNorm2d(out), nn::ReLU(nn::ReLUOptions(true)));
}

class ScopedPrecision {
 public:
  ScopedPrecision(c10::DeviceType type, at::ScalarType dtype)
      : type_(type),
        enabled_before_(at::autocast::is_autocast_enabled(type)),
        dtype_before_(at::autocast::get_autocast_dtype(type)) {
    at::autocast::set_autocast_dtype(type, dtype);
    at::autocast::set_autocast_enabled(type, true);  // RIGHT: torch-autocast-cache
    at::autocast::increment_nesting();
  }
  ~ScopedPrecision() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_dtype(type_, dtype_before_);
    at::autocast::set_autocast_enabled(type_, enabled_before_);
  }
  ScopedPrecision(const ScopedPrecision&) = delete;
  ScopedPrecision& operator=(const ScopedPrecision&) = delete;

 private:
  c10::DeviceType type_;
  bool enabled_before_;
  at::ScalarType dtype_before_;
};

class EvalScope {
 public:
  explicit EvalScope(nn::Module& module) : module_(module), was_training_(module.is_training()) {
    module_.eval();  // RIGHT: torch-eval-mode-not-restored
  }
  ~EvalScope() { module_.train(was_training_); }

 private:
  nn::Module& module_;
  bool was_training_;
};

// The experts: wide, slow, and delivered by another team.
class ExpertImpl : public nn::Module {
 public:
  ExpertImpl(int64_t width, int64_t classes) {
    stem_ = register_module("stem", make_block(3, width, 2));
    blocks_ = register_module("blocks", nn::ModuleList());
    int64_t channels = width;
    for (int i = 0; i < 2; ++i) {
      blocks_->push_back(make_block(channels, channels * 2, 2));  // RIGHT: torch-unregistered-module
      channels *= 2;
    }
    out_ = register_module("out", nn::Linear(channels, classes));
  }

  torch::Tensor forward(torch::Tensor x) {
    x = stem_->forward(x);
    for (size_t i = 0; i < blocks_->size(); ++i) x = blocks_->at<nn::SequentialImpl>(i).forward(x);
    return out_->forward(x.mean({2, 3}));
  }

 private:
  nn::Sequential stem_{nullptr};
  nn::ModuleList blocks_{nullptr};
  nn::Linear out_{nullptr};
};
TORCH_MODULE(Expert);

class StudentImpl : public nn::Module {
 public:
  static constexpr int64_t kEmbedding = 32;

  StudentImpl(const std::vector<int64_t>& widths, int64_t classes) {
    stem_ = register_module("stem", make_block(3, widths.front(), 2));
    for (size_t i = 1; i < widths.size(); ++i) {
      stages_.push_back(make_block(widths[i - 1], widths[i], 2));  // EXPECT: torch-unregistered-module
    }
    project_ = register_module("project", nn::Linear(widths.back(), kEmbedding));
    drop_ = register_module("drop", nn::Dropout(0.1));
    classify_ = register_module("classify", nn::Linear(kEmbedding, classes));
  }

  torch::Tensor features(torch::Tensor x) {
    x = stem_->forward(x);
    for (auto& stage : stages_) x = stage->forward(x);
    return project_->forward(x.mean({2, 3}));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    return classify_->forward(drop_->forward(torch::relu(features(x))));
  }

 private:
  nn::Sequential stem_{nullptr};
  std::vector<nn::Sequential> stages_;
  nn::Linear project_{nullptr};
  nn::Dropout drop_{nullptr};
  nn::Linear classify_{nullptr};
};
TORCH_MODULE(Student);

class RiskHeadImpl : public nn::Module {
 public:
  RiskHeadImpl() {
    layers_ = register_module(
        "layers", nn::Sequential(nn::Linear(StudentImpl::kEmbedding, 64), nn::ReLU(),
                                 nn::Dropout(0.4), nn::Linear(64, 1)));
  }
  torch::Tensor forward(const torch::Tensor& x) { return layers_->forward(x).squeeze(1); }

 private:
  nn::Sequential layers_{nullptr};
};
TORCH_MODULE(RiskHead);

// All pictures of one survey, resident on the device.
class Survey {
 public:
  Survey(int64_t count, int64_t classes, torch::Device device)
      : images_(torch::rand({count, 3, 32, 32}, torch::device(device))),
        labels_(torch::randint(classes, {count}, torch::device(device).dtype(torch::kLong))),
        risks_(torch::rand({count}, torch::device(device))) {}

  torch::Tensor images(int64_t index, int64_t batch) const { return images_.narrow(0, at(index, batch), batch); }
  torch::Tensor labels(int64_t index, int64_t batch) const { return labels_.narrow(0, at(index, batch), batch); }
  torch::Tensor risks(int64_t index, int64_t batch) const { return risks_.narrow(0, at(index, batch), batch); }
  int64_t batches(int64_t batch) const { return images_.size(0) / batch; }

 private:
  int64_t at(int64_t index, int64_t batch) const { return (index % batches(batch)) * batch; }
  torch::Tensor images_, labels_, risks_;
};

void freeze(nn::Module& module) {
  for (auto& p : module.parameters()) p.requires_grad_(false);
  module.eval();
}

class Distiller {
 public:
  Distiller(Settings settings, torch::Device device)
      : settings_(settings),
        device_(device),
        coarse_(16, settings.classes),
        fine_(24, settings.classes),
        student_(std::vector<int64_t>{12, 24, 48}, settings.classes) {
    coarse_->to(device_);
    fine_->to(device_);
    student_->to(device_);
    coarse_->eval();
    freeze(*fine_);
  }

  void fit(const Survey& train, const Survey& held_out) {
    torch::optim::AdamW optimizer(student_->parameters(), torch::optim::AdamWOptions(2e-3));
    student_->train();
    for (int epoch = 0; epoch < settings_.epochs; ++epoch) {
      auto running = torch::zeros({}, torch::device(device_));
      for (int step = 0; step < settings_.steps; ++step) {
        const auto x = train.images(step, settings_.batch);
        const auto y = train.labels(step, settings_.batch);
        const auto soft = soft_targets(x);

        optimizer.zero_grad();  // RIGHT: torch-zero-grad-in-place
        const auto logits = mixed_forward(x);
        const auto wide = logits.to(torch::kFloat);
        const auto kd = F::kl_div(torch::log_softmax(wide / settings_.temperature, 1), soft,  // RIGHT: torch-autocast-boundary
                                  F::KLDivFuncOptions().reduction(torch::kBatchMean));
        const auto hard = F::cross_entropy(wide, y);
        const auto loss = kd + settings_.hard_weight * hard;
        loss.backward();
        optimizer.step();

        running += loss.detach();  // RIGHT: torch-sync-in-loop
        log_.emplace_back(epoch * settings_.steps + step, kd.item<double>());  // EXPECT: torch-sync-in-loop
        if (step % settings_.probe_every == 0) last_probe_ = probe(held_out);
      }
      std::cout << "epoch " << epoch << " loss " << running.item<float>() / settings_.steps << "\n";
    }
    if (last_probe_.defined()) std::cout << "last probe " << last_probe_.item<float>() << "\n";
  }

  torch::Tensor confusion(const Survey& survey) {
    EvalScope scope(*student_);
    auto counts = torch::zeros({settings_.classes * settings_.classes},
                               torch::device(device_).dtype(torch::kLong));
    for (int64_t i = 0; i < survey.batches(settings_.batch); ++i) {
      const auto scores = student_->forward(survey.images(i, settings_.batch));  // EXPECT: torch-missing-no-grad
      const auto cell = survey.labels(i, settings_.batch) * settings_.classes + scores.argmax(1);
      counts += torch::bincount(cell, {}, settings_.classes * settings_.classes);
    }
    return counts.view({settings_.classes, settings_.classes}).cpu();
  }

  Student student() const { return student_; }
  size_t logged() const { return log_.size(); }

 private:
  torch::Tensor soft_targets(const torch::Tensor& x) {
    const auto a = coarse_->forward(x);  // EXPECT: torch-unused-gradients
    const auto b = fine_->forward(x);  // RIGHT: torch-unused-gradients
    return torch::softmax((a + b) / (2.0 * settings_.temperature), 1);
  }

  torch::Tensor mixed_forward(const torch::Tensor& x) {
    const auto kind = device_.type();
    at::autocast::set_autocast_dtype(kind, torch::kBFloat16);
    at::autocast::set_autocast_enabled(kind, true);  // EXPECT: torch-autocast-cache
    auto out = student_->forward(x);
    at::autocast::set_autocast_enabled(kind, false);
    return out;
  }

  torch::Tensor probe(const Survey& survey) {
    torch::NoGradGuard no_grad;
    student_->eval();  // EXPECT: torch-eval-mode-not-restored
    const auto hits = student_->forward(survey.images(0, settings_.batch))  // RIGHT: torch-missing-no-grad
                          .argmax(1)
                          .eq(survey.labels(0, settings_.batch));
    return hits.to(torch::kFloat).mean();
  }

  Settings settings_;
  torch::Device device_;
  Expert coarse_, fine_;
  Student student_;
  torch::Tensor last_probe_;
  std::vector<std::pair<int, double>> log_;
};

// ---- risk head ---------------------------------------------------------------------------

void reset_gradients(const std::vector<torch::Tensor>& parameters) {
  for (const auto& p : parameters) {
    if (p.grad().defined()) p.mutable_grad().zero_();  // EXPECT: torch-zero-grad-in-place
  }
}

void fit_risk(Student& student, RiskHead& head, const Survey& survey, const Settings& settings) {
  const auto parameters = head->parameters();
  torch::optim::SGD optimizer(parameters, torch::optim::SGDOptions(0.05).momentum(0.9));
  EvalScope scope(*student);
  head->train();
  for (int step = 0; step < settings.steps * 2; ++step) {
    torch::Tensor embedding;
    {
      torch::NoGradGuard no_grad;
      embedding = student->features(survey.images(step, settings.batch));
    }
    reset_gradients(parameters);
    const auto loss = F::mse_loss(torch::sigmoid(head->forward(embedding)),
                                  survey.risks(step, settings.batch));
    loss.backward();
    optimizer.step();
  }
}

double report(Student& student, RiskHead& head, const Survey& survey, const Settings& settings) {
  torch::NoGradGuard no_grad;
  const bool student_mode = student->is_training();
  const bool head_mode = head->is_training();
  student->eval();
  student->eval();  // EXPECT: torch-partial-eval-mode
  auto error = torch::zeros({}, survey.risks(0, settings.batch).options());
  const int64_t n = survey.batches(settings.batch);
  for (int64_t i = 0; i < n; ++i) {
    const auto guess = torch::sigmoid(head->forward(student->features(survey.images(i, settings.batch))));
    error += (guess - survey.risks(i, settings.batch)).abs().mean();
  }
  student->train(student_mode);
  head->train(head_mode);
  return error.item<double>() / static_cast<double>(n);
}

double spread(Student& student, RiskHead& head, const Survey& survey, const Settings& settings) {
  torch::NoGradGuard no_grad;
  student->eval();
  head->train();  // RIGHT: torch-partial-eval-mode
  const auto embedding = student->features(survey.images(0, settings.batch));
  std::vector<torch::Tensor> draws;
  for (int i = 0; i < 8; ++i) draws.push_back(torch::sigmoid(head->forward(embedding)));
  head->eval();
  return torch::stack(draws).std(0).mean().item<double>();
}

// ---- gallery of known defects ------------------------------------------------------------

torch::Tensor embed(Student& student, const torch::Tensor& images) {
  torch::NoGradGuard no_grad;
  ScopedPrecision low(images.device().type(), torch::kBFloat16);
  return student->features(images);
}

class Gallery {
 public:
  Gallery(int64_t entries, torch::Device device)
      : prototypes_(F::normalize(torch::randn({entries, StudentImpl::kEmbedding}, torch::device(device)))) {}

  torch::Tensor nearest(const torch::Tensor& query) const {
    return torch::mm(query, prototypes_.t()).argmax(1);  // EXPECT: torch-autocast-boundary
  }
  torch::Tensor offset(const torch::Tensor& query) const {
    return query - prototypes_.mean(0);  // RIGHT: torch-autocast-boundary
  }

 private:
  torch::Tensor prototypes_;
};

}  // namespace roads

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  torch::manual_seed(11);
  roads::Settings settings;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--gallery") == 0) settings.gallery = true;
  }
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);

  roads::Survey train(48, settings.classes, device);
  roads::Survey held_out(24, settings.classes, device);
  roads::Distiller distiller(settings, device);
  distiller.fit(train, held_out);
  std::cout << distiller.confusion(held_out) << "\n" << distiller.logged() << " log entries\n";

  auto student = distiller.student();
  roads::RiskHead head;
  head->to(device);
  roads::fit_risk(student, head, train, settings);
  std::cout << std::setprecision(4) << "risk error " << roads::report(student, head, held_out, settings)
            << " spread " << roads::spread(student, head, held_out, settings) << "\n";

  student->eval();
  roads::Gallery gallery(20, device);
  const auto codes = roads::embed(student, held_out.images(0, settings.batch));
  std::cout << "offset norm " << gallery.offset(codes).norm().item<float>() << "\n";
  if (settings.gallery) std::cout << gallery.nearest(codes) << "\n";
  return 0;
}
