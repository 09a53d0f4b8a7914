// RUN: %check_torch %s torch-undetached-hidden-state %t
//
// Each iteration changes an element of its own, once: no other iteration of the
// loop reads it.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

struct ByName {
  std::vector<Tensor> pieces;
  ByName(std::vector<Tensor> all, int64_t rows) : pieces(std::move(all)) {
    for (size_t i = 0; i < pieces.size(); ++i) {
      auto &piece = pieces[i];
      const int64_t count = piece.numel() / rows;
      piece = piece.view({count, rows});
    }
  }
};
struct ByIndex {
  std::vector<Tensor> pieces;
  ByIndex(std::vector<Tensor> all, int64_t rows) : pieces(std::move(all)) {
    for (size_t i = 0; i < pieces.size(); ++i)
      pieces[i] = pieces[i].view({-1, rows});
  }
};
struct ByRange {
  std::vector<Tensor> pieces;
  ByRange(std::vector<Tensor> all, int64_t rows) : pieces(std::move(all)) {
    for (Tensor &piece : pieces)
      piece = piece.view({-1, rows});
  }
};

int main() {
  Linear net(4, 4);
  ByName byName(net->parameters(), 2);
  ByIndex byIndex(net->parameters(), 2);
  ByRange byRange(net->parameters(), 2);
}
