// RUN: %check_torch %s torch-parameter-copy %t -still-warns

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

Tensor use(Tensor x);

// Elements of the vector that parameters() returns.
void temporaries(Linear target, Linear local, std::shared_ptr<torch::nn::Module> net,
                 torch::jit::Module &script, Tensor x) {
  for (size_t i = 0; i < target->parameters().size(); ++i)
    target->parameters()[i] = local->parameters()[i];
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: this replaces an element of the temporary that 'target->parameters()' returns, which is lost with it; the module keeps its tensor: write into it with '.copy_(...)' under 'torch::NoGradGuard', or with '.detach().copy_(...)' [torch-parameter-copy]
  net->named_parameters()["weight"] = x;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this replaces an element of the temporary that 'net->named_parameters()' returns
  net->parameters().front() = x;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this replaces an element of the temporary that 'net->parameters()' returns
  net->buffers().at(0) = x;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this replaces an element of the temporary that 'net->buffers()' returns
}

// Of any container that a function returns by value.
std::vector<Tensor> weights();

void others(Tensor x, Tensor y) {
  weights()[1] = x;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this replaces an element of the temporary that 'weights()' returns, which is lost with it; write into the element with '.copy_(...)', or keep what the call returns in a variable
  x.chunk(2)[0] = y;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this replaces an element of the temporary that 'x.chunk(2)' returns
}

// The elements of a temporary, gone through by reference.
void ranges(Linear net, Tensor x) {
  for (auto &p : net->parameters())
    p = torch::zeros_like(p);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'p' is an element of the temporary that 'net->parameters()' returns: assigning to it is lost with the loop; the module keeps its tensor
  for (auto &item : net->named_parameters())
    item.value() = x;
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'item' is an element of the temporary that 'net->named_parameters()' returns
  auto parameters = net->parameters();
  for (auto &p : parameters)
    p = p.cuda();
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: assigning to the elements of 'parameters' gives these handles other tensors and leaves 'net->parameters()' as it is, and 'parameters' is not read again; write into the elements with '.copy_(...)'
}

// Copies of the elements.
void elements(std::vector<Tensor> &tensors, std::map<std::string, Tensor> &cache,
              torch::Device device) {
  for (auto t : tensors)
    t = t.to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 't' is a copy of the element: assigning to it leaves 'tensors' as it is; take it by reference
  for (Tensor t : tensors) {
    t = t.detach();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 't' is a copy of the element
  }
  for (auto [name, value] : cache)
    value = value.to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'value' is a copy of the element
  for (auto entry : cache)
    entry.second = entry.second.to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'entry' is a copy of the element
}

// Parameters by value.
struct Batch {
  Tensor data, target;
};

void move(Tensor x, torch::Device device) { x = x.to(device); }
// CHECK-MESSAGES: :[[@LINE-1]]:45: warning: the parameter 'x' is a copy of what the caller has: assigning to it changes nothing there, and it is not read again; take it by reference, or return it
void moveBatch(Batch batch, torch::Device device) {
  batch.data = batch.data.to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the parameter 'batch' is a copy
  batch.target = batch.target.to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the parameter 'batch' is a copy
}
void moveAll(std::vector<Tensor> tensors, torch::Device device) {
  for (auto &t : tensors)
    t = t.to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: the parameter 'tensors' is a copy
}
Tensor branches(Tensor x, Tensor h, bool isReset) {
  Tensor y = use(x) + h;
  if (isReset)
    h = torch::zeros_like(h);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: the parameter 'h' is a copy
  return y;
}
template <class T> void generic(T x) { x = x.cuda(); }
// CHECK-MESSAGES: :[[@LINE-1]]:40: warning: the parameter 'x' is a copy
void callGeneric(Tensor x) { generic(x); }

// Handles to parts of something.
void copies(Tensor m, std::vector<Tensor> &v, Batch &batch, Linear net,
            std::tuple<Tensor, Tensor> state, Tensor y) {
  auto row = m[0];
  row = y;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: assigning to 'row' gives this handle another tensor and leaves 'm[0]' as it is, and 'row' is not read again; assign to 'm[0]' itself
  Tensor first = v[0];
  first = y;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: assigning to 'first' gives this handle another tensor and leaves 'v[0]' as it is
  auto data = batch.data;
  data = data / 255;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: assigning to 'data' gives this handle another tensor and leaves 'batch.data' as it is
  auto weight = net->weight;
  weight = y;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: assigning to 'weight' gives this handle another tensor and leaves 'net->weight' as it is
  auto [h, c] = state;
  h = h.detach();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: assigning to 'h' gives this handle another tensor and leaves 'state' as it is, and 'h' is not read again; bind it by reference
  c = c.detach();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: assigning to 'c' gives this handle another tensor
  auto columns = m.slice(1, 0, 2).t();
  columns = y;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: assigning to 'columns' gives this handle another tensor and leaves 'm.slice(1, 0, 2).t()' as it is
}

void lambda(std::vector<Tensor> &tensors, torch::Device device) {
  std::for_each(tensors.begin(), tensors.end(),
                [&](Tensor t) { t = t.to(device); });
  // CHECK-MESSAGES: :[[@LINE-1]]:33: warning: the parameter 't' is a copy
}

// References and pointers into the vector.
double kept(Linear net, std::vector<Tensor *> &pointers) {
  auto &weight = net->parameters()[0];
  // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: 'weight' leads into the vector that 'net->parameters()' returns, which ends with this statement, so it dangles; copy the tensor, the copy shares its data
  const Tensor &bias = net->parameters().back();
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'bias' leads into the vector
  Tensor *pointer = &net->parameters().at(0);
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'pointer' leads into the vector that 'net->parameters()' returns, which ends with this statement, so it dangles; keep the vector in a variable
  auto it = net->parameters().begin();
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: 'it' leads into the vector
  for (auto &p : net->parameters())
    pointers.push_back(&p);
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: this pointer leads into the vector that 'net->parameters()' returns, which ends with the loop, so it dangles; keep the tensor itself, or the vector in a variable
  return (weight.sum() + bias.sum() + pointer->sum() + it->sum()).item<double>();
}

// A parameter that serves the function itself: what is lost is one of its values.
Tensor attention(torch::nn::LayerNorm ofQueries, torch::nn::LayerNorm ofKeys, Tensor x) {
  Tensor q = x.index({0}), k = x.index({1});
  x = ofQueries(x);
  x = ofKeys(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: what is assigned to 'x' here is overwritten before anything reads it, so that it is lost; was another variable meant?
  // CHECK-MESSAGES: :[[@LINE+1]]:3: note: it gets another value here
  x = torch::matmul(q, k.transpose(-1, -2));
  return x;
}
