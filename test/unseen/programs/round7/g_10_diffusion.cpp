// Diffusion on small patches: teacher training, adversarial distillation to one step, a sampling service.
#include <torch/torch.h>

#include <ATen/autocast_mode.h>

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <future>
#include <memory>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using torch::Tensor;
using Clock = std::chrono::steady_clock;
namespace diffusion {

struct Plan {
  int64_t dim = 16, width = 64;
  int64_t timesteps = 20, batch = 64;
  int64_t teacher_steps = 120, distill_steps = 30;
  int64_t cache_batches = 0, style_steps = 0;
  bool mixed = true;
};

// Mixed precision for the life of the scope, on GPUs only.
class AutocastScope {
 public:
  explicit AutocastScope(bool enable) : before_(at::autocast::is_autocast_enabled(at::kCUDA)) {
    at::autocast::set_autocast_enabled(at::kCUDA, enable);
    at::autocast::increment_nesting();
  }
  ~AutocastScope() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();  // RIGHT: torch-autocast-cache
    at::autocast::set_autocast_enabled(at::kCUDA, before_);
  }

 private:
  bool before_;
};

class Schedule {
 public:
  Schedule(int64_t steps, torch::Device device) : beta_(steps), alpha_bar_(steps) {
    double product = 1.0;
    for (int64_t t = 0; t < steps; ++t) {
      beta_[t] = 0.02 + 0.3 * static_cast<double>(t) / static_cast<double>(steps);
      product *= 1.0 - beta_[t];
      alpha_bar_[t] = product;
    }
    const auto bars = torch::tensor(alpha_bar_, torch::dtype(torch::kFloat32).device(device));
    signal_ = bars.sqrt();
    noise_ = (1.0 - bars).sqrt();
    index_ = torch::arange(steps, torch::device(device));
  }

  Tensor diffuse(const Tensor& x, const Tensor& noise, const Tensor& t) const {
    return signal_.index_select(0, t).unsqueeze(1) * x + noise_.index_select(0, t).unsqueeze(1) * noise;
  }
  Tensor at(int64_t t, int64_t n) const { return index_.slice(0, t, t + 1).expand({n}); }
  double beta(int64_t t) const { return beta_[static_cast<size_t>(t)]; }
  double alpha_bar(int64_t t) const { return alpha_bar_[static_cast<size_t>(t)]; }
  int64_t steps() const { return static_cast<int64_t>(beta_.size()); }

 private:
  std::vector<double> beta_, alpha_bar_;
  Tensor signal_, noise_, index_;
};

class DenoiserImpl : public torch::nn::Module {
 public:
  explicit DenoiserImpl(const Plan& p)
      : time_(register_module("time", torch::nn::Embedding(p.timesteps, p.width))),
        in_(register_module("in", torch::nn::Linear(p.dim + 1, p.width))),
        mid_(register_module("mid", torch::nn::Linear(p.width, p.width))),
        out_(register_module("out", torch::nn::Linear(p.width, p.dim))) {}

  Tensor forward(const Tensor& x, const Tensor& t, const Tensor& guidance) {
    auto h = in_->forward(torch::cat({x, guidance}, 1)) + time_->forward(t);
    h = h + mid_->forward(torch::silu(h));  // RIGHT: torch-inplace-opportunity
    return out_->forward(torch::silu(h));
  }

 private:
  torch::nn::Embedding time_;
  torch::nn::Linear in_, mid_, out_;
};
TORCH_MODULE(Denoiser);

class CriticImpl : public torch::nn::Module {
 public:
  CriticImpl(const Plan& p, bool mixed) : mixed_(mixed) {
    trunk_ = register_module("trunk", torch::nn::Sequential(torch::nn::Linear(p.dim, p.width), torch::nn::LeakyReLU(),
                                                            torch::nn::Linear(p.width, p.width)));
    readout_ = register_parameter("readout", torch::randn({p.width, 1}) * 0.1);  // RIGHT: torch-non-leaf-parameter
  }
  Tensor forward(const Tensor& x) {
    Tensor features;
    {
      AutocastScope amp(mixed_);
      features = trunk_->forward(x);
    }
    return features.mm(readout_).squeeze(1);  // EXPECT: torch-autocast-boundary
  }

 private:
  bool mixed_;
  torch::nn::Sequential trunk_{nullptr};
  Tensor readout_;
};
TORCH_MODULE(Critic);

class StyleImpl : public torch::nn::Module {
 public:
  explicit StyleImpl(int64_t dim) {
    shift_ = register_parameter("shift", torch::randn({dim}, torch::requires_grad()) * 0.02);  // EXPECT: torch-non-leaf-parameter
    scale_ = register_parameter("scale", torch::ones({dim}));
  }
  Tensor forward(const Tensor& x) { return torch::addcmul(shift_, x, scale_); }

 private:
  Tensor shift_, scale_;
};
TORCH_MODULE(Style);

class WeightAverage {
 public:
  WeightAverage(const torch::nn::Module& m, double decay) : decay_(decay) {
    for (const auto& p : m.parameters()) shadow_.push_back(p.detach().clone());  // RIGHT: torch-parameter-copy
  }
  void update(const torch::nn::Module& m) {
    torch::NoGradGuard no_grad;
    const auto live = m.parameters();
    for (size_t i = 0; i < live.size(); ++i) shadow_[i].lerp_(live[i], 1.0 - decay_);
  }
  void store(torch::nn::Module& m) const {
    torch::NoGradGuard no_grad;
    auto live = m.parameters();
    for (size_t i = 0; i < live.size(); ++i) live[i].copy_(shadow_[i]);  // RIGHT: torch-leaf-inplace
  }

 private:
  double decay_;
  std::vector<Tensor> shadow_;
};

struct Lab {
  Plan plan;
  torch::Device device;
  Schedule schedule;
  Tensor basis, no_guidance;

  Lab(const Plan& p, torch::Device d)
      : plan(p), device(d), schedule(p.timesteps, d), basis(torch::randn({2, p.dim}, torch::device(d))),
        no_guidance(torch::zeros({p.batch, 1}, torch::device(d))) {}

  bool mixed() const { return plan.mixed && device.is_cuda(); }
  Tensor noise(int64_t n) const { return torch::randn({n, plan.dim}, torch::device(device)); }
  Tensor real(int64_t n) const {
    const auto angle = torch::rand({n, 1}, torch::device(device)) * (2 * M_PI);
    return torch::cat({angle.cos(), angle.sin()}, 1).mm(basis);
  }
};

void train_teacher(const Lab& lab, Denoiser& net) {
  torch::optim::AdamW optimizer(net->parameters(), torch::optim::AdamWOptions(2e-3));
  WeightAverage average(*net, 0.95);
  for (int64_t step = 0; step < lab.plan.teacher_steps; ++step) {
    const auto x = lab.real(lab.plan.batch);
    const auto noise = torch::randn_like(x);  // RIGHT: torch-allocation-in-loop
    const auto t = torch::randint(lab.schedule.steps(), {x.size(0)}, torch::dtype(torch::kLong).device(lab.device));
    optimizer.zero_grad();
    Tensor predicted;
    {
      AutocastScope amp(lab.mixed());
      predicted = net->forward(lab.schedule.diffuse(x, noise, t), t, lab.no_guidance);
    }
    const auto loss = torch::mse_loss(predicted.to(torch::kFloat32), noise);  // RIGHT: torch-autocast-boundary
    loss.backward();
    optimizer.step();
    average.update(*net);
    if ((step + 1) % 40 == 0) std::printf("teacher %ld loss %.4f\n", static_cast<long>(step + 1), loss.item<double>());
  }
  average.store(*net);
}

// Ancestral sampling with the teacher.
Tensor sample(const Lab& lab, Denoiser& net, Tensor x, double guidance) {
  torch::NoGradGuard no_grad;
  const auto n = x.size(0);
  for (int64_t t = lab.schedule.steps() - 1; t >= 0; --t) {
    const auto strength = torch::full({n, 1}, guidance, x.options());  // EXPECT: torch-allocation-in-loop
    const auto eps = net->forward(x, lab.schedule.at(t, n), strength);
    const double beta = lab.schedule.beta(t);
    x = x - eps * (beta / std::sqrt(1.0 - lab.schedule.alpha_bar(t)));  // RIGHT: torch-inplace-opportunity
    x = x / std::sqrt(1.0 - beta);  // EXPECT: torch-inplace-opportunity
    if (t > 0) x.add_(torch::randn_like(x), std::sqrt(beta));
  }
  return x;
}

Tensor one_step(const Lab& lab, Denoiser& student, const Tensor& z) {
  const auto n = z.size(0);
  return z - student->forward(z, lab.schedule.at(lab.schedule.steps() - 1, n), lab.no_guidance.slice(0, 0, n));
}

void set_trainable(torch::nn::Module& m, bool on) {
  for (auto& p : m.parameters()) p.requires_grad_(on);
}

class Distiller {
 public:
  Distiller(const Lab& lab, Denoiser teacher, Denoiser student)
      : lab_(lab), teacher_(std::move(teacher)), student_(std::move(student)), critic_(lab.plan, lab.mixed()) {
    critic_->to(lab.device);
    student_opt_ = std::make_unique<torch::optim::Adam>(student_->parameters(), torch::optim::AdamOptions(1e-3));
    critic_opt_ = std::make_unique<torch::optim::Adam>(critic_->parameters(), torch::optim::AdamOptions(2e-3));
  }

  void warm_up(int64_t steps) {
    std::vector<Tensor> pool;
    {
      c10::InferenceMode inference;
      for (int64_t i = 0; i < steps; ++i) pool.push_back(lab_.real(lab_.plan.batch));
    }
    for (const auto& stored : pool) {
      const auto real = stored.clone();  // RIGHT: torch-inference-tensor
      const auto fake = one_step(lab_, student_, lab_.noise(real.size(0))).detach();  // RIGHT: torch-undetached-generator-output
      update_critic(real, fake);
    }
  }

  void run() {
    for (int64_t step = 0; step < lab_.plan.distill_steps; ++step) {
      const auto z = lab_.noise(lab_.plan.batch);
      const auto real = lab_.real(lab_.plan.batch);
      update_critic(real, one_step(lab_, student_, z));  // EXPECT: torch-undetached-generator-output
      update_student(z);
    }
  }

  void refine_from_cache() {
    std::vector<std::pair<Tensor, Tensor>> cache;
    for (int64_t i = 0; i < lab_.plan.cache_batches; ++i) {
      const auto z = lab_.noise(lab_.plan.batch);
      c10::InferenceMode inference;
      cache.emplace_back(z, sample(lab_, teacher_, z, 0.0));
    }
    for (const auto& [z, target] : cache) {
      student_opt_->zero_grad();
      const auto loss = torch::mse_loss(one_step(lab_, student_, z), target);  // EXPECT: torch-inference-tensor
      loss.backward();
      student_opt_->step();
    }
  }

 private:
  void update_critic(const Tensor& real, const Tensor& fake) {
    critic_opt_->zero_grad();
    const auto loss = torch::softplus(-critic_->forward(real)).mean() + torch::softplus(critic_->forward(fake)).mean();
    loss.backward();
    critic_opt_->step();
  }

  void update_student(const Tensor& z) {
    const auto target = sample(lab_, teacher_, z, 0.0);
    set_trainable(*critic_, false);
    student_opt_->zero_grad();
    const auto x = one_step(lab_, student_, z);
    const auto loss = torch::softplus(-critic_->forward(x)).mean() + torch::mse_loss(x, target);
    loss.backward();
    student_opt_->step();
    set_trainable(*critic_, true);
  }

  const Lab& lab_;
  Denoiser teacher_, student_;
  Critic critic_;
  std::unique_ptr<torch::optim::Adam> student_opt_, critic_opt_;
};

void tune_style(const Lab& lab, const Tensor& reference) {
  Style style(lab.plan.dim);
  style->to(lab.device);
  torch::optim::SGD optimizer(style->parameters(), 0.05);
  for (int64_t i = 0; i < lab.plan.style_steps; ++i) {
    optimizer.zero_grad();
    torch::mse_loss(style->forward(lab.real(reference.size(0))).mean(0), reference.mean(0)).backward();
    optimizer.step();
  }
}

class SamplerService {
 public:
  SamplerService(const Lab& lab, Denoiser student) : lab_(lab), student_(std::move(student)) { student_->eval(); }
  ~SamplerService() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
      wake_.notify_all();
    }
    if (worker_.joinable()) worker_.join();
  }

  void start() {
    torch::NoGradGuard no_grad;  // EXPECT: torch-thread-local-guard
    worker_ = std::thread(&SamplerService::serve, this);
  }

  std::future<Tensor> request(int64_t n) {
    std::lock_guard<std::mutex> lock(mutex_);
    Job job{n, {}};
    auto result = job.done.get_future();
    jobs_.push(std::move(job));
    wake_.notify_one();
    return result;
  }

 private:
  struct Job {
    int64_t n;
    std::promise<Tensor> done;
  };

  void serve() {
    for (;;) {
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      auto job = std::move(jobs_.front());
      jobs_.pop();
      lock.unlock();
      job.done.set_value(one_step(lab_, student_, lab_.noise(job.n)).cpu());
    }
  }

  const Lab& lab_;
  Denoiser student_;
  std::queue<Job> jobs_;
  bool stopping_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread worker_;
};

double teacher_latency(const Lab& lab, Denoiser& net) {
  const auto z = lab.noise(32);
  const auto begin = Clock::now();
  const auto x = sample(lab, net, z, 0.0);
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();  // EXPECT: torch-timing-without-sync
}

double student_latency(const Lab& lab, Denoiser& net) {
  torch::NoGradGuard no_grad;
  const auto z = lab.noise(32);
  if (lab.device.is_cuda()) torch::cuda::synchronize();
  const auto begin = Clock::now();
  const auto x = one_step(lab, net, z);
  if (lab.device.is_cuda()) torch::cuda::synchronize();
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();  // RIGHT: torch-timing-without-sync
}

}  // namespace diffusion

int main(int argc, char** argv) {
  using namespace diffusion;
  torch::manual_seed(5);
  Plan plan;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--cache") == 0) plan.cache_batches = std::stoll(argv[i + 1]);
    if (std::strcmp(argv[i], "--style") == 0) plan.style_steps = std::stoll(argv[i + 1]);
  }
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  const Lab lab(plan, device);
  Denoiser teacher(plan), student(plan);
  teacher->to(device);
  student->to(device);
  train_teacher(lab, teacher);

  Distiller distiller(lab, teacher, student);
  distiller.warm_up(8);
  distiller.run();
  if (plan.cache_batches > 0) distiller.refine_from_cache();
  if (plan.style_steps > 0) tune_style(lab, lab.real(256));

  SamplerService service(lab, student);
  service.start();
  std::vector<std::future<Tensor>> replies;
  for (int64_t n : {4, 8, 16}) replies.push_back(service.request(n));
  for (auto& r : replies) std::printf("sample norm %.3f\n", r.get().norm().item<double>());
  std::printf("latency ms: teacher %.2f student %.2f\n", teacher_latency(lab, teacher), student_latency(lab, student));
  return 0;
}
