// RUN: %check_torch %s torch-view-pins-storage %t
//
// What looks like it and is right: the storage lives anyway, the view is most
// of it or may be, it is copied, or soon let go.

#include <torch/torch.h>

#include <deque>
#include <map>

using torch::Tensor;
using torch::indexing::Slice;

// Copies.
void copied(int n) {
  std::vector<Tensor> rows;
  for (int i = 0; i < n; ++i) {
    Tensor all = torch::rand({64, 4096});
    rows.push_back(all[3].clone());
    rows.push_back(all[4] + 1);
    rows.push_back(all[5].to(torch::kHalf));
    rows.push_back(all.index_select(0, torch::tensor({3})));
    rows.push_back(all.index({torch::tensor({3})}));
    rows.push_back(torch::stack({all[6], all[7]}));
    rows.push_back(std::get<0>(all.max(0)));
    Tensor row = all[3];
    row = row.clone();
    rows.push_back(row);
  }
}

// The tensor itself is kept.
struct Step {
  Tensor batch, first;
};
void baseIsKept(int n) {
  std::vector<Tensor> batches, rows;
  std::vector<Step> steps;
  for (int i = 0; i < n; ++i) {
    Tensor batch = torch::rand({64, 4096});
    rows.push_back(batch[5]);
    batches.push_back(batch);
    Tensor other = torch::rand({64, 4096});
    steps.push_back({other, other[5]});
  }
}
class Cache {
public:
  Tensor next() {
    Tensor batch = torch::rand({64, 4096});
    firsts_.push_back(batch[0]);
    return batch;
  }
  void keepLast() {
    last_ = torch::rand({64, 4096});
    rows_.push_back(last_[0]);
  }

private:
  std::vector<Tensor> firsts_, rows_;
  Tensor last_;
};

// One storage for all views.
void sameStorage(const Tensor &data, int n) {
  std::vector<Tensor> rows, others;
  Tensor table = torch::rand({64, 4096});
  for (int i = 0; i < n; ++i) {
    rows.push_back(data[5]);
    others.push_back(table[i]);
  }
}
void madeOnce(int n) {
  std::vector<Tensor> rows;
  Tensor table;
  for (int i = 0; i < n; ++i) {
    if (!table.defined())
      table = torch::rand({64, 4096});
    rows.push_back(table[9]);
  }
}

// All rows, or any number of them.
void allRows(int n) {
  std::vector<Tensor> rows, chosen, parts;
  for (int i = 0; i < n; ++i) {
    Tensor batch = torch::rand({64, 4096});
    for (int k = 0; k < 64; ++k)
      rows.push_back(batch[k]);
    for (int k = 0; k < 64; ++k)
      if (batch[k].sum().item<float>() > 0)
        chosen.push_back(batch.index({k, Slice(0, 1024)}));
    for (auto &row : batch.unbind(0))
      parts.push_back(row);
  }
}
void severalParts(int n) {
  std::vector<Tensor> a, b, c;
  for (int i = 0; i < n; ++i) {
    Tensor gates = torch::rand({4, 4096});
    a.push_back(gates[0]);
    b.push_back(gates[1]);
    c.push_back(gates[2]);
  }
}

// How many there are is not known: one, perhaps.
void unknownSize(torch::nn::Linear net, const std::vector<Tensor> &xs,
                 int64_t k) {
  torch::NoGradGuard guard;
  std::vector<Tensor> outputs;
  for (const Tensor &x : xs) {
    outputs.push_back(net->forward(x)[0]);
    outputs.push_back(net->forward(x)[-1]);
    outputs.push_back(net->forward(x)[k]);
    outputs.push_back(net->forward(x).narrow(0, 0, 4));
    outputs.push_back(net->forward(x).index({0, Slice()}));
    outputs.push_back(net->forward(x).squeeze(0));
    outputs.push_back(net->forward(x).chunk(2)[0]);
  }
}
void mostOfIt(int n) {
  std::vector<Tensor> kept;
  for (int i = 0; i < n; ++i) {
    kept.push_back(torch::rand({2, 8192})[0]);
    kept.push_back(torch::rand({100, 8192}).narrow(0, 0, 50));
    kept.push_back(torch::rand({100, 8192}).slice(0, 10));
    kept.push_back(torch::rand({64, 64, 64}).transpose(0, 1));
  }
}

// Small as a whole.
void small(const Tensor &weights, int n) {
  const int64_t width = 8;
  std::vector<Tensor> kept;
  for (int i = 0; i < n; ++i) {
    kept.push_back(torch::rand({16, 16})[5]);
    kept.push_back(torch::relu(torch::rand({16, width}))[5]);
    kept.push_back(torch::tensor({1., 2., 3., 4., 5.})[4]);
  }
}

// Let go.
void letGo(int n) {
  std::vector<Tensor> rows, window;
  std::deque<Tensor> last;
  for (int i = 0; i < n; ++i) {
    Tensor batch = torch::rand({64, 4096});
    std::vector<Tensor> local;
    local.push_back(batch[5]);
    Tensor a = torch::rand({64, 4096});
    rows.push_back(a[5]);
    if (rows.size() > 10)
      rows.clear();
    Tensor b = torch::rand({64, 4096});
    last.push_back(b[5]);
    if (last.size() > 10)
      last.pop_front();
  }
}
void few() {
  std::vector<Tensor> rows;
  for (int i = 0; i < 4; ++i) {
    Tensor batch = torch::rand({64, 4096});
    rows.push_back(batch[5]);
  }
}
class Window {
public:
  void add() {
    Tensor batch = torch::rand({64, 4096});
    rows_.push_back(batch[5]);
  }
  Tensor take() {
    Tensor all = torch::stack(rows_);
    rows_.clear();
    return all;
  }

private:
  std::vector<Tensor> rows_;
};

// A graph that may need it: torch-retained-graph.
void withGraph(torch::nn::Linear net, const std::vector<Tensor> &xs) {
  std::vector<Tensor> steps;
  for (const Tensor &x : xs)
    steps.push_back(torch::tanh(net->forward(x))[5]);
  torch::stack(steps).sum().backward();
}

// Somebody else has the tensor, or the list.
void publish(const Tensor &batch);
void trim(std::vector<Tensor> &rows);
Tensor decode(int i);
void elsewhere(int n) {
  std::vector<Tensor> rows, trimmed, decoded;
  for (int i = 0; i < n; ++i) {
    Tensor batch = torch::rand({64, 4096});
    publish(batch);
    rows.push_back(batch[5]);
    Tensor other = torch::rand({64, 4096});
    trimmed.push_back(other[5]);
    trim(trimmed);
    decoded.push_back(decode(i)[5]);
  }
}

// Memory of others.
void overBlob(std::vector<float> &numbers, int n) {
  std::vector<Tensor> rows;
  for (int i = 0; i < n; ++i)
    rows.push_back(torch::from_blob(numbers.data(), {64, 4096})[5]);
}
