// Elements that are read or written one at a time. The tests of
// torch-element-access-in-loop (test/checks) have many more programs.
#include "transfer/ElementAccessInLoop.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct ElementAccessInLoopTest : ModelTest<ElementAccessInLoopTest> {
  static const char Code[];
  static std::vector<ElementAccessInLoop> ask(llvm::StringRef Root) {
    return entry(Root).of(findElementAccessInLoop(Shared->program()));
  }
};

const char ElementAccessInLoopTest::Code[] = R"cpp(
using torch::Tensor;

float read(Tensor t) {
  float sum = 0;
  for (int i = 0; i < t.size(0); ++i) sum += t[i].item<float>();
  return sum;
}
float several(Tensor boxes) {
  float sum = 0;
  for (int i = 0; i < boxes.size(0); ++i) {
    Tensor box = boxes[i];
    sum += (box[2].item<float>() - box[0].item<float>()) * box[3].item<float>();
  }
  return sum;
}
int64_t rows(Tensor t) {
  int64_t sum = 0;
  for (int i = 0; i < t.size(0); ++i) sum += t[i].argmax().item<int64_t>();
  return sum;
}
void write(Tensor t) {
  for (int i = 0; i < t.size(0); ++i)
    for (int j = 0; j < t.size(1); ++j) t[i][j] = i + j;
}
void writeRows(Tensor t, Tensor row) {
  for (int i = 0; i < t.size(0); ++i) t[i] = row;
}
float fresh(const std::vector<Tensor> &ts) {
  float sum = 0;
  for (size_t i = 0; i < ts.size(); ++i) sum += ts[i][0].item<float>();
  return sum;
}
float few(Tensor t) {
  float sum = 0;
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 9; ++j) sum += t[i][j].item<float>();
  return sum;
}
float enough(Tensor t) {
  float sum = 0;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) sum += t[i][j].item<float>();
  return sum;
}
)cpp";

TEST_F(ElementAccessInLoopTest, Read) {
  const auto Found = ask("read");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].How, ElementAccessInLoop::Reads);
  EXPECT_TRUE(Found[0].AsWell.empty());
}

TEST_F(ElementAccessInLoopTest, OneTensorIsOneFact) {
  const auto Found = ask("several");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].AsWell.size(), 2u);
  EXPECT_LT(Found[0].Site->getBeginLoc(), Found[0].AsWell[0]->getBeginLoc());
}

TEST_F(ElementAccessInLoopTest, OfRows) {
  const auto Found = ask("rows");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].How, ElementAccessInLoop::ReadsResult);
}

TEST_F(ElementAccessInLoopTest, Written) {
  const auto Found = ask("write");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].How, ElementAccessInLoop::Writes);
}

TEST_F(ElementAccessInLoopTest, RowsAreNoElements) {
  EXPECT_TRUE(ask("writeRows").empty());
}

TEST_F(ElementAccessInLoopTest, AnotherTensorEachTime) {
  EXPECT_TRUE(ask("fresh").empty());
}

TEST_F(ElementAccessInLoopTest, AFew) {
  EXPECT_TRUE(ask("few").empty());
  EXPECT_EQ(ask("enough").size(), 1u);
}

} // namespace
