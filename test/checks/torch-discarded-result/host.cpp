// RUN: %check_torch %s torch-discarded-result %t -still-warns
//
// A tensor that would lie on a device, and whose memory the host then reads
// through a pointer: the line is to be dropped, not to be mended.

#include <torch/torch.h>

using torch::Tensor;

// Has a fix, so that it is seen to have run.
Tensor moved(Tensor x) {
  x.to(torch::kCUDA);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.to(torch::kCUDA)'{{.*}}; write 'x = x.to(torch::kCUDA)'
  // CHECK-FIXES: x = x.to(torch::kCUDA);
  return x * 2;
}

float pointer(Tensor x, torch::Device device) {
  x.to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.to(device)' returns the converted tensor and leaves 'x' as it is, and the result is dropped; drop the line: what follows reads the memory of 'x' on the CPU [torch-discarded-result]
  // CHECK-MESSAGES: :[[@LINE+1]]:10: note: its memory is read here
  return x.data_ptr<float>()[0];
}

float computed(Tensor x) {
  x.cuda();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.cuda()'{{.*}}; drop the line
  x = torch::clamp(x * 255, 0, 255);
  Tensor bytes = x.to(torch::kFloat).contiguous();
  auto row = bytes.accessor<float, 2>();
  return row[0][0];
}

static std::vector<float> pixels(Tensor image, bool scaled) {
  Tensor copy = image.contiguous().detach().clone();
  Tensor rows = scaled ? copy.mul(255) : copy;
  const float *first = rows.data_ptr<float>();
  return {first, first + rows.numel()};
}
static Tensor scaled(const Tensor &image) { return image / 255; }

size_t helper(torch::Device device) {
  Tensor image = torch::rand({3, 32, 32});
  image.to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'image.to(device)'{{.*}}; drop the line
  image = scaled(image);
  return pixels(image.clone(), true).size();
}

struct Drawing {
  torch::Device device;
  float first(const Tensor &image) { return image.data_ptr<float>()[0]; }
  float draw(Tensor image) {
    image.to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'image.to(device)'{{.*}}; drop the line
    return first(image.flatten());
  }
};

// What is read has been brought back before: the line is to be mended.
float broughtBack(Tensor x) {
  x.to(torch::kCUDA);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.to(torch::kCUDA)'{{.*}}; write 'x = x.to(torch::kCUDA)'
  // CHECK-FIXES: x = x.to(torch::kCUDA);
  Tensor host = (x * 2).cpu();
  return host.data_ptr<float>()[0];
}

// The host is where it was to go.
float toHost(Tensor x) {
  x.to(torch::kCPU);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.to(torch::kCPU)'{{.*}}; write 'x = x.to(torch::kCPU)'
  // CHECK-FIXES: x = x.to(torch::kCPU);
  return x.data_ptr<float>()[0];
}

// As another type its memory can be read.
double converted(Tensor x) {
  x.to(torch::kDouble);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.to(torch::kDouble)'{{.*}}; write 'x = x.to(torch::kDouble)'
  // CHECK-FIXES: x = x.to(torch::kDouble);
  return x.data_ptr<double>()[0];
}

// Another tensor's memory, and what was read before.
float another(Tensor x, Tensor y) {
  float before = x.data_ptr<float>()[0];
  x.to(torch::kCUDA);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.to(torch::kCUDA)'{{.*}}; write 'x = x.to(torch::kCUDA)'
  // CHECK-FIXES: x = x.to(torch::kCUDA);
  float sum = (x * 2).sum().item<float>();
  return before + sum + y.data_ptr<float>()[0];
}
