// RUN: %check_torch %s torch-blob-dtype %t -still-warns
//
// Memory of one type, read as another: who has the pointer, how the type is said.

#include <torch/torch.h>

#include <array>
#include <vector>

using Samples = std::vector<double>;

// ----- no type is said: float -----

torch::Tensor plain(std::vector<int> &counts) {
  return torch::from_blob(counts.data(), {4}).clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'from_blob' reads memory of 'int' as 'kFloat', the default: the values are wrong; pass 'torch::kInt' [torch-blob-dtype]
  // CHECK-FIXES: return torch::from_blob(counts.data(), {4}, torch::kInt).to(torch::kFloat);
}

torch::Tensor through(Samples &samples) {
  double *first = samples.data();
  const int64_t n = static_cast<int64_t>(samples.size());
  auto all = torch::from_blob(first, {n, 1}, {1, 1});
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: 'from_blob' reads memory of 'double' as 'kFloat', the default: the values are wrong; pass 'torch::kDouble'
  // CHECK-FIXES: auto all = torch::from_blob(first, {n, 1}, {1, 1}, torch::kDouble).to(torch::kFloat);
  return all.sum();
}

torch::Tensor bytes(const unsigned char *pixels) {
  return torch::from_blob(const_cast<unsigned char *>(pixels), {8, 8}).clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'from_blob' reads memory of 'unsigned char' as 'kFloat', the default: the values are wrong, and it reads beyond the end of the memory (4 times its size); pass 'torch::kByte'
  // CHECK-FIXES: return torch::from_blob(const_cast<unsigned char *>(pixels), {8, 8}, torch::kByte).to(torch::kFloat);
}

// A class that has bytes only: what it gives is no memory of anything.
struct Picture {
  unsigned char *pixels;
  int at(int place) const { return pixels[place]; }
};
torch::Tensor picture(Picture &shown) {
  return torch::from_blob(shown.pixels, {8, 8}).clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'from_blob' reads memory of 'unsigned char' as 'kFloat', the default: the values are wrong, and it reads beyond the end of the memory (4 times its size); pass 'torch::kByte'
  // CHECK-FIXES: return torch::from_blob(shown.pixels, {8, 8}, torch::kByte).to(torch::kFloat);
}

torch::Tensor mask() {
  static bool flags[4] = {true, false, true, true};
  return at::from_blob(flags, 4);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'from_blob' reads memory of 'bool' as 'kFloat', the default: the values are wrong, and it reads beyond the end of the memory (4 times its size); pass 'at::kBool'
  // CHECK-FIXES: return at::from_blob(flags, 4, at::kBool).to(at::kFloat);
}

torch::Tensor owned(double *taken) {
  return torch::from_blob(
      taken, {16}, [](void *p) { delete[] static_cast<double *>(p); });
  // CHECK-MESSAGES: :[[@LINE-2]]:10: warning: 'from_blob' reads memory of 'double' as 'kFloat', the default:
  // CHECK-FIXES: taken, {16}, [](void *p) { delete[] static_cast<double *>(p); }, torch::kDouble).to(torch::kFloat);
}

// Options that say everything but the type.
torch::Tensor options(std::vector<int64_t> &ids) {
  return torch::from_blob(ids.data(), {4}, torch::TensorOptions().device(torch::kCPU)).clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'from_blob' reads memory of 'long' as 'kFloat', the default: the values are wrong; pass 'torch::kLong'
  // CHECK-FIXES: return torch::from_blob(ids.data(), {4}, torch::TensorOptions().device(torch::kCPU).dtype(torch::kLong)).to(torch::kFloat);
}

// ----- what goes on with it -----

// It is converted anyway.
torch::Tensor converted(std::vector<int> &counts) {
  auto shares = torch::from_blob(counts.data(), {2, 2}).view({4}).to(torch::kDouble) / 4;
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'from_blob' reads memory of 'int' as 'kFloat', the default: the values are wrong; pass 'torch::kInt'
  // CHECK-FIXES: auto shares = torch::from_blob(counts.data(), {2, 2}, torch::kInt).view({4}).to(torch::kDouble) / 4;
  return shares;
}

torch::Tensor convertedLater(Samples &samples) {
  auto raw = torch::from_blob(samples.data(), {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: 'from_blob' reads memory of 'double' as 'kFloat', the default: the values are wrong; pass 'torch::kDouble'
  // CHECK-FIXES: auto raw = torch::from_blob(samples.data(), {4}, torch::kDouble);
  return raw.flip(0).toType(torch::kHalf) + raw.to(torch::kHalf);
}

// One of them is not.
torch::Tensor convertedOnce(Samples &samples) {
  auto raw = torch::from_blob(samples.data(), {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: 'from_blob' reads memory of 'double' as 'kFloat', the default: the values are wrong; pass 'torch::kDouble'
  // CHECK-FIXES: auto raw = torch::from_blob(samples.data(), {4}, torch::kDouble).to(torch::kFloat);
  return torch::linear(raw, torch::ones({2, 4})) + raw.to(torch::kDouble).sum();
}

// A copy would get what the memory should.
void filled(Samples &samples, const torch::Tensor &result) {
  auto out = torch::from_blob(samples.data(), {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: 'from_blob' reads memory of 'double' as 'kFloat', the default: the values are wrong; pass 'torch::kDouble'
  // CHECK-FIXES: auto out = torch::from_blob(samples.data(), {4}, torch::kDouble);
  out.copy_(result);
}

// A device is no type.
torch::Tensor moved(Samples &samples, torch::Device device) {
  return torch::from_blob(samples.data(), {4}).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'from_blob' reads memory of 'double' as 'kFloat', the default: the values are wrong; pass 'torch::kDouble'
  // CHECK-FIXES: return torch::from_blob(samples.data(), {4}, torch::kDouble).to(torch::kFloat).to(device);
}

// ----- another type is said -----

torch::Tensor wider(std::vector<int> &ids) {
  return torch::from_blob(ids.data(), {4}, torch::kInt64).clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'from_blob' reads memory of 'int' as 'kLong': the values are wrong, and it reads beyond the end of the memory (2 times its size); pass 'torch::kInt'
  // CHECK-FIXES: return torch::from_blob(ids.data(), {4}, torch::kInt).to(torch::kLong);
}

torch::Tensor chained(std::vector<long> &ids) {
  const auto options = torch::TensorOptions().dtype(torch::kInt32).device(torch::kCPU);
  return torch::from_blob(&ids[0], {4}, options).clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'from_blob' reads memory of 'long' as 'kInt': the values are wrong; pass 'torch::kLong'
}

torch::Tensor reset(std::vector<float> &xs) {
  auto options = torch::dtype(torch::kFloat32);
  options = options.dtype<double>();
  return torch::from_blob(xs.data(), {4}, options).clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'from_blob' reads memory of 'float' as 'kDouble': the values are wrong, and it reads beyond the end of the memory (2 times its size); pass 'torch::kFloat'
}

torch::Tensor voided(std::array<double, 4> &xs) {
  return torch::from_blob((void *)xs.data(), {4}, at::dtype(at::kFloat)).clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'from_blob' reads memory of 'double' as 'kFloat': the values are wrong; pass 'torch::kDouble'
  // CHECK-FIXES: return torch::from_blob((void *)xs.data(), {4}, at::dtype(torch::kDouble)).to(torch::kFloat);
}

// ----- shapes of memory -----

struct Point {
  double x, y, z;
};

torch::Tensor points(std::vector<Point> &cloud) {
  const auto n = static_cast<int64_t>(cloud.size());
  return torch::from_blob(cloud.data(), {n, 3}, torch::kFloat32).clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'from_blob' reads memory of 'Point' as 'kFloat': the values are wrong; pass 'torch::kDouble'
  // CHECK-FIXES: return torch::from_blob(cloud.data(), {n, 3}, torch::kDouble).to(torch::kFloat);
}

torch::Tensor matrix() {
  static int table[2][3] = {{1, 2, 3}, {4, 5, 6}};
  return torch::from_blob(table, {2, 3});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'from_blob' reads memory of 'int[3]' as 'kFloat', the default: the values are wrong; pass 'torch::kInt'
}

torch::Tensor one(int64_t label) {
  return torch::from_blob(&label, {1}, torch::kInt).clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'from_blob' reads memory of 'long' as 'kInt': the values are wrong; pass 'torch::kLong'
}

enum class Kind : int { A, B };

torch::Tensor enumerators(std::vector<Kind> &kinds) {
  return torch::from_blob(kinds.data(), {2}).clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'from_blob' reads memory of 'Kind' as 'kFloat', the default: the values are wrong; pass 'torch::kInt'
}

// The rows are elsewhere.
torch::Tensor nested(std::vector<std::vector<float>> &rows) {
  return torch::from_blob(rows.data(), {4, 4}).clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'from_blob' reads memory of 'vector<float>' as 'kFloat', the default, but a 'vector<float>' keeps its elements elsewhere: the values are meaningless; pass the address of the elements
}

torch::Tensor itself(std::vector<float> &row) {
  return torch::from_blob(&row, {4}).clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'from_blob' reads memory of 'vector<float>' as 'kFloat', the default, but a
}

torch::Tensor addresses(std::vector<float *> &rows) {
  return torch::from_blob(rows.data(), {4, 4}).clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'from_blob' reads memory of 'float *' as 'kFloat', the default, but it holds addresses:
}

// ----- where the call stands -----

template <class T> torch::Tensor wrap(std::vector<T> &xs) {
  return torch::from_blob(xs.data(), {4}, torch::kFloat64).clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'from_blob' reads memory of 'float' as 'kDouble'
}
torch::Tensor instance(std::vector<float> &xs) { return wrap(xs); }

torch::Tensor fromType(std::vector<double> &xs, torch::ScalarType type) {
  return torch::from_blob(xs.data(), {4}, type).clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'from_blob' reads memory of 'double' as 'kInt':
}
torch::Tensor caller(std::vector<double> &xs) { return fromType(xs, torch::kInt); }

class Reader {
public:
  torch::Tensor next() {
    auto read = [this] { return torch::from_blob(buffer.data(), {4}); };
    // CHECK-MESSAGES: :[[@LINE-1]]:33: warning: 'from_blob' reads memory of 'short' as 'kFloat', the default: the values are wrong, and it reads beyond the end of the memory (2 times its size); pass 'torch::kShort'
    return read().clone();
  }

private:
  std::vector<short> buffer = std::vector<short>(4);
};
