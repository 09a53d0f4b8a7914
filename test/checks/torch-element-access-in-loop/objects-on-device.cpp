// RUN: %check_torch %s torch-element-access-in-loop %t
//
// One number for each object of a container, once: on the CPU that is quiet
// (negatives-objects.cpp), on a device each is a kernel or a wait.

#include <torch/torch.h>

struct Point {
  double x, y, depth;
};

torch::Tensor cloud(const std::vector<Point> &points) {
  const int count = static_cast<int>(points.size());
  torch::Tensor result = torch::zeros({count, 3}).cuda();
  for (int i = 0; i < count; ++i) {
    result.index({i, 0}) = points[i].x;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: {{.*}}'result'
    result.index({i, 1}) = points[i].y;
    result.index({i, 2}) = std::log(points[i].depth);
  }
  return result;
}

struct Map {
  void fill(const std::vector<Point> &points) {
    depths = torch::zeros({static_cast<int64_t>(points.size())},
                          torch::device(torch::kCUDA));
    for (size_t i = 0; i < points.size(); ++i)
      depths[i] = points[i].depth;
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: {{.*}}'depths'
  }
  torch::Tensor depths;
};

// On the CPU, and moved as a whole.
torch::Tensor moved(const std::vector<Point> &points) {
  auto result = torch::zeros({static_cast<int64_t>(points.size()), 2});
  for (size_t i = 0; i < points.size(); ++i) {
    result[i][0] = points[i].x;
    result[i][1] = points[i].y;
  }
  return result.cuda();
}
