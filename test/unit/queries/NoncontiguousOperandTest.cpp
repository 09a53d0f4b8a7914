// Which copies into another layout, and which layouts that meet, are found. The
// tests of torch-noncontiguous-operand (test/checks) have more programs.
#include "memory/NoncontiguousOperand.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct NoncontiguousOperandTest : ModelTest<NoncontiguousOperandTest> {
  static const char Code[];
  static std::vector<NoncontiguousOperand> ask(llvm::StringRef Root) {
    return entry(Root).of(noncontiguousOperands(Shared->program()));
  }
};

const char NoncontiguousOperandTest::Code[] = R"cpp(
using torch::Tensor;

Tensor needless(Tensor x) { return (x.t().contiguous() * 2).relu().sum(); }
void again(Tensor w, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    Tensor turned = w.t().contiguous();
    std::cout << x.mm(turned);
  }
}
void mixed(int64_t n, int steps) {
  Tensor x = torch::randn({n, n}), y = torch::randn({n, n}).t();
  for (int i = 0; i < steps; ++i)
    x.add_(y);
}
Tensor returned(Tensor x) { return x.t().contiguous() * 2; }
Tensor withAnother(Tensor x, Tensor y) {
  return (x.t().contiguous() + y).sum();
}
Tensor once(Tensor w, Tensor x) { return x.mm(w.t().contiguous()); }
void changes(Tensor w, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    std::cout << x.mm(w.t().contiguous());
    w.add_(1);
  }
}
void written(Tensor w, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    Tensor copy = w.t().contiguous();
    copy.mul_(x);
    std::cout << copy.mm(x);
  }
}
void inOrder(Tensor w, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs)
    std::cout << x.mm(torch::relu(w).contiguous());
}
void small(const std::vector<Tensor> &xs) {
  Tensor w = torch::ones({8, 8});
  for (const Tensor &x : xs)
    std::cout << x.mm(w.t().contiguous());
}
)cpp";

} // namespace

TEST_F(NoncontiguousOperandTest, Needless) {
  const std::vector<NoncontiguousOperand> Found = ask("needless");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].How, NoncontiguousOperand::Needless);
  EXPECT_EQ(Found[0].Around, nullptr);
}

TEST_F(NoncontiguousOperandTest, Again) {
  const std::vector<NoncontiguousOperand> Found = ask("again");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].How, NoncontiguousOperand::Again);
  EXPECT_TRUE(Found[0].CanMove);
}

TEST_F(NoncontiguousOperandTest, Mixed) {
  const std::vector<NoncontiguousOperand> Found = ask("mixed");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].How, NoncontiguousOperand::Mixed);
}

TEST_F(NoncontiguousOperandTest, Quiet) {
  for (const char *Root : {"returned", "withAnother", "once", "changes",
                           "written", "inOrder", "small"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}
