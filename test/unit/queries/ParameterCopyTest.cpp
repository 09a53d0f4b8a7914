// Assignments to copies. The tests of torch-parameter-copy (test/checks) have
// many more programs.
#include "results/ParameterCopy.h"
#include "model/Model.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;
using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct ParameterCopies : ModelTest<ParameterCopies> {
  static const char Code[];
  static Program &program() { return Shared->program(); }
  static std::string text(const Expr *E) { return E ? program().text(E) : ""; }
};

const char ParameterCopies::Code[] = R"cpp(
using torch::Tensor;
using Tensors = std::vector<Tensor>;
Tensor use(Tensor);

Tensor pure(Tensor x) { x = x.cpu(); return x + 1; }
void temporary(torch::nn::Linear net, Tensor y) { net->parameters()[0] = y; }
void kept(torch::nn::Linear net) {
  auto &first = net->parameters()[0];
  use(first);
}
void copied(Tensors &v) { for (auto t : v) t = t.cpu(); }
)cpp";

} // namespace

TEST_F(ParameterCopies, AssignedToACopy) {
  std::vector<std::string> Assignments;
  for (const LostWrite &Found : lostWrites(program()))
    Assignments.push_back(text(Found.Assignment));
  EXPECT_EQ(Assignments, (std::vector<std::string>{"net->parameters()[0] = y",
                                                   "t = t.cpu()"}));
  const std::vector<KeptElement> Kept = keptElements(program());
  ASSERT_EQ(Kept.size(), 1u);
  EXPECT_EQ(Kept.front().Variable->getName(), "first");
  EXPECT_EQ(text(Kept.front().Call), "net->parameters()");
}
