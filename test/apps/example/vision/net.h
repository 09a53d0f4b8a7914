#pragma once

#include <torch/torch.h>

namespace vision {

// Two convolutions and two linear layers, for 1 x 32 x 32 images.
struct ConvNetImpl : torch::nn::Module {
  explicit ConvNetImpl(int64_t classes)
      : conv1(torch::nn::Conv2dOptions(1, 8, 3).padding(1)),
        conv2(torch::nn::Conv2dOptions(8, 16, 3).padding(1)),
        fc1(16 * 8 * 8, 64),
        fc2(64, classes) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("fc1", fc1);
    register_module("dropout", dropout);
    register_module("fc2", fc2);
  }

  torch::Tensor forward(torch::Tensor x) {
    x = torch::max_pool2d(torch::relu(conv1->forward(x)), 2);
    x = torch::max_pool2d(torch::relu(conv2->forward(x)), 2);
    x = torch::relu(fc1->forward(x.flatten(1)));
    return fc2->forward(dropout->forward(x));
  }

  torch::nn::Conv2d conv1, conv2;
  torch::nn::Linear fc1;
  torch::nn::Dropout dropout{torch::nn::DropoutOptions(0.2)};
  torch::nn::Linear fc2;
};
TORCH_MODULE(ConvNet);

}  // namespace vision
