// What the tests' precompiled header holds; see test/CMakeLists.txt.
#include <torch/torch.h>

#include <torch/script.h>
