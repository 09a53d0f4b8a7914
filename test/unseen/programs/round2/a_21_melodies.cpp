// Melodies from a recurrent cell that is written with plain tensors.
#include <torch/torch.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <vector>

using T = torch::Tensor;
using torch::indexing::Slice;

constexpr int64_t kPitches = 128, kHidden = 64, kWindow = 16;

struct Note { int32_t pitch, ticks; };

struct Cell {
  T wx, wh, b, wo;
  std::vector<T> all() const { return {wx, wh, b, wo}; }
};

T leaf(at::IntArrayRef shape, double scale) { return (torch::randn(shape) * scale).requires_grad_(); }

Cell makeCell() {
  return {leaf({kPitches, kHidden}, 0.1), leaf({kHidden, kHidden}, 0.1), leaf({kHidden}, 0.0), leaf({kHidden, kPitches}, 0.1)};
}

T advance(const Cell& c, const T& x, const T& h) { return torch::tanh(torch::mm(x, c.wx) + torch::mm(h, c.wh) + c.b); }

std::vector<Note> compose(int n) {
  std::vector<Note> out;
  for (int i = 0; i < n; ++i) out.push_back({60 + (i * 7 % 12) + 12 * ((i / 8) % 2), 120});
  return out;
}

double stream(const Cell& c, torch::optim::Optimizer& opt, const T& pitches) {
  auto h = torch::zeros({1, kHidden});
  double sum = 0;
  for (int64_t at = 0; at + kWindow < pitches.numel(); at += kWindow) {
    auto table = torch::eye(kPitches);  // EXPECT: torch-allocation-in-loop
    T loss = torch::zeros({});
    for (int64_t t = at; t < at + kWindow; ++t) {
      h = advance(c, table[pitches[t].item<int64_t>()].unsqueeze(0), h);  // EXPECT: torch-undetached-hidden-state
      loss = loss + torch::cross_entropy_loss(h.mm(c.wo), pitches.index({Slice(t + 1, t + 2)}));  // RIGHT: torch-retained-graph (the sum of a window, which is backwarded)
    }
    opt.zero_grad();
    loss.backward();
    opt.step();
    sum += loss.item<double>();
  }
  return sum;
}

double streamCut(const Cell& c, torch::optim::Optimizer& opt, const T& pitches) {
  const auto codes = torch::one_hot(pitches, kPitches).to(torch::kFloat32);
  auto h = torch::zeros({1, kHidden});
  double sum = 0;
  for (int64_t at = 0; at + kWindow < pitches.numel(); at += kWindow) {
    std::vector<T> scores;
    for (int64_t t = at; t < at + kWindow; ++t) {
      h = advance(c, codes[t].unsqueeze(0), h);  // RIGHT: torch-undetached-hidden-state (detached at the end of the window)
      scores.push_back(h.mm(c.wo));
    }
    opt.zero_grad();
    auto loss = torch::cross_entropy_loss(torch::cat(scores), pitches.index({Slice(at + 1, at + 1 + kWindow)}));
    loss.backward();
    opt.step();
    h.detach_();  // RIGHT: torch-discarded-result (in place)
    sum += loss.item<double>();
  }
  return sum;
}

// Pairs of neighbours only, without memory.
void pretrain(const Cell& c, const T& pitches) {
  torch::optim::Adagrad opt(c.all(), torch::optim::AdagradOptions(0.02));
  std::vector<int64_t> starts;
  for (int64_t at = 0; at + kWindow < pitches.numel(); at += kWindow) starts.push_back(at);
  const auto codes = torch::one_hot(pitches, kPitches).to(torch::kFloat32), none = torch::zeros({kWindow, kHidden});
  std::for_each(starts.begin(), starts.end(), [&](int64_t at) {
    auto x = codes.slice(0, at, at + kWindow), y = pitches.slice(0, at + 1, at + 1 + kWindow);
    torch::cross_entropy_loss(advance(c, x, none).mm(c.wo), y).backward();
    opt.step();  // EXPECT: torch-missing-zero-grad
  });
}

int main(int argc, char**) {
  torch::manual_seed(21);
  auto notes = compose(400);
  auto sheet = torch::from_blob(notes.data(), {static_cast<int64_t>(notes.size()), 2}, torch::kInt32);  // RIGHT: torch-blob-dtype (a note is two int32)
  auto pitches = sheet.select(1, 0).to(torch::kLong);

  std::array<double, 12> tuning{};
  for (size_t i = 0; i < tuning.size(); ++i) tuning[i] = 440.0 * std::pow(2.0, i / 12.0);
  auto frequencies = torch::from_blob(tuning.data(), {12}, torch::TensorOptions().requires_grad(false));  // EXPECT: torch-blob-dtype
  std::cout << "tuning from " << frequencies[0].item<float>() << " Hz\n";

  auto cell = makeCell();
  pretrain(cell, pitches);
  torch::optim::RMSprop opt(cell.all(), torch::optim::RMSpropOptions(2e-3));
  try {
    std::cout << "stream " << stream(cell, opt, pitches) << '\n';
  } catch (const c10::Error& e) {
    std::cout << "stream failed\n";
  }
  for (int pass = 0; pass < 4; ++pass) std::cout << "pass " << pass << ": " << streamCut(cell, opt, pitches) << '\n';

  c10::InferenceMode quiet;
  auto h = torch::zeros({1, kHidden});
  int64_t p = 60;
  for (int i = 0; i < 16; ++i) {
    auto x = torch::one_hot(torch::tensor({p}), kPitches).to(torch::kFloat32);
    h = advance(cell, x, h);  // RIGHT: torch-undetached-hidden-state (InferenceMode)
    p = h.mm(cell.wo).argmax().item<int64_t>();
    std::cout << p << ' ';
  }
  if (argc > 1) {
    const float* odds = h.mm(cell.wo).softmax(1).data_ptr<float>();  // EXPECT: torch-dangling-data
    for (int64_t k = 55; k < 80; ++k) std::cout << odds[k] << ' ';
  }
  std::cout << std::endl;
}
