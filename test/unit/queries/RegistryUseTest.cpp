// Whether anything in a program asks modules for what they have registered.
#include "queries/modules/RegistryUse.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

static bool uses(llvm::StringRef Code) {
  Model M(Code);
  return M.isRead() && mayUseRegistered(M.program());
}

TEST(RegistryUse, FixedFilters) {
  EXPECT_FALSE(uses(R"cpp(
    struct Edges {
      explicit Edges(const torch::Tensor &kernel) : conv(torch::nn::Conv2dOptions(1, 1, 3)) {
        conv->weight = kernel;
        layers.push_back(conv);
      }
      torch::Tensor of(const torch::Tensor &x) { return conv->forward(x) + conv(x) + layers[0](x); }
      torch::nn::Conv2d conv;
      std::vector<torch::nn::Conv2d> layers;
    };
    static torch::Tensor run(Edges &edges) { return edges.of(torch::rand({1, 1, 4, 4})); }
    static torch::nn::Conv2d same(torch::nn::Conv2d conv) { return conv; }
    int main() {
      Edges edges(torch::rand({1, 1, 3, 3}));
      same(edges.conv);
      torch::save(run(edges), "edges.pt");
    })cpp"));
}

TEST(RegistryUse, WhatAsks) {
  for (const char *Asks :
       {"conv->to(torch::kCUDA)", "conv->parameters()", "conv->named_buffers()",
        "conv->zero_grad()", "conv->eval()", "torch::save(conv, \"c.pt\")",
        "std::cout << *conv", "conv->clone()", "conv->children()",
        "conv->modules()", "inspect(conv)", "inspect(*conv)"})
    EXPECT_TRUE(uses("void inspect(const torch::nn::Module &);"
                     "void inspect(torch::nn::Conv2d);"
                     "int main() { torch::nn::Conv2d conv("
                     "torch::nn::Conv2dOptions(1, 1, 3)); conv->weight = "
                     "torch::rand({1, 1, 3, 3}); " +
                     std::string(Asks) + "; }"))
        << Asks;
}

TEST(RegistryUse, WhatIsNotSeen) {
  EXPECT_TRUE(uses("void fill(torch::nn::Conv2d conv) { conv->weight = "
                   "torch::rand({1, 1, 3, 3}); }"))
      << "no main()";
  EXPECT_TRUE(uses(R"cpp(
    struct Other { explicit Other(torch::nn::Linear); };
    int main() { torch::nn::Linear fc(2, 2); Other other(fc); })cpp"));
  EXPECT_TRUE(uses(R"cpp(
    struct Net : torch::nn::Module { void keep(); };
    int main() { Net net; net.keep(); })cpp"));
  EXPECT_TRUE(uses(R"cpp(
    struct Pair { torch::nn::Linear first{2, 2}; };
    void write(const std::map<int, std::shared_ptr<Pair>> &);
    int main() { std::map<int, std::shared_ptr<Pair>> pairs; write(pairs); })cpp"));
  EXPECT_FALSE(uses(R"cpp(
    struct Pair { torch::nn::Linear first{2, 2}; };
    void write(const std::map<int, torch::Tensor> &);
    int main() { std::map<int, torch::Tensor> made; Pair pair; write(made); })cpp"));
}
