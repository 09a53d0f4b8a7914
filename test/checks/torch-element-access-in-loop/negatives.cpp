// RUN: %check_torch %s torch-element-access-in-loop %t -- -config="{CheckOptions: {torch-element-access-in-loop.Strict: true}}"
//
// What looks like it and is right: pointers, rows, a few elements, one element of
// an iteration that does much else.

#include <torch/torch.h>
#include <torch/script.h>
#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
using torch::Tensor;
using torch::nn::Linear;

double accessor(Tensor m) {
  auto a = m.accessor<float, 2>();
  double s = 0;
  for (int i = 0; i < m.size(0); ++i) for (int j = 0; j < m.size(1); ++j) s += a[i][j];
  const float *p = m.data_ptr<float>();
  for (int i = 0; i < m.numel(); ++i) s += p[i];
  return s;
}
Tensor rows(Tensor m, Linear net) {
  auto out = torch::empty_like(m);
  for (int i = 0; i < m.size(0); ++i) out[i] = m[i] * 2 + 1;
  for (int i = 0; i < m.size(0); ++i) out[i] = net(m[i]);
  for (int i = 0; i < m.size(0); ++i) out.index_put_({i}, m[i]);
  return out;
}
void few(Tensor probs) {
  std::vector<float> v;
  for (int i = 0; i < 10; ++i) v.push_back(probs[0][i].item<float>());
  const int k = 5;
  for (int i = 0; i < k; ++i) v.push_back(probs[i].item<float>());
  int n = std::min<int>(5, probs.size(0));
  for (int i = 0; i < n; ++i) v.push_back(probs[i].item<float>());
  for (int y = 0; y < 3; ++y) for (int x = 0; x < 3; ++x) v.push_back(probs[y][x].item<float>());
}
void fewElements(int n) {
  Tensor mean = torch::zeros({3});
  for (int i = 0; i < n; ++i) mean[i] = i * 0.1;
  Tensor pose = torch::eye(4);
  for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) pose[i][j] = 0.5;
}
void oncePerBatch(Linear net, const std::vector<Tensor> &batches) {
  std::vector<float> out;
  for (size_t i = 0; i < batches.size(); ++i) {
    Tensor y = net(batches[i]);
    out.push_back(y[0].item<float>());
    out.push_back(y[0][0].item<float>());
  }
}
void indexOfStep(Linear net, Tensor targets, const std::vector<Tensor> &batches) {
  double sum = 0;
  for (int i = 0; i < (int)batches.size(); ++i) {
    Tensor y = net(batches[i]);
    sum += y.mean().item<double>() * targets[i].item<double>();
  }
}
void decode(torch::jit::Module m, Tensor ids, int len) {
  std::vector<int> out;
  for (int i = 0; i < len; ++i) {
    Tensor logits = m.forward({ids}).toTensor();
    Tensor best = logits.argmax(-1);
    out.push_back(best[i].item<int>());
    ids[0][i] = best[i].item<int>();
  }
}
void losses(std::vector<Tensor> all) {
  double s = 0;
  for (size_t i = 0; i < all.size(); ++i) s += all[i].item<double>();
  for (auto &l : all) s += l.item<double>();
}
void logged(Tensor hist, int steps) {
  std::vector<float> v;
  for (int i = 0; i < steps; ++i)
    if (i % 100 == 0) v.push_back(hist[i].item<float>());
}
void printed(Tensor t) {
  for (int i = 0; i < t.size(0); ++i) std::cout << t[i].item<float>() << " ";
  for (int i = 0; i < t.size(0); ++i) { float v = t[i].item<float>(); std::printf("%f\n", v); }
}
void saved(Tensor t, std::ofstream &f) {
  for (int i = 0; i < t.size(0); ++i) f << t[i].item<float>() << ",";
}
struct Agent { void step(int a); };
struct Env { std::tuple<Tensor, float, bool> step(int a); };
void episode(Linear net, Env &env, Tensor state) {
  for (int t = 0; t < 200; ++t) {
    Tensor p = torch::softmax(net(state), -1);
    Tensor a = p.multinomial(1);
    auto [next, r, done] = env.step(a[0].item<int>());
    state = next;
    if (done) break;
  }
}
void promises(Tensor p_batch, Tensor v_batch, size_t n, std::vector<std::vector<double>> &out) {
  for (size_t i = 0; i < n; i++) {
    Tensor p = p_batch[i];
    Tensor v = v_batch[i];
    std::vector<double> prob(p.data_ptr<float>(), p.data_ptr<float>() + p.size(0));
    prob.push_back(v.item<float>());
    out.push_back(prob);
  }
}
Tensor masks(Tensor lengths, int64_t b, int64_t t) {
  auto mask = torch::ones({b, t});
  for (int64_t i = 0; i < b; ++i) mask[i].slice(0, 0, 5) = 0;
  auto m2 = torch::zeros({b, t});
  for (int64_t i = 0; i < b; ++i) m2[i] = 1;
  for (int64_t i = 0; i < b; ++i) m2.index_put_({i, torch::indexing::Slice(0, 5)}, 0);
  for (int64_t i = 0; i < b; ++i) m2.index_put_({lengths}, 0);
  return mask + m2;
}
void crops(Tensor image, Tensor boxes, Tensor scores, std::vector<Tensor> &out) {
  for (int64_t i = 0; i < boxes.size(0); ++i) {
    float s = scores[i].item<float>();
    if (s < 0.5) continue;
    auto crop = image.narrow(1, i, 32).unsqueeze(0);
    out.push_back(torch::upsample_bilinear2d(crop, {64, 64}, false));
  }
}
void sameElement(Tensor w, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += w[0].item<double>();
}
void greedy(Tensor q, int n) {
  int state = 0;
  for (int i = 0; i < n; ++i) {
    auto best = q[state].argmax();
    state = best.item<int>();
  }
}
void params(Linear net) {
  double s = 0;
  for (auto &p : net->parameters()) s += p.sum().item<double>();
}
void loaderLike(const std::vector<std::pair<Tensor, Tensor>> &batches) {
  int correct = 0;
  for (auto &b : batches) correct += b.first.argmax(1).eq(b.second).sum().item<int>();
}
void beams(Tensor scores, int width, std::vector<std::pair<float, int64_t>> &out) {
  auto [values, indices] = scores.view(-1).topk(width);
  for (int i = 0; i < width; ++i)
    out.push_back({values[i].item<float>(), indices[i].item<int64_t>()});
  auto best = std::get<1>(torch::topk(scores, width, -1)).squeeze(0);
  for (int i = 0; i < best.size(0); ++i)
    out.push_back({0, best[i].item<int64_t>()});
}
Tensor lastSteps(Tensor x, Tensor lengths) {
  std::vector<Tensor> rows;
  for (int i = 0; i < x.size(0); ++i)
    rows.push_back(x[i][lengths[i].item<int64_t>() - 1]);
  return torch::stack(rows);
}
Tensor collate(const std::vector<std::pair<Tensor, int>> &samples) {
  auto x = torch::empty({(int64_t)samples.size(), 3, 32, 32});
  auto y = torch::empty({(int64_t)samples.size()}, torch::kLong);
  for (size_t i = 0; i < samples.size(); ++i) {
    x[i] = samples[i].first;
    y[i] = samples[i].second;
  }
  return x + y.sum();
}
struct Ring {
  Tensor states = torch::zeros({1000, 4}), rewards = torch::zeros({1000});
  int64_t at = 0;
  void push(Tensor s, float r) { states[at] = s; rewards[at] = r; at = (at + 1) % 1000; }
};
void collect(Ring &ring, Linear net, Tensor s, int steps) {
  for (int i = 0; i < steps; ++i) {
    auto a = net(s).argmax();
    ring.push(s, a.item<int>() * 0.5f);
    s = s + a;
  }
}
Tensor suppress(Tensor boxes, Tensor order, double threshold) {
  std::vector<int64_t> keep;
  while (order.numel() > 0) {
    auto i = order[0].item<int64_t>();
    keep.push_back(i);
    auto rest = order.slice(0, 1);
    auto left = boxes.index({rest, 0}).clamp_min(boxes[i][0].item<double>());
    order = rest.index({left <= threshold});
  }
  return torch::tensor(keep);
}
void poses(const std::vector<Tensor> &ps, std::vector<std::array<float, 12>> &out) {
  for (size_t k = 0; k < ps.size(); ++k) {
    std::array<float, 12> a;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 4; ++j)
        a[i * 4 + j] = ps[k][i][j].item<float>();
    out.push_back(a);
  }
}
int sample(Tensor probs) {
  for (int tries = 0; tries < 1000; ++tries) {
    int a = torch::multinomial(probs, 1)[0].item<int>();
    if (a != 3)
      return a;
  }
  return 0;
}
// The mean of more and more of it: no row.
void running(Tensor all, std::vector<float> &out) {
  for (int n = 1; n < all.size(0); ++n)
    out.push_back(all.narrow(0, 0, n).mean().item<float>());
}
// Rows are added to rows.
void addRows(Tensor a, const Tensor &b, const Tensor &order, int n) {
  for (int i = 0; i < n; ++i)
    a[i] += b[n - i];
}
// Columns.
void scale(Tensor features, int degree) {
  for (int i = 0; i < degree; ++i)
    features.index({torch::indexing::Slice(), i}) /= std::tgamma(i + 1);
}
// Once after all batches of an epoch: nothing beside these.
void afterEachEpoch(Linear net, torch::optim::SGD &opt, const std::vector<Tensor> &batches, Tensor hits,
                    std::vector<bool> &out) {
  for (int epoch = 0; epoch < 10; ++epoch) {
    for (const Tensor &x : batches) {
      opt.zero_grad();
      net(x).sum().backward();
      opt.step();
    }
    for (int i = 0; i < hits.size(0); ++i)
      out.push_back(hits[i].item<bool>());
  }
}

// One number beside what each step computes, in a loop that nothing repeats.
double curve(double);
void table(Tensor times, std::vector<double> &out) {
  for (int64_t i = 0; i < times.size(0); ++i) {
    const double t = times[i].item<double>();
    out.push_back(curve(t) + 0.5 * curve(t - 0.1));
  }
}
void frequencies(Tensor values, std::vector<std::pair<double, size_t>> &out) {
  for (size_t i = 0; i < out.size(); ++i) {
    out[i].first = std::sqrt(values[i].item<double>());
    out[i].second = i;
  }
}
Tensor series(int64_t n) {
  auto t = torch::zeros({n});
  for (int64_t i = 0; i < n; ++i)
    t[i] = curve(0.1 * i);
  return t;
}

// Rows of another tensor; what is computed for each; what has a graph.
Tensor rowsOfAnother(const Tensor &from) {
  auto out = torch::zeros({from.size(0), from.size(1), 2});
  for (int64_t i = 0; i < from.size(0); ++i)
    for (int64_t j = 1; j < from.size(1); ++j)
      out[i][j] = from[i][j - 1];
  return out;
}
Tensor computedFor(const Tensor &from, const Tensor &weight) {
  auto out = torch::zeros({from.size(0)});
  for (int64_t i = 0; i < from.size(0); ++i)
    out[i] = from[i].mv(weight).norm();
  return out;
}
Tensor scaledEach(const Tensor &from) {
  auto out = torch::zeros({from.size(0)});
  for (int64_t i = 0; i < from.size(0); ++i)
    out[i] = from[i].exp().sum();
  return out;
}
Tensor withGraph(const Tensor &from) {
  auto out = torch::zeros({from.size(0), from.size(1)});
  for (int64_t i = 0; i < from.size(0); ++i)
    for (int64_t j = 1; j < from.size(1); ++j)
      out[i][j] = from[i][j - 1];
  return out;
}
void callThem(int64_t n) {
  for (int i = 0; i < 100; ++i) {
    const auto x = torch::rand({n, n, 2}), y = torch::rand({n, n});
    std::cout << rowsOfAnother(x) << computedFor(x, y[0]) << scaledEach(y);
    withGraph(torch::rand({n, n}, torch::requires_grad())).sum().backward();
  }
}
