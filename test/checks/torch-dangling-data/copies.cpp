// RUN: %check_torch %s torch-dangling-data %t
//
// A list of numbers has copies of what was read through a pointer; a list of pointers does not.

#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <queue>
#include <utility>
#include <vector>

using torch::Tensor;

struct Trace {
  std::vector<int64_t> moves;
  std::map<int64_t, float> best;
  std::vector<std::pair<float, int64_t>> ranked;
};

static void record(Trace &trace, const Tensor &weights, int64_t turns) {
  for (int64_t turn = 0; turn < turns; ++turn) {
    Tensor drawn = torch::multinomial(weights, 4);
    Tensor share = torch::rand({4});
    const int64_t *move = drawn.data_ptr<int64_t>();
    const float *part = share.data_ptr<float>();
    trace.moves.push_back(move[turn % 4]);
    trace.best.emplace(turn, part[0]);
    trace.best.insert({turn + 1, part[1]});
    trace.ranked.emplace_back(part[2], turn);
  }
}

Tensor replay(const Tensor &weights) {
  Trace trace;
  record(trace, weights, 8);
  return torch::tensor(trace.moves) * trace.best[3] * trace.ranked[0].first;
}

Tensor ranges(int64_t n) {
  std::vector<float> all, last;
  std::vector<std::vector<float>> rows;
  for (int64_t i = 0; i < n; ++i) {
    Tensor row = torch::rand({n});
    const float *p = row.data_ptr<float>();
    all.insert(all.end(), p, p + n);
    last.assign(p, p + n);
    rows.emplace_back(p, p + n);
  }
  return torch::tensor(all).sum() + torch::tensor(last).sum() + torch::tensor(rows[0]);
}

Tensor queues(int64_t n) {
  std::deque<double> window;
  std::priority_queue<double> best;
  std::vector<double> level(4);
  for (int64_t i = 0; i < n; ++i) {
    Tensor row = torch::rand({n}, torch::kDouble);
    auto *p = row.data_ptr<double>();
    window.push_front(p[0]);
    best.push(p[1]);
    std::fill(level.begin(), level.end(), p[2]);
  }
  return torch::tensor(level) * window.front() * best.top();
}

// The pointers themselves.
float kept(int64_t n) {
  std::vector<const float *> starts;
  for (int64_t i = 0; i < n; ++i) {
    Tensor row = torch::rand({n});
    const float *p = row.data_ptr<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: 'data_ptr' of 'row', which ends with its scope
    starts.push_back(p);
  }
  return torch::tensor(starts[0][1]).item<float>() + *starts.back();
}

// A pointer into a list of numbers leads to the list, and into the tensor as before.
float laterRead(int64_t n) {
  const float *p = nullptr;
  std::vector<float> copies;
  {
    Tensor row = torch::rand({n});
    p = row.data_ptr<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: 'data_ptr' of 'row', which ends with its scope
    copies.push_back(p[0]);
  }
  return copies[0] + p[1];
}
