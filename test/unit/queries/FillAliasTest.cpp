// Containers whose elements are one object. The tests of torch-fill-alias
// (test/checks) have many more programs.
#include "results/FillAlias.h"
#include "model/Model.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;
using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct FillAliases : ModelTest<FillAliases> {
  static const char Code[];
  static Program &program() { return Shared->program(); }
  static std::string text(const Expr *E) { return E ? program().text(E) : ""; }
};

const char FillAliases::Code[] = R"cpp(
using torch::Tensor;
using Tensors = std::vector<Tensor>;
Tensor use(Tensor);

void filled(Tensor x) {
  Tensors sums(3, torch::zeros({2}));
  sums[0] += x;
  use(sums[1]);
}
void onlyRead() {
  Tensors ones(3, torch::ones({2}));
  use(ones[1]);
}
void layers() {
  std::vector<torch::nn::Linear> all(3, torch::nn::Linear(2, 2));
  all[0]->zero_grad();
}
)cpp";

} // namespace

TEST_F(FillAliases, SharedByAllElements) {
  std::vector<std::string> Fills;
  for (const SharedFill &Found : sharedFills(program()))
    Fills.push_back(text(Found.Fill->Operand) + ": " +
                    (Found.Write ? text(Found.Write->Site) : ""));
  EXPECT_EQ(Fills, (std::vector<std::string>{"torch::zeros({2}): sums[0] += x",
                                             "torch::nn::Linear(2, 2): "}));
}
