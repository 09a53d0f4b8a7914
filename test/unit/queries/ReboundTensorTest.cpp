// x = op(x) where nobody else has what was there. The tests of
// torch-inplace-opportunity (test/checks) have more programs.
#include "queries/memory/ReboundTensor.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct ReboundTensorTest : ModelTest<ReboundTensorTest> {
  static const char Code[];
  static std::vector<ReboundTensor> ask(llvm::StringRef Root) {
    return entry(Root).of(reboundTensors(Shared->program()));
  }
};

const char ReboundTensorTest::Code[] = R"cpp(
using torch::Tensor;

void scaled(Tensor x) {
  torch::NoGradGuard guard;
  for (int i = 0; i < 9; ++i) {
    x = torch::tanh(x);
    x = x / 2.0;
  }
}
void ofCaller(Tensor x) {
  torch::NoGradGuard guard;
  for (int i = 0; i < 9; ++i)
    x = x / 2.0;
}
Tensor kept;
void keptElsewhere() {
  torch::NoGradGuard guard;
  Tensor x = torch::ones({800, 800});
  for (int i = 0; i < 9; ++i) {
    kept = x;
    x = x / 2.0;
  }
}
void withGradMode() {
  Tensor x = torch::ones({800, 800});
  for (int i = 0; i < 9; ++i)
    x = x / 2.0;
}
void ofTwo(Tensor y) {
  torch::NoGradGuard guard;
  Tensor x = torch::ones({800, 800});
  for (int i = 0; i < 9; ++i)
    x = x + y;
}
)cpp";

} // namespace

TEST_F(ReboundTensorTest, OfItself) {
  const std::vector<ReboundTensor> Found = ask("scaled");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_NE(Found[0].Around, nullptr);
}

TEST_F(ReboundTensorTest, Quiet) {
  for (const char *Root :
       {"ofCaller", "keptElsewhere", "withGradMode", "ofTwo"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}
