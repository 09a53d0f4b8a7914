// RUN: %check_torch %s torch-missing-zero-grad %t
//
// A clearing call is there, but some cyclic path goes round it.

#include <torch/torch.h>

using torch::Tensor;
using Batch = torch::data::Example<>;

void continueSkips(torch::nn::Linear net, const std::vector<Batch> &batches) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (const auto &batch : batches) {
    auto loss = torch::mse_loss(net->forward(batch.data), batch.target);
    loss.backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared on some path between iterations: every step() applies the sum of the gradients so far; call 'opt.zero_grad()' after this step()
    if (batch.data.size(0) < 64)
      continue; // A small batch leaves its gradients behind.
    std::cout << loss.item<float>() << '\n';
    opt.zero_grad();
  }
}

void oneBranchOnly(torch::nn::Linear net, const std::vector<Batch> &batches,
                   bool verbose) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (const auto &batch : batches) {
    if (verbose) {
      std::cout << "clearing\n";
      opt.zero_grad();
    }
    torch::mse_loss(net->forward(batch.data), batch.target).backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared on some path between iterations
  }
}

enum class Mode { Plain, Mixed, Debug };

void switchMissesACase(torch::nn::Linear net, const std::vector<Batch> &batches,
                       const std::vector<Mode> &modes) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (size_t i = 0; i < batches.size(); ++i) {
    switch (modes[i]) {
    case Mode::Plain:
      opt.zero_grad();
      break;
    case Mode::Mixed:
      net->zero_grad();
      break;
    case Mode::Debug:
      std::cout << "debug\n";
      break;
    }
    torch::mse_loss(net->forward(batches[i].data), batches[i].target)
        .backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared on some path between iterations
  }
}

void breakThenOuterLoop(torch::nn::Linear net,
                        const std::vector<Batch> &batches) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 10; ++epoch) {
    for (const auto &batch : batches) {
      auto loss = torch::mse_loss(net->forward(batch.data), batch.target);
      loss.backward();
      opt.step();
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: gradients of 'opt' are not cleared on some path between iterations
      if (loss.item<float>() < 0.01)
        break; // The next epoch starts with these gradients.
      opt.zero_grad();
    }
  }
}

static bool clearIfFinite(torch::optim::Optimizer &o, const Tensor &loss) {
  if (!loss.isfinite().item<bool>())
    return false;
  o.zero_grad();
  return true;
}

void helperClearsSometimes(torch::nn::Linear net,
                           const std::vector<Batch> &batches) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (const auto &batch : batches) {
    auto loss = torch::mse_loss(net->forward(batch.data), batch.target);
    loss.backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared on some path between iterations
    clearIfFinite(opt, loss);
  }
}

// A helper with two callers, of which one clears.
static void trainOne(torch::nn::Linear net, torch::optim::Optimizer &o,
                     const Batch &batch) {
  torch::mse_loss(net->forward(batch.data), batch.target).backward();
  o.step();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: gradients of 'o' are not cleared {{.*}}between iterations
}

void clears(torch::nn::Linear net, torch::optim::SGD &opt,
            const std::vector<Batch> &batches) {
  for (const auto &batch : batches) {
    opt.zero_grad();
    trainOne(net, opt, batch);
  }
}

void forgets(torch::nn::Linear net, torch::optim::SGD &opt,
             const std::vector<Batch> &batches) {
  for (const auto &batch : batches)
    trainOne(net, opt, batch);
}

// ----- quiet -----

void breakLeavesTheLoop(torch::nn::Linear net,
                        const std::vector<Batch> &batches) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (const auto &batch : batches) {
    auto loss = torch::mse_loss(net->forward(batch.data), batch.target);
    loss.backward();
    opt.step();
    // The paths that miss the clearing never come back to a step().
    if (loss.item<float>() < 0.01)
      break;
    if (!loss.isfinite().item<bool>())
      throw std::runtime_error("diverged");
    opt.zero_grad();
  }
}

void continueAfterClearing(torch::nn::Linear net,
                           const std::vector<Batch> &batches) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (const auto &batch : batches) {
    opt.zero_grad();
    auto loss = torch::mse_loss(net->forward(batch.data), batch.target);
    if (!loss.isfinite().item<bool>())
      continue; // No backward() and no step() on this path.
    loss.backward();
    opt.step();
  }
}
