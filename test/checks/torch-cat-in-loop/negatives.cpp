// RUN: %check_torch %s torch-cat-in-loop %t
//
// What looks like it and is right: what is used whole in each iteration, skip
// connections, windows, a few steps.

#include <torch/torch.h>
#include <torch/script.h>
#include <iostream>
using torch::Tensor;
using torch::nn::Linear;

Tensor once(Linear net, const std::vector<Tensor> &xs) {
  std::vector<Tensor> all;
  for (const Tensor &x : xs) all.push_back(net(x));
  return torch::cat(all);
}
Tensor decode(Linear net, Tensor tokens, int n) {
  for (int i = 0; i < n; ++i) {
    Tensor next = net(tokens).argmax(-1, true);
    tokens = torch::cat({tokens, next}, 1);
  }
  return tokens;
}
struct Attention : torch::nn::Module {
  Tensor keys, values;
  Tensor forward(Tensor q, Tensor k, Tensor v) {
    keys = torch::cat({keys, k}, 1);
    values = torch::cat({values, v}, 1);
    return torch::matmul(torch::softmax(torch::matmul(q, keys.transpose(1, 2)), -1), values);
  }
};
void generate(Attention &a, Tensor x, int n) {
  for (int i = 0; i < n; ++i) x = a.forward(x, x, x);
}
Tensor unet(std::vector<Linear> up, std::vector<Tensor> skips, Tensor x) {
  for (size_t i = 0; i < up.size(); ++i) {
    x = up[i](x);
    x = torch::cat({x, skips[i]}, 1);
  }
  return x;
}
Tensor dense(std::vector<Linear> layers, Tensor x) {
  for (auto &layer : layers) x = torch::cat({x, layer(x)}, 1);
  return x;
}
Tensor heads(std::vector<Linear> layers, Tensor x) {
  Tensor all = x;
  for (auto &layer : layers) all = torch::cat({all, layer(x)}, 1);
  return all;
}
Tensor window(const std::vector<Tensor> &xs) {
  Tensor w = torch::zeros({16, 4});
  for (const Tensor &x : xs) {
    w = torch::cat({w.slice(0, 1), x});
    std::cout << w.mean();
  }
  return w;
}
Tensor trimmed(const std::vector<Tensor> &xs) {
  Tensor w = torch::zeros({16, 4});
  for (const Tensor &x : xs) {
    w = torch::cat({w, x});
    if (w.size(0) > 100) w = w.narrow(0, w.size(0) - 100, 100);
  }
  Tensor v = w;
  for (const Tensor &x : xs)
    v = torch::cat({v, x}).slice(0, 1);
  return w + v;
}
Tensor few(Tensor x) {
  Tensor all = x;
  for (int i = 0; i < 4; ++i) all = torch::cat({all, x.select(0, i)});
  for (int s : {1, 2, 4}) all = torch::cat({all, x * s});
  return all;
}
Tensor ofIteration(const std::vector<Tensor> &xs) {
  Tensor sum = torch::zeros({2});
  for (const Tensor &x : xs) {
    Tensor row = x;
    row = torch::cat({row, x * 2});
    sum += row.sum();
  }
  return sum;
}
void accumulate(Linear net, const std::vector<Tensor> &xs) {
  Tensor data;
  int n = 0;
  for (const Tensor &x : xs) {
    if (n == 0) data = x; else data = torch::cat({data, x});
    if (++n == 3) { net(data).sum().backward(); n = 0; data = Tensor(); }
  }
}
void flushed(const std::vector<Tensor> &xs, std::vector<Tensor> &out) {
  Tensor data = torch::empty({0});
  for (const Tensor &x : xs) {
    data = torch::cat({data, x});
    if (data.numel() > 64) { out.push_back(data); data = torch::empty({0}); }
  }
}
Tensor doubled(Tensor x, int n) {
  for (int i = 0; i < n; ++i) x = torch::cat({x, x});
  return x;
}
struct Node { Tensor feature; };
void nodes(std::vector<Node> &all, Tensor x) {
  for (Node &n : all) n.feature = torch::cat({n.feature, x});
}
struct Stream {
  Tensor buffer;
  void consume();
  void push(Tensor x) { buffer = torch::cat({buffer, x}); consume(); }
  void run(const std::vector<Tensor> &xs) { for (const Tensor &x : xs) push(x); }
};
void add(Tensor &buffer, Tensor x) { buffer = torch::cat({buffer, x}); }
void perCall(Tensor x) {
  for (int i = 0; i < 1000; ++i) {
    Tensor mine = torch::zeros({1});
    add(mine, x);
  }
}
Tensor stop(const std::vector<Tensor> &xs) {
  Tensor all = xs[0];
  for (const Tensor &x : xs) {
    all = torch::cat({all, x});
    if (all.sum().item<float>() > 1) break;
  }
  return all;
}
// One number for each run of a network.
Tensor scores(torch::nn::Sequential net, const std::vector<Tensor> &images) {
  torch::NoGradGuard no_grad;
  Tensor all;
  for (auto &image : images) {
    auto score = torch::median(net->forward(image)).view({1, 1});
    if (!all.defined())
      all = score;
    else
      all = torch::cat({all, score}, 1);
  }
  return all.softmax(1);
}

// Another object in each iteration, or one that is used in each.
struct Trajectory {
  Tensor states;
  int64_t length() const;
};
Trajectory record(int64_t i);
void use(const Trajectory &);
void anew(const std::vector<Tensor> &xs, std::vector<Trajectory> &out) {
  Trajectory whole;
  for (size_t i = 0; i < xs.size(); ++i) {
    whole = record(i);
    whole.states = torch::cat({whole.states, xs[i]}, 0);
    out.push_back(whole);
  }
}
int64_t asked(const std::vector<Tensor> &xs) {
  Trajectory whole;
  int64_t sum = 0;
  for (const Tensor &x : xs) {
    whole.states = torch::cat({whole.states, x}, 0);
    sum += whole.length();
  }
  return sum;
}
void inner(const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    Trajectory whole = record(0);
    whole.states = torch::cat({whole.states, x}, 0);
    use(whole);
  }
}

// Layers and heads by their numbers: a few, whatever the list says.
struct HeadsImpl : torch::nn::Module {
  std::vector<std::vector<torch::nn::Linear>> heads;
  std::vector<torch::nn::Linear> layers;
  torch::nn::ModuleList blocks;
  torch::Tensor forward(torch::Tensor x) {
    for (int i = 0; i < (int)heads.size(); ++i) {
      torch::Tensor acc = torch::zeros({x.size(0), 0});
      for (int j = 0; j < (int)heads[i].size(); ++j)
        acc = torch::cat({acc, heads[i][j](x)}, 1);
      x = torch::elu(acc);
    }
    torch::Tensor all = x.clone();
    for (size_t i = 0; i < layers.size(); ++i) {
      x = layers[i]->forward(x);
      all = torch::cat({all, x}, 1);
    }
    return all;
  }
};
