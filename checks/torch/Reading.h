// Whether a call reads the data of the tensors that it is given, or only hands
// them on, or asks for what lies beside the data. Sources: those of Api.h.
#ifndef TORCHTIDY_TORCH_READING_H
#define TORCHTIDY_TORCH_READING_H

#include "torch/Api.h"

namespace torchtidy::torch {

struct DataReads {
  bool OfObject = false, OfArguments = false;
};

/// Of a call whose body is not seen; Kind says what it is. Unseen code, and
/// modules, may read all that they are given.
DataReads dataReads(const clang::CallExpr *Call, const torch::Call &Kind);

} // namespace torchtidy::torch

#endif
