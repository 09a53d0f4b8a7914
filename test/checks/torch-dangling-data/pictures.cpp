// RUN: %check_torch %s torch-dangling-data %t -still-warns
//
// A header of OpenCV's over the memory of a tensor that is gone: it is returned, or kept.

#include <torch/script.h>
#include <torch/torch.h>

#include <vector>

namespace cv {
using uchar = unsigned char;
struct Size {
  Size(int width, int height);
};
struct Mat {
  Mat();
  Mat(int rows, int columns, int type);
  Mat(int rows, int columns, int type, void *data, size_t step = 0);
  Mat(Size size, int type, void *data, size_t step = 0);
  Mat(const Mat &);
  Mat &operator=(const Mat &);
  ~Mat();
  Mat clone() const;
  void copyTo(Mat &to) const;
  uchar *data;
};
void resize(const Mat &from, Mat &to, Size size);
} // namespace cv

using torch::Tensor;

// Within a function a name mends it.
cv::uchar first(const Tensor &x) {
  const auto *p = (x * 255).to(torch::kU8).data_ptr<uint8_t>();
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: 'data_ptr' of a temporary tensor
  // CHECK-FIXES: auto p_owner = (x * 255).to(torch::kU8);
  // CHECK-FIXES: const auto *p = p_owner.data_ptr<uint8_t>();
  return p[0];
}

struct Engine {
  cv::Mat classes;
  void infer(torch::jit::Module &net, const Tensor &x) {
    Tensor output = net.forward({x}).toTensor();
    output = output.argmax(1).permute({1, 2, 0}).to(torch::kU8).to(torch::kCPU);
    auto *data = reinterpret_cast<cv::uchar *>(output.data_ptr());
    // CHECK-MESSAGES: :[[@LINE-1]]:48: warning: 'data_ptr' of 'output', which ends with its scope, and the pointer is kept in 'classes'; copy the elements, or keep the tensor [torch-dangling-data]
    classes = cv::Mat(cv::Size(512, 256), 0, data);
  }
};

cv::Mat returned(const Tensor &x) {
  Tensor output = x.mul(255).clamp(0, 255).to(torch::kU8).to(torch::kCPU);
  return cv::Mat(256, 512, 0, output.data_ptr());
  // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: 'data_ptr' of 'output', which ends with its scope, and the pointer is returned; copy the elements, or keep the tensor
}

cv::Mat named(const Tensor &x) {
  cv::Mat made(256, 512, 0, (x * 255).to(torch::kU8).data_ptr());
  // CHECK-MESSAGES: :[[@LINE-1]]:29: warning: 'data_ptr' of a temporary tensor: its memory is freed at the end of the statement, and the pointer is returned; copy the elements, or keep the tensor
  // CHECK-FIXES: cv::Mat made(256, 512, 0, (x * 255).to(torch::kU8).data_ptr());
  return made;
}

void pushed(const Tensor &x, std::vector<cv::Mat> &all) {
  Tensor output = x.mul(255).to(torch::kU8);
  cv::Mat over(256, 512, 0, output.data_ptr());
  // CHECK-MESSAGES: :[[@LINE-1]]:29: warning: 'data_ptr' of 'output', which ends with its scope, and the pointer is kept in 'all'
  all.push_back(over);
}

// Copies, and what lives on anyway.
cv::Mat cloned(const Tensor &x) {
  Tensor output = x.mul(255).to(torch::kU8);
  return cv::Mat(256, 512, 0, output.data_ptr()).clone();
}
cv::Mat copied(const Tensor &x, std::vector<cv::Mat> &all) {
  Tensor output = x.mul(255).to(torch::kU8);
  cv::Mat over(256, 512, 0, output.data_ptr()), other, small;
  over.copyTo(other);
  cv::resize(over, small, cv::Size(64, 64));
  all.push_back(over.clone());
  all.push_back(small);
  return other;
}
cv::Mat filled(const Tensor &x) {
  Tensor output = x.mul(255).to(torch::kU8);
  cv::Mat own(256, 512, 0);
  std::memcpy(own.data, output.data_ptr(), 256 * 512);
  return own;
}
cv::Mat given(const Tensor &x) { return cv::Mat(256, 512, 0, x.data_ptr()); }
struct Kept {
  Tensor output;
  cv::Mat picture(const Tensor &x) {
    output = x.mul(255).to(torch::kU8);
    return cv::Mat(256, 512, 0, output.data_ptr());
  }
};
