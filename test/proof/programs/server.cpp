// An inference server: requests are answered by threads, and the model adapts now and then.

#include <torch/torch.h>

#include <functional>
#include <iostream>
#include <memory>
#include <thread>
#include <vector>

namespace {

struct Request {
  torch::Tensor input;
  torch::Tensor answer;
  float score = 0;
  std::function<void(float)> on_answer;
};

struct Answering {
  torch::NoGradGuard no_grad;
};

class Model {
 public:
  torch::Tensor predict(const torch::Tensor& x) {
    // PLANT innocent torch-thread-local-guard/not-inherited: each thread that answers has a guard of its own, and the others train
    return net_->forward(x);
  }

  void answerAll(const std::vector<std::shared_ptr<Request>>& requests, size_t first, size_t step) {
    Answering answering;
    for (size_t i = first; i < requests.size(); i += step)
      requests[i]->answer = predict(requests[i]->input);
  }

  double improve(const torch::Tensor& x, const torch::Tensor& y) {
    optimizer_.zero_grad();
    const auto loss = torch::mse_loss(predict(x), y);
    loss.backward();
    optimizer_.step();
    return loss.item<double>();
  }

 private:
  torch::nn::Sequential net_{torch::nn::Linear(16, 32), torch::nn::ReLU(), torch::nn::Linear(32, 4)};
  torch::optim::SGD optimizer_{net_->parameters(), 0.01};
};

torch::Tensor blank(int64_t size) {
  c10::InferenceMode inference;
  return torch::zeros({size});
}

class Statistics {
 public:
  bool add(const torch::Tensor& answer) {
    try {
      // PLANT innocent torch-inference-tensor/written loop=A: the clone was made outside of inference mode
      mean_.mul_(0.9).add_(answer.mean(0), 0.1);
      return true;
    } catch (const c10::Error&) {
      return false;
    }
  }
  double norm() const { return mean_.norm().item<double>(); }

 private:
  torch::Tensor mean_ = blank(4).clone();
};

// Follows a session token by token, and learns when it ends.
class Follower {
 public:
  void next(const torch::Tensor& token) {
    if (!state_.defined())
      state_ = torch::zeros({1, 8});
    // PLANT innocent torch-undetached-hidden-state/grows loop=S: finish() trains on the session and drops the state
    state_ = cell_->forward(token, state_);
  }

  double finish(double wanted) {
    optimizer_.zero_grad();
    const auto loss = (state_.sum() - wanted).pow(2);
    loss.backward();
    optimizer_.step();
    state_.reset();
    return loss.item<double>();
  }

 private:
  torch::nn::GRUCell cell_{4, 8};
  torch::optim::Adam optimizer_{cell_->parameters(), 0.01};
  torch::Tensor state_;
};

std::vector<std::shared_ptr<Request>> receive(int count) {
  std::vector<std::shared_ptr<Request>> requests;
  for (int i = 0; i < count; ++i) {  // AT R
    auto request = std::make_shared<Request>();
    request->input = torch::randn({64, 16});  // AT M
    // PLANT true torch-reference-cycle/callback loop=R also=M: the callback owns the request that owns it
    request->on_answer = [request](float score) { request->score = score; };
    requests.push_back(std::move(request));
  }
  return requests;
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(0);

  Model model;
  Statistics statistics;
  int failed = 0;
  double score = 0, loss = 0;
  for (int round = 0; round < 6; ++round) {
    auto requests = receive(16);
    {
      torch::NoGradGuard no_grad;
      std::vector<std::thread> threads;
      for (size_t i = 0; i < 2; ++i)
        threads.emplace_back([&model, &requests, i] { model.answerAll(requests, i, 2); });
      for (auto& thread : threads)
        thread.join();
    }
    for (const auto& request : requests) {  // AT A
      const auto answer = request == requests[5] ? request->answer.narrow(1, 0, 3) : request->answer;
      failed += statistics.add(answer) ? 0 : 1;
      request->on_answer(answer.max().item<float>());
      score += request->score;
    }
    std::thread([&] { loss = model.improve(requests[0]->input, torch::ones({64, 4})); }).join();
  }

  Follower follower;
  double sessions = 0;
  for (int session = 0; session < 20; ++session) {
    const auto tokens = torch::randn({16, 4});
    for (int64_t t = 0; t < tokens.size(0); ++t) {  // AT S
      follower.next(tokens.narrow(0, t, 1));
    }
    sessions += follower.finish(tokens.mean().item<double>());
  }
  std::cout << "score " << score << " failed " << failed << " mean " << statistics.norm() << " loss " << loss
            << " sessions " << sessions / 20 << '\n';
  return 0;
}
