// RUN: %check_torch %s torch-blob-dtype %t
//
// Memory that fits, that is a buffer of anything, or of which nothing is known.

#include <torch/torch.h>

#include <array>
#include <complex>
#include <cstddef>
#include <vector>

namespace cv {
struct Mat {
  unsigned char *data;
  unsigned char *row(int row) { return data + row; }
  template <class T> T *ptr(int row = 0) { return reinterpret_cast<T *>(data) + row; }
};
} // namespace cv

struct Colour {
  float r, g, b;
};
struct Pixel {
  std::array<float, 4> channels;
};
struct Record {
  int id;
  float score;
};

// The type fits.
void same(std::vector<float> &f, std::vector<double> &d, std::vector<int> &i,
          std::vector<int64_t> &l, std::vector<bool *> &) {
  torch::from_blob(f.data(), {4}).sum();
  torch::from_blob(f.data(), {4}, torch::kFloat).sum();
  torch::from_blob(d.data(), {4}, torch::kDouble).sum();
  torch::from_blob(d.data(), {4}, torch::dtype(torch::kFloat64)).sum();
  torch::from_blob(i.data(), {4}, torch::TensorOptions(torch::kInt32)).sum();
  torch::from_blob(l.data(), {4}, torch::dtype<int64_t>()).sum();
  torch::from_blob(l.data(), {4}, at::device(at::kCPU).dtype(at::kLong)).sum();
}

// Integers of one size.
void sizes(std::vector<unsigned> &u, std::vector<long long> &ll, std::vector<std::size_t> &s,
           std::vector<uint16_t> &h) {
  torch::from_blob(u.data(), {4}, torch::kInt).sum();
  torch::from_blob(ll.data(), {4}, torch::kLong).sum();
  torch::from_blob(s.data(), {4}, torch::kInt64).sum();
  torch::from_blob(h.data(), {4}, torch::kInt16).sum();
  torch::from_blob(h.data(), {4}, torch::kHalf).sum();
  torch::from_blob(h.data(), {4}, torch::kBFloat16).sum();
}

// Buffers of anything, of which the type is said.
void buffers(cv::Mat &image, void *raw, std::byte *bytes, char *text, const char *file) {
  torch::from_blob(image.data, {8, 8, 3}, torch::kByte).sum();
  torch::from_blob(image.data, {8, 8, 3}, torch::kFloat).sum();
  torch::from_blob(image.ptr<float>(), {8, 8, 3}).sum();
  // What it was converted to before, only the run knows.
  torch::from_blob(image.data, {8, 8, 3}).sum();
  const unsigned char *pixels = image.data;
  torch::from_blob(const_cast<unsigned char *>(pixels), {8, 8, 3}).sum();
  torch::from_blob(image.row(0), {8, 3}).sum();
  // No crash: it leads to itself.
  unsigned char *none = none;
  torch::from_blob(none, {8, 3}, torch::kByte).sum();
  torch::from_blob(raw, {4}, torch::kLong).sum();
  torch::from_blob(raw, {4}).sum();
  torch::from_blob(bytes, {4}, torch::kDouble).sum();
  torch::from_blob(text, {4}, torch::kInt8).sum();
  torch::from_blob(const_cast<char *>(file), {4}, torch::kFloat16).sum();
  torch::from_blob(reinterpret_cast<float *>(text), {4}).sum();
  torch::from_blob((float *)image.data, {4}).sum();
}

// The bytes of anything.
void bytesOf(std::vector<Colour> &colours, std::vector<double> &xs) {
  const auto n = static_cast<int64_t>(colours.size() * sizeof(Colour));
  torch::from_blob(colours.data(), {n}, torch::kUInt8).sum();
  torch::from_blob(xs.data(), {32}, torch::dtype(torch::kByte)).sum();
}

// Structures of one type, and what complex numbers are made of.
void structures(std::vector<Colour> &colours, std::vector<Pixel> &pixels,
                std::vector<std::array<float, 3>> &rows, std::vector<Record> &records,
                std::vector<std::complex<float>> &z, std::vector<float> &pairs) {
  torch::from_blob(colours.data(), {4, 3}).sum();
  torch::from_blob(pixels.data(), {4, 4}, torch::kFloat32).sum();
  torch::from_blob(rows.data(), {4, 3}).sum();
  torch::from_blob(rows.data()->data(), {4, 3}).sum();
  torch::from_blob(records.data(), {4, 2}).sum();
  torch::from_blob(z.data(), {4}, torch::kComplexFloat).sum();
  torch::from_blob(z.data(), {4, 2}).sum();
  torch::from_blob(pairs.data(), {2}, torch::kComplexFloat).sum();
  float table[2][3] = {};
  torch::from_blob(table, {2, 3}).sum();
  torch::from_blob(&table, {2, 3}).sum();
}

// The type is not known.
template <class T> torch::ScalarType typeOf();
struct Config {
  torch::TensorOptions options;
  torch::ScalarType type;
};
extern torch::TensorOptions everywhere;
void unknown(std::vector<double> &d, const Config &config, torch::TensorOptions options,
             torch::ScalarType type, torch::Tensor like, bool wide) {
  torch::from_blob(d.data(), {4}, typeOf<double>()).sum();
  torch::from_blob(d.data(), {4}, config.options).sum();
  torch::from_blob(d.data(), {4}, config.type).sum();
  torch::from_blob(d.data(), {4}, options).sum();
  torch::from_blob(d.data(), {4}, options.device(torch::kCPU)).sum();
  torch::from_blob(d.data(), {4}, type).sum();
  torch::from_blob(d.data(), {4}, like.options()).sum();
  torch::from_blob(d.data(), {4}, everywhere).sum();
  torch::from_blob(d.data(), {4}, c10::CppTypeToScalarType<double>::value).sum();
  torch::from_blob(d.data(), {4}, wide ? torch::kDouble : torch::kFloat).sum();
}

template <class T> torch::Tensor wrap(std::vector<T> &xs) {
  return torch::from_blob(xs.data(), {4},
                          torch::TensorOptions().dtype(c10::CppTypeToScalarType<T>::value))
      .clone();
}
torch::Tensor wrapped(std::vector<double> &xs) { return wrap(xs); }

// Nothing instantiates it.
template <class T> torch::Tensor unused(std::vector<T> &xs) {
  return torch::from_blob(xs.data(), {4}).clone();
}
