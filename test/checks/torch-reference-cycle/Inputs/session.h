#pragma once
#include <torch/torch.h>

#include <functional>
#include <memory>

struct OpenSession {
  std::function<void()> on_done;
  torch::Tensor state;
};

class ClosedSession : public std::enable_shared_from_this<ClosedSession> {
public:
  void start() {
    on_done_ = [self = shared_from_this()] { self->state_.zero_(); };
  }

private:
  std::function<void()> on_done_;
  torch::Tensor state_;
};
