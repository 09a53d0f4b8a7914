// Transfers that a loop repeats. The tests of torch-repeated-transfer (test/
// checks) have many more programs.
#include "transfer/RepeatedTransfer.h"
#include "model/Model.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;
using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

template <class Derived> struct LoopWork : ModelTest<Derived> {
  template <class T>
  static std::vector<T> in(llvm::StringRef Root, std::vector<T> All) {
    llvm::erase_if(All, [&](const T &Found) {
      return Found.Entry->root().Function->getQualifiedNameAsString() != Root;
    });
    return All;
  }
  static std::string text(const Expr *E) {
    return E ? ModelTest<Derived>::Shared->program().text(E) : "";
  }
};

struct Transfers : LoopWork<Transfers> {
  static const char Code[];
  static std::vector<RepeatedTransfer> ask(llvm::StringRef Root) {
    return in(Root, repeatedTransfers(Shared->program()));
  }
  static RepeatedTransfer one(llvm::StringRef Root) {
    auto All = ask(Root);
    EXPECT_EQ(All.size(), 1u) << Root.str();
    return All.empty() ? RepeatedTransfer() : All.front();
  }
};

const char Transfers::Code[] = R"cpp(
using torch::Tensor;
using Tensors = std::vector<Tensor>;

void copies(Tensor weights, torch::Device device, const Tensors &xs) {
  for (const auto &x : xs) {
    Tensor w = weights.to(device);
    (x * w).sum().item<float>();
  }
}
void converts(Tensor scale, const Tensors &xs) {
  for (const auto &x : xs)
    (x * scale.to(torch::kFloat)).sum().item<float>();
}
void samples(const Tensors &xs, torch::Device device) {
  Tensors batch;
  for (const auto &x : xs)
    batch.push_back(x.to(device));
  torch::stack(batch).sum().item<float>();
}
void samplesByName(const Tensors &xs, torch::Device device) {
  Tensors batch;
  for (const auto &x : xs) {
    auto there = x.to(device);
    batch.push_back(there);
  }
  torch::cat(batch).sum().item<float>();
}
struct Model : torch::nn::Module {
  Tensor buffer, plain;
  Model() {
    buffer = register_buffer("buffer", torch::zeros({4}));
    plain = torch::zeros({4});
  }
  void go(torch::Device device, const Tensors &xs) {
    for (const auto &x : xs)
      (x * buffer.to(device)).sum().item<float>();
  }
  void other(torch::Device device, const Tensors &xs) {
    for (const auto &x : xs)
      (x * plain.to(device)).sum().item<float>();
  }
};
Tensor move(const Tensor &t, torch::Device device) { return t.to(device); }
void byHelper(Tensor weights, torch::Device device, const Tensors &xs) {
  for (const auto &x : xs)
    (x * move(weights, device)).sum().item<float>();
}

float readAfterwards(Tensor weights, const Tensors &xs) {
  float sum = 0;
  for (const auto &x : xs)
    sum += (x * weights.to(torch::kCUDA)).sum().item<float>();
  return sum + *weights.data_ptr<float>();
}
float writtenBefore(Tensor weights, const Tensors &xs) {
  float *first = weights.data_ptr<float>(), sum = 0;
  for (const auto &x : xs)
    sum += (x * weights.to(torch::kCUDA)).sum().item<float>() + ++*first;
  return sum;
}
void elements(const Tensors &xs, const Tensors &weights) {
  for (const auto &x : xs)
    for (size_t i = 0; i < weights.size(); ++i)
      (x * weights[i].to(torch::kDouble)).sum().item<double>();
}
void fewer(const Tensors &xs) {
  for (size_t k = 0; k < xs.size(); ++k)
    for (size_t i = k; i < xs.size(); ++i)
      xs[i].to(torch::kDouble).sum().item<double>();
}
struct Heads {
  std::vector<torch::nn::Linear> all;
  Tensor operator()(Tensor x) {
    for (auto &head : all)
      x = head->forward(x);
    return x;
  }
};
void throughHeads(Heads heads, Tensor shift, const Tensors &xs) {
  auto shifted = [&](const Tensor &x) { return x - shift.to(torch::kFloat); };
  for (const auto &x : xs)
    heads(shifted(x)).sum().backward();
}
void epochs(torch::nn::Linear net, Tensor shift, const Tensors &xs) {
  for (int epoch = 0; epoch < 3; ++epoch) {
    Tensor s = shift.to(torch::kFloat);
    for (const auto &x : xs)
      net->forward(x - s).sum().backward();
  }
}

// Quiet.
void batches(const Tensors &xs, torch::Device device) {
  for (const auto &x : xs)
    x.to(device).sum().item<float>();
}
void changed(Tensor w, torch::Device device, int n) {
  for (int i = 0; i < n; ++i) {
    w.to(device).sum().item<float>();
    w.add_(1);
  }
}
void itself(Tensor w, torch::Device device, int n) {
  for (int i = 0; i < n; ++i)
    w = w.to(device);
}
void there(torch::Device device, int n) {
  Tensor w = torch::zeros({64, 64}, device),
         v = torch::ones({64, 64}).to(device);
  for (int i = 0; i < n; ++i)
    (w.to(device) * v.to(device)).sum().item<float>();
}
void ofTheType(int n) {
  Tensor w = torch::zeros({64, 64}, torch::kFloat32);
  for (int i = 0; i < n; ++i)
    w.to(torch::kFloat).sum().item<float>();
}
void ofItsOwn(Tensor w, int n) {
  for (int i = 0; i < n; ++i)
    w.to(w.dtype()).sum().item<float>();
}
void first(Tensor w, torch::Device device, int n) {
  for (int i = 0; i < n; ++i)
    if (i == 0)
      w.to(device).sum().item<float>();
}
void cached(Tensor w, torch::Device device, int n) {
  Tensor c;
  for (int i = 0; i < n; ++i) {
    if (!c.defined())
      c = w.to(device);
    c.sum().item<float>();
  }
}
void workingCopy(Tensor w, torch::Device device, int n) {
  for (int i = 0; i < n; ++i) {
    Tensor c = w.to(device);
    c.add_(i);
  }
}
void leaf(torch::Device device, int n) {
  Tensor w = torch::zeros({64, 64}, torch::requires_grad());
  for (int i = 0; i < n; ++i)
    w.to(device).sum().backward();
}
void devices(Tensor w, const std::vector<torch::Device> &all) {
  for (const auto &device : all)
    w.to(device).sum().item<float>();
}
void notStacked(const Tensors &xs, torch::Device device) {
  Tensors batch;
  for (const auto &x : xs)
    batch.push_back(x.to(device));
}
void convertedSamples(const Tensors &xs) {
  Tensors batch;
  for (const auto &x : xs)
    batch.push_back(x.to(torch::kFloat));
  torch::stack(batch).sum().item<float>();
}
void once(Tensor w, torch::Device device) { w.to(device).sum().item<float>(); }
)cpp";

} // namespace

TEST_F(Transfers, Copies) {
  RepeatedTransfer Found = one("copies");
  ASSERT_TRUE(Found.Entry);
  EXPECT_EQ(Found.How, RepeatedTransfer::Copies);
  EXPECT_EQ(text(Found.Transfer->Site), "weights.to(device)");
  ASSERT_TRUE(Found.Variable);
  EXPECT_EQ(Found.Variable->getName(), "w");
  EXPECT_TRUE(Found.CanMove);
  ASSERT_TRUE(Found.Around);
  EXPECT_TRUE(Found.Around->contains(Found.Transfer->Point));
}

TEST_F(Transfers, Converts) {
  RepeatedTransfer Found = one("converts");
  ASSERT_TRUE(Found.Entry);
  EXPECT_EQ(Found.How, RepeatedTransfer::Converts);
  EXPECT_FALSE(Found.Variable);
  EXPECT_FALSE(Found.CanMove);
}

TEST_F(Transfers, Samples) {
  for (const char *Root : {"samples", "samplesByName"}) {
    RepeatedTransfer Found = one(Root);
    ASSERT_TRUE(Found.Entry) << Root;
    EXPECT_EQ(Found.How, RepeatedTransfer::Samples) << Root;
    EXPECT_FALSE(Found.CanMove) << Root;
  }
}

TEST_F(Transfers, ByAHelper) {
  RepeatedTransfer Found = one("byHelper");
  ASSERT_TRUE(Found.Entry);
  EXPECT_EQ(Found.How, RepeatedTransfer::Copies);
  EXPECT_FALSE(Found.CanMove);
}

TEST_F(Transfers, BuffersMoveWithTheirModule) {
  EXPECT_TRUE(ask("Model::go").empty());
  EXPECT_EQ(ask("Model::other").size(), 1u);
}

TEST_F(Transfers, ACopyThatIsWrittenCannotMove) {
  RepeatedTransfer Found = one("workingCopy");
  ASSERT_TRUE(Found.Entry);
  ASSERT_TRUE(Found.Variable);
  EXPECT_EQ(Found.Variable->getName(), "c");
  EXPECT_FALSE(Found.CanMove)
      << "the next iteration would find what this one left";
}

TEST_F(Transfers, Quiet) {
  for (const char *Root : {"batches", "changed", "itself", "leaf", "devices",
                           "notStacked", "convertedSamples", "once"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}

// Through a pointer that is taken afterwards nothing was written before.
TEST_F(Transfers, APointerCountsFromWhereItIsTaken) {
  EXPECT_EQ(ask("readAfterwards").size(), 1u);
  EXPECT_TRUE(ask("writtenBefore").empty());
}

TEST_F(Transfers, OfEachElementAgain) {
  RepeatedTransfer Found = one("elements");
  ASSERT_TRUE(Found.Entry);
  EXPECT_EQ(Found.How, RepeatedTransfer::Converts);
  EXPECT_EQ(Found.Entry->loopsAround(Found.Transfer->Point).front(),
            Found.Around);
  EXPECT_FALSE(Found.CanMove);
  EXPECT_TRUE(ask("fewer").empty());
}

TEST_F(Transfers, ANetworkMayRunItsLayersInALoop) {
  EXPECT_EQ(ask("throughHeads").size(), 1u);
  EXPECT_TRUE(ask("epochs").empty());
}

TEST_F(Transfers, ThereAlready) {
  for (const char *Root : {"there", "ofTheType", "ofItsOwn"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}

TEST_F(Transfers, UnderACondition) {
  EXPECT_TRUE(ask("first").empty());
  EXPECT_TRUE(ask("cached").empty());
}
