// RUN: %check_torch %s torch-blob-lifetime %t
//
// Of ?: one side has run in an iteration before, whose picture is gone, and the other one now.

#include <torch/torch.h>

using torch::Tensor;

struct Picture {
  std::vector<uint8_t> pixels;
  int64_t index;
};
Picture nextPicture();
static Tensor laidOver(Picture &picture, torch::Device device) {
  auto pixels = torch::from_blob(picture.pixels.data(), {4, 4, 3}, torch::kUInt8);
  return pixels.to(device);
}
static Tensor laidOverLost(Picture picture, torch::Device device) {
  auto pixels = torch::from_blob(picture.pixels.data(), {4, 4, 3}, torch::kUInt8);
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: tensor still points into 'picture.pixels'
  return pixels.to(device);
}
void stream(Tensor ring, Tensor empty, torch::Device device, bool live) {
  for (;;) {
    Picture picture = nextPicture();
    auto pixels = live ? empty : laidOver(picture, device);
    ring[picture.index % 4].copy_(pixels);
    auto again = live ? empty : laidOverLost(picture, device);
    ring[picture.index % 4].add_(again);
  }
}
