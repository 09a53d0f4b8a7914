// RUN: %check_torch %s torch-parameter-copy %t
//
// Writes that reach the tensor, and copies that somebody reads.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

Tensor use(Tensor x);
std::vector<Tensor> weights();
std::pair<Tensor, Tensor> halves(Tensor x);

// In place: the element of the temporary is a handle to the parameter.
void writes(Linear target, Linear local, Tensor x) {
  torch::NoGradGuard guard;
  for (size_t i = 0; i < target->parameters().size(); ++i) {
    target->parameters()[i].copy_(local->parameters()[i]);
    target->parameters()[i].set_data(x);
    target->parameters()[i].data() = x; // an rvalue: copies into the tensor
    target->parameters()[i][0] = 1;
    target->parameters()[i] += x;
    target->parameters()[i].mutable_grad() = x;
  }
  for (auto &p : target->parameters()) {
    p.mul_(0.9);
    p -= x;
    p[0] = x;
    p.mutable_grad() = Tensor();
  }
  for (auto p : target->parameters())
    p.data().copy_(x);
  for (auto &item : target->named_parameters())
    item.value().copy_(x);
  target->weight = x;
  std::get<0>(halves(x)) = x; // an rvalue as well
  target->named_parameters()["weight"].zero_();
}

// What leads to the object itself.
struct Net : torch::nn::Module {
  std::vector<Tensor> layers;
  std::map<std::string, std::shared_ptr<Tensor>> shared;
  std::vector<Tensor> &all() { return layers; }
  std::vector<Tensor *> pointers();
  std::shared_ptr<std::vector<Tensor>> owner();
  c10::List<Tensor> list();
  Tensor &operator[](size_t i) { return layers[i]; }
};
Net makeNet();

void leads(Net &net, std::shared_ptr<Net> other, Tensor x, Tensor y) {
  net.all()[0] = x;
  *net.pointers()[0] = x;
  (*net.owner())[0] = x;
  net.owner()->at(0) = x;
  net.list()[0] = x;
  net[0] = x;
  other->layers[0] = x;
  *net.shared["a"] = x;
  for (auto &layer : net.layers)
    layer = layer.detach();
  for (auto &layer : net.all())
    layer = layer.detach();
  for (auto *pointer : net.pointers())
    *pointer = x;
  std::get<0>(std::tie(x, y)) = net.layers[0];
  use(x);
}

// By reference, or read afterwards.
void move(Tensor &x, torch::Device device) { x = x.to(device); }
Tensor moved(Tensor x, torch::Device device) {
  x = x.to(device);
  return x;
}
double readInBranch(Tensor x, bool b) {
  x = use(x);
  if (b)
    return x.sum().item<double>();
  return 0;
}
void readInLoop(Tensor x, int n) {
  while (n-- > 0) {
    use(x);
    x = x * 2;
  }
}
void capturedLater(Tensor x, std::vector<std::function<Tensor()>> &callbacks) {
  x = use(x);
  callbacks.push_back([x] { return x; });
}
void capturedBefore(Tensor x, torch::optim::SGD &opt) {
  auto closure = [&] { return use(x); };
  x = torch::zeros_like(x);
  opt.step(closure);
}
Tensor elements(const std::vector<Tensor> &tensors, torch::Device device) {
  Tensor sum = torch::zeros({1}, device);
  for (auto t : tensors) {
    if (t.dim() == 1)
      t = t.unsqueeze(1);
    sum += t.to(device).sum();
  }
  for (auto t : tensors) {
    t = t.to(device);
    sum += t.sum();
  }
  return sum;
}
Tensor collected(std::vector<Tensor> tensors, torch::Device device) {
  for (auto &t : tensors)
    t = t.to(device);
  return torch::stack(tensors);
}
std::vector<Tensor> trained(Linear net) {
  auto parameters = net->parameters();
  for (auto &p : parameters)
    p = p.detach();
  return parameters;
}
Tensor scratch(Tensor m, Tensor y) {
  auto row = m[0];
  row = row + y;
  Tensor alias = y;
  alias = m;
  return use(row);
}

// It is let go, or kept alive, on purpose.
void released(Tensor x, std::vector<Tensor> &v, [[maybe_unused]] Tensor z) {
  use(x);
  x = Tensor();
  Tensor first = v[0];
  use(first);
  first = Tensor{};
  z = use(z);
}
void referredTo(std::vector<Tensor> &v, Tensor y) {
  Tensor x = v[0];
  Tensor &also = x;
  x = y;
  use(also);
  Tensor z = v[1];
  Tensor *pointer = &z;
  z = y;
  use(*pointer);
}
Tensor tied(Linear net, Tensor x, std::tuple<Tensor, Tensor> state) {
  Tensor h, unused;
  std::tie(h, unused) = state;
  std::tie(x, unused) = state;
  return h;
}
// A temporary that a name keeps.
double named(Linear net) {
  const auto &parameters = net->parameters();
  auto &first = parameters[0];
  auto weight = net->parameters()[0];
  double sum = first.sum().item<double>() + weight.sum().item<double>();
  for (auto &p : net->parameters()) {
    Tensor *pointer = &p;
    sum += pointer->sum().item<double>();
  }
  return sum;
}
double script(torch::jit::Module &net) {
  std::vector<Tensor> all;
  for (auto it = net.parameters().begin(); it != net.parameters().end(); ++it)
    all.push_back(*it);
  return all[0].sum().item<double>();
}

// Paths that a constant or an instantiation rules out, and handlers.
constexpr bool isVerbose = false;
void logged(Tensor x) {
  x = use(x);
  if (isVerbose)
    std::cout << x << '\n';
}
template <bool IsVerbose> void loggedIf(Tensor x) {
  x = use(x);
  if constexpr (IsVerbose)
    std::cout << x << '\n';
}
void callLogged(Tensor x) { loggedIf<false>(x); }
void handled(Tensor x) {
  try {
    x = use(x);
    use(torch::zeros({1}));
  } catch (const c10::Error &) {
    std::cout << x.sizes() << '\n';
  }
}
struct Reporter {
  Tensor last;
  ~Reporter() { std::cout << last << '\n'; }
};
void reported(Reporter reporter, Tensor x) { reporter.last = x; }
// Neither the copy nor what it was copied from is read again: a value that nobody
// wants, as all are moved to the device in a row.
Tensor unwanted(std::vector<Tensor> targets, torch::Device device) {
  auto box = targets[0];
  auto confidence = targets[1];
  box = box.to(device);
  confidence = confidence.to(device);
  return use(box);
}
