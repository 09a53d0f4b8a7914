// RUN: %check_torch %s torch-transfer-for-metadata %t
//
// The copy is needed, or there is none.

#include <torch/torch.h>

using torch::Tensor;
void use(Tensor);

bool other(Tensor x, torch::Device device) {
  return x.to(torch::kFloat).dtype() == torch::kFloat || x.to(device).device() == device ||
         x.to(device, torch::kHalf).element_size() == 2 || x.cpu().is_contiguous() ||
         x.cpu().stride(0) == 1 || x.cpu().is_cpu() || x.to(x).scalar_type() == torch::kHalf ||
         x.cpu().storage().nbytes() > 1 || x.cpu().use_count() == 1 ||
         x.toType(torch::kHalf).nbytes() > 3;
}
int64_t used(Tensor x, torch::Device device) {
  auto host = x.cpu();
  auto there = x.to(device);
  auto kept = x.cpu();
  auto function = [kept] { return kept.size(0); };
  use(there);
  const float *data = host.const_data_ptr<float>();
  return host.size(0) + there.size(0) + int64_t(data[0]) + function();
}
Tensor returned(Tensor x) {
  auto host = x.cpu();
  std::cout << host.sizes();
  return host;
}
Tensor rebound(Tensor x, torch::Device device) {
  auto y = x.to(device);
  std::cout << y.sizes();
  y = y + 1;
  return y;
}
int64_t elements(Tensor x) {
  auto host = x.cpu();
  int64_t sum = 0;
  for (int64_t i = 0; i < host.size(0); ++i)
    sum += host[i].item<int64_t>();
  const auto other = x.cpu();
  return sum + other.accessor<float, 1>().size(0);
}
// to() returns the tensor itself.
int64_t there(torch::Device device) {
  auto x = torch::zeros({64, 64}, device);
  auto y = torch::zeros({64, 64});
  auto z = torch::zeros({64, 64}, torch::kFloat);
  return x.to(device).size(0) + y.cpu().size(0) + z.to(torch::kFloat32).size(0);
}
// Other classes.
struct Batch {
  Batch cpu() const { return *this; }
  int64_t size(int) const { return 1; }
};
int64_t ofBatch(Batch b) { return b.cpu().size(0); }

// A function of the file reads the copy, keeps it, may be another one, or takes
// nothing but a tensor that is its own.
struct Reader {
  Tensor last;
  virtual ~Reader() = default;
  float read(const Tensor &x) { return x.size(0) > 1 ? x[0].item<float>() : 0; }
  void keep(Tensor x) { std::cout << (last = x).sizes(); }
  virtual int64_t count(const Tensor &x) { return x.size(0); }
  int64_t own(Tensor &&x) { return x.size(0); }
  int64_t any(const std::vector<Tensor> &xs) { return xs[0].size(0); }
};
float given(Reader &reader, const Tensor &x) {
  reader.keep(x.cpu());
  return reader.read(x.cpu()) + reader.count(x.cpu()) + reader.own(x.cpu()) + reader.any({x.cpu()});
}

// Nothing is copied; once in the life of the program.
int64_t none(torch::Device device) {
  Tensor nothing = torch::empty({0}).to(device);
  return nothing.numel();
}
// Of what nobody names nothing would be said.
const auto named = std::make_tuple(&used, &returned, &rebound, &elements, &ofBatch, &given);

int main() {
  const torch::Device device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
  Tensor x = torch::rand({64, 64}).to(device);
  std::cout << x.sizes() << none(device);
}
