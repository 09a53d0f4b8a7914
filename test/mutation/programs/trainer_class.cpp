// A trainer with callbacks, a scheduler, early stopping and an averaged model.
#include <torch/torch.h>

#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct Batch {
  torch::Tensor inputs;
  torch::Tensor targets;
};

class Regressor : public torch::nn::Module {
 public:
  Regressor(int inputs, int width, int depth) {
    layers->push_back(torch::nn::Linear(inputs, width));
    for (int i = 1; i < depth; i++) {
      layers->push_back(torch::nn::GELU());
      layers->push_back(torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})));
      layers->push_back(torch::nn::Linear(width, i + 1 == depth ? 1 : width));
    }
    register_module("layers", layers);
  }

  torch::Tensor forward(torch::Tensor x) { return layers->forward(x).squeeze(1); }

 private:
  torch::nn::Sequential layers;
};

class Average {
 public:
  explicit Average(const torch::nn::Module& model) {
    for (const auto& parameter : model.parameters())
      shadow_.push_back(parameter.detach().clone());
  }

  void update(const torch::nn::Module& model, double decay) {
    auto parameters = model.parameters();
    for (size_t i = 0; i < shadow_.size(); ++i)
      shadow_[i].mul_(decay).add_(parameters[i].detach(), 1 - decay);
  }

 private:
  std::vector<torch::Tensor> shadow_;
};

class Trainer {
 public:
  using Callback = std::function<void(int, const torch::Tensor&)>;

  Trainer(std::shared_ptr<Regressor> model, torch::Device device)
      : m_model(std::move(model)), m_device(device),
        m_optimizer(m_model->parameters(),
                    torch::optim::AdamWOptions(1e-3).weight_decay(1e-2)),
        m_scheduler(m_optimizer, 10, 0.5), m_average(*m_model) {}

  void on_step(Callback callback) { m_callbacks.push_back(std::move(callback)); }

  std::optional<double> run(const std::vector<Batch>& training,
                            const std::vector<Batch>& validation,
                            const torch::Tensor& scale) {
    int patience = 5;
    double best = std::numeric_limits<double>::infinity();
    for (m_epoch = 0; m_epoch < 100 && patience > 0; ++m_epoch) {
      train_one_epoch(training, scale);
      m_scheduler.step();
      const double error = validate(validation, scale);
      m_validation_errors.push_back(error);
      if (error < best) {
        best = error;
        patience = 5;
        torch::save(m_model, "best.pt");
      } else {
        --patience;
      }
    }
    if (m_validation_errors.empty())
      return std::nullopt;
    return best;
  }

  double last_loss() const { return m_last_loss; }
  torch::Tensor curve() const { return torch::stack(m_losses); }

 private:
  void train_one_epoch(const std::vector<Batch>& batches, const torch::Tensor& scale) {
    m_model->train();
    torch::Tensor weight = scale.to(m_device, torch::kFloat32);
    for (const Batch& batch : batches) {
      auto predicted = m_model->forward(batch.inputs.to(m_device));
      auto loss = (weight * torch::huber_loss(predicted, batch.targets.to(m_device),
                                              torch::Reduction::None))
                      .mean();
      optimize(loss);
      m_average.update(*m_model, 0.999);
      m_losses.push_back(loss.detach());
      m_last_loss = loss.item<double>();
      for (auto& callback : m_callbacks)
        callback(m_epoch, loss.detach());
    }
  }

  void optimize(const torch::Tensor& loss) {
    m_optimizer.zero_grad();
    loss.backward();
    torch::nn::utils::clip_grad_norm_(m_model->parameters(), 1.0);
    m_optimizer.step();
  }

  double validate(const std::vector<Batch>& batches, const torch::Tensor& scale) {
    torch::NoGradGuard guard;
    m_model->eval();
    torch::Tensor weight = scale.to(m_device, torch::kFloat32);
    torch::Tensor total = torch::zeros({}, m_device);
    for (const Batch& batch : batches) {
      auto predicted = m_model->forward(batch.inputs.to(m_device));
      total += (weight * (predicted - batch.targets.to(m_device)).abs()).mean();
    }
    return total.item<double>() / batches.size();
  }

  std::shared_ptr<Regressor> m_model;
  torch::Device m_device;
  torch::optim::AdamW m_optimizer;
  torch::optim::StepLR m_scheduler;
  Average m_average;
  std::vector<Callback> m_callbacks;
  std::vector<torch::Tensor> m_losses;
  std::vector<double> m_validation_errors;
  double m_last_loss = 0;
  int m_epoch = 0;
};

static std::vector<Batch> make(int count) {
  std::vector<Batch> batches;
  for (int i = 0; i < count; ++i) {
    auto inputs = torch::randn({256, 16});
    batches.push_back({inputs, inputs.sum(1) + 0.1 * torch::randn({256})});
  }
  return batches;
}

int main() {
  auto device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
  auto model = std::make_shared<Regressor>(16, 64, 4);
  model->to(device);
  Trainer trainer(model, device);

  std::vector<torch::Tensor> watched;
  trainer.on_step([&watched](int epoch, const torch::Tensor& loss) {
    if (epoch % 10 == 0)
      watched.push_back(loss);
  });
  auto scale = torch::linspace(0.5, 1.5, 256, torch::kFloat64);
  auto best = trainer.run(make(64), make(8), scale);
  std::cout << "best " << best.value_or(-1) << " last " << trainer.last_loss() << " of "
            << trainer.curve().size(0) << " watched " << watched.size() << std::endl;
}
