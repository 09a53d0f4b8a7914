// RUN: %check_torch %s torch-blob-lifetime %t
//
// Memory of objects with a data pointer: matrices, which own it, and handles like
// cv::Mat, whose copies share it.

#include <torch/torch.h>

#include <string>
#include <vector>

using torch::Tensor;

namespace Eigen {
template <class T, int R, int C> class Matrix {
public:
  Matrix(int rows, int columns);
  Matrix(const Matrix &);
  ~Matrix();
  T *data();
  static Matrix Random(int rows, int columns);

private:
  T *elements;
};
using MatrixXf = Matrix<float, -1, -1>;
} // namespace Eigen

namespace cv {
class Mat {
public:
  Mat();
  Mat(int rows, int columns, int type);
  Mat(int rows, int columns, int type, void *data);
  Mat(const Mat &);
  Mat &operator=(const Mat &);
  ~Mat();
  Mat clone() const;
  Mat operator()(int from, int to) const;
  template <class T> T *ptr(int row = 0);
  unsigned char *data;
  int rows = 0, cols = 0;
};
Mat imread(const std::string &path, int flags = 1);
void resize(const Mat &from, Mat &to, int rows, int columns);
void split(const Mat &from, std::vector<Mat> &to);
} // namespace cv

cv::Mat cached(const std::string &path);
void show(const cv::Mat &image);

Tensor matrix() {
  Eigen::MatrixXf m(2, 2);
  return torch::from_blob(m.data(), {2, 2});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor still points into 'm', which ends with its scope, and the tensor is returned
}

Tensor copiedMatrix(const Eigen::MatrixXf &from) {
  Eigen::MatrixXf m = from;
  return torch::from_blob(m.data(), {2, 2});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor still points into 'm'
}

Tensor image(const std::string &path) {
  cv::Mat image = cv::imread(path);
  return torch::from_blob(image.data, {image.rows, image.cols, 3}, torch::kByte).permute({2, 0, 1});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor still points into 'image'
}

Tensor resized(const cv::Mat &from) {
  cv::Mat image;
  cv::resize(from, image, 224, 224);
  auto t = torch::from_blob(image.ptr<float>(), {224, 224, 3});
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: tensor still points into 'image'
  return t;
}

Tensor cloned(const cv::Mat &from) {
  cv::Mat image = from.clone();
  return torch::from_blob(image.data, {224, 224, 3}, torch::kByte);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor still points into 'image'
}

// The object that has the memory is over with the statement.
Tensor ofTemporaries(const cv::Mat &from, const std::string &path) {
  auto x = torch::from_blob(from.clone().data, {1, 1, from.rows, from.cols}, torch::kByte);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: tensor still points into {{.*}}temporary
  x = x.to(torch::kFloat) / 255;
  auto y = torch::from_blob(cv::imread(path).ptr<float>(), {8, 8});
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: tensor still points into {{.*}}temporary
  return x.sum() + y.sum();
}

// ----- quiet: the memory may be somebody else's too -----

Tensor usedInTheStatement(const cv::Mat &from) {
  return torch::from_blob(from.clone().data, {8, 8}, torch::kByte).to(torch::kFloat);
}
Tensor ofCachedTemporary(const std::string &path) {
  auto x = torch::from_blob(cached(path).data, {8, 8}, torch::kByte);
  return x.sum();
}
Tensor keptAlive(const cv::Mat &from) {
  const cv::Mat &image = from.clone();
  auto x = torch::from_blob(image.data, {8, 8}, torch::kByte);
  return x.sum();
}

Tensor parameter(cv::Mat image) { return torch::from_blob(image.data, {8, 8}, torch::kByte); }
Tensor reference(cv::Mat &image) { return torch::from_blob(image.data, {8, 8}, torch::kByte); }
Tensor copied(const cv::Mat &from) {
  cv::Mat image = from;
  return torch::from_blob(image.data, {8, 8}, torch::kByte);
}
Tensor part(const cv::Mat &from) {
  cv::Mat image = from(0, 4);
  return torch::from_blob(image.data, {4, 8}, torch::kByte);
}
Tensor fromCache(const std::string &path) {
  cv::Mat image = cached(path);
  return torch::from_blob(image.data, {8, 8}, torch::kByte);
}
Tensor wrapped(void *memory) {
  cv::Mat image(8, 8, 0, memory);
  return torch::from_blob(image.data, {8, 8}, torch::kByte);
}
Tensor shown(const std::string &path) {
  cv::Mat image = cv::imread(path);
  show(image);
  return torch::from_blob(image.data, {8, 8}, torch::kByte);
}
Tensor assigned(const std::string &path, const cv::Mat &other) {
  cv::Mat image = cv::imread(path);
  if (image.rows == 0)
    image = other;
  return torch::from_blob(image.data, {8, 8}, torch::kByte);
}
Tensor kept(const std::string &path, std::vector<cv::Mat> &all) {
  cv::Mat image = cv::imread(path);
  all.push_back(image);
  return torch::from_blob(image.data, {8, 8}, torch::kByte);
}
Tensor copiedOut(const std::string &path) {
  cv::Mat image = cv::imread(path);
  return torch::from_blob(image.data, {8, 8}, torch::kByte).to(torch::kFloat);
}
