// Tensors that a loop makes afresh. The tests of torch-allocation-in-loop
// (test/checks) have many more programs.
#include "memory/AllocationInLoop.h"
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

struct Allocations : LoopWork<Allocations> {
  static const char Code[];
  static std::vector<RepeatedAllocation> ask(llvm::StringRef Root) {
    return in(Root, repeatedAllocations(Shared->program()));
  }
  static RepeatedAllocation one(llvm::StringRef Root) {
    auto All = ask(Root);
    EXPECT_EQ(All.size(), 1u) << Root.str();
    return All.empty() ? RepeatedAllocation() : All.front();
  }
};

const char Allocations::Code[] = R"cpp(
using torch::Tensor;
using torch::nn::Linear;
using Tensors = std::vector<Tensor>;

void constant(Linear net, const Tensors &xs) {
  for (const auto &x : xs) {
    Tensor labels = torch::ones({64, 64});
    (x * labels).sum().backward();
  }
}
void scratch(const Tensors &xs, int64_t n) {
  for (const auto &x : xs) {
    Tensor buffer = torch::zeros({n, n});
    buffer.add_(x);
    buffer.sum().item<float>();
  }
}
void assigned(const Tensors &xs, int64_t n) {
  Tensor buffer;
  for (const auto &x : xs) {
    buffer = torch::zeros({n, n});
    buffer.add_(x);
    buffer.sum().item<float>();
  }
}
void unnamed(const Tensors &xs, int64_t n) {
  for (const auto &x : xs)
    (x + torch::full({n, n}, 2)).sum().item<float>();
}
void moved(const Tensors &xs, int64_t n, torch::Device device) {
  for (const auto &x : xs) {
    Tensor mask = torch::ones({n, n}).to(device);
    (x * mask).sum().item<float>();
  }
}
void drawn(const Tensors &xs, int64_t n) {
  for (const auto &x : xs) {
    Tensor noise = torch::randn({n, n});
    (x * noise).sum().item<float>();
  }
}
void inside(const Tensors &xs, int64_t n) {
  for (const auto &x : xs) {
    const int64_t half = n / 2;
    Tensor mask = torch::ones({half, n});
    (x * mask).sum().item<float>();
  }
}
Tensor make(int64_t n) {
  Tensor mask = torch::ones({n, n});
  return mask;
}
void byHelper(const Tensors &xs, int64_t n) {
  for (const auto &x : xs)
    (x * make(n)).sum().item<float>();
}
void like(const Tensors &xs, Tensor w) {
  for (const auto &x : xs) {
    Tensor mask = torch::ones_like(w);
    (x * mask).sum().item<float>();
  }
}
struct Holder {
  Tensor mask_;
  void go(const Tensors &xs, int64_t n) {
    for (const auto &x : xs) {
      mask_ = torch::ones({n, n});
      (x * mask_).sum().item<float>();
    }
  }
};
void innermost(const Tensors &xs, int64_t n) {
  for (int epoch = 0; epoch < 3; ++epoch)
    for (const auto &x : xs) {
      Tensor mask = torch::ones({n, n});
      (x * mask).sum().item<float>();
    }
}

// Quiet.
void varying(const Tensors &xs) {
  for (const auto &x : xs)
    (torch::ones({x.size(0), 64}) * x).sum().item<float>();
}
void kept(int64_t n, Tensors &out) {
  for (int i = 0; i < 3; ++i) {
    Tensor t = torch::zeros({n, n});
    out.push_back(t);
  }
}
void keptAsView(int64_t n, Tensors &out) {
  for (int i = 0; i < 3; ++i) {
    Tensor t = torch::zeros({n, n});
    out.push_back(t.view({-1}));
  }
}
void conditional(const Tensors &xs, int64_t n) {
  for (const auto &x : xs)
    if (x.defined())
      (torch::ones({n, n}) * x).sum().item<float>();
}
void small(const Tensors &xs) {
  for (const auto &x : xs) {
    Tensor one = torch::ones({4});
    Tensor buffer = torch::zeros({16, 16});
    buffer.add_(x * one);
    buffer.sum().item<float>();
  }
}
void fromData(const Tensors &xs, const std::vector<float> &data) {
  for (const auto &x : xs)
    (torch::tensor(data) * x).sum().item<float>();
}
void leaf(int64_t n) {
  for (int i = 0; i < 3; ++i)
    torch::zeros({n, n}, torch::requires_grad()).sum().backward();
}
void begins(const Tensors &xs, Linear net, int64_t n) {
  for (int i = 0; i < 3; ++i) {
    Tensor h = torch::zeros({n, n});
    for (const auto &x : xs)
      h = net->forward(x + h);
    h.sum().backward();
  }
}
void foreign(Tensor t);
void handedOut(int64_t n) {
  for (int i = 0; i < 3; ++i) {
    Tensor t = torch::zeros({n, n});
    foreign(t);
  }
}
void savedBeyond(int64_t n, const Tensors &xs) {
  Tensor w = torch::randn({64, 64}, torch::requires_grad()), total;
  for (const auto &x : xs) {
    Tensor buffer = torch::zeros({n, n});
    buffer.add_(x);
    total = total + (w * buffer).sum();
  }
  total.backward();
}
void once(int64_t n) {
  Tensor t = torch::zeros({n, n});
  t.sum().item<float>();
}
)cpp";

} // namespace

TEST_F(Allocations, Constant) {
  RepeatedAllocation Found = one("constant");
  ASSERT_TRUE(Found.Entry);
  EXPECT_EQ(text(Found.Allocate->Site), "torch::ones({64, 64})");
  EXPECT_EQ(Found.Factory, "ones");
  EXPECT_TRUE(Found.IsConstant);
  ASSERT_TRUE(Found.Variable);
  EXPECT_EQ(Found.Variable->getName(), "labels");
  EXPECT_FALSE(Found.AssignedTo);
  EXPECT_TRUE(Found.CanMove);
  ASSERT_TRUE(Found.Around);
  EXPECT_TRUE(Found.Around->contains(Found.Allocate->Point));
}

TEST_F(Allocations, Scratch) {
  RepeatedAllocation Found = one("scratch");
  ASSERT_TRUE(Found.Entry);
  EXPECT_FALSE(Found.IsConstant);
  EXPECT_TRUE(Found.CanMove);
  EXPECT_EQ(Found.Factory, "zeros");
}

TEST_F(Allocations, AssignedInTheLoop) {
  RepeatedAllocation Found = one("assigned");
  ASSERT_TRUE(Found.Entry);
  EXPECT_FALSE(Found.Variable);
  EXPECT_EQ(text(Found.AssignedTo), "buffer");
  EXPECT_FALSE(Found.CanMove);
  RepeatedAllocation Member = one("Holder::go");
  ASSERT_TRUE(Member.Entry);
  EXPECT_EQ(text(Member.AssignedTo), "mask_");
  EXPECT_TRUE(Member.IsConstant);
}

TEST_F(Allocations, WithoutAName) {
  RepeatedAllocation Found = one("unnamed");
  ASSERT_TRUE(Found.Entry);
  EXPECT_EQ(Found.Factory, "full");
  EXPECT_FALSE(Found.Variable);
  EXPECT_FALSE(Found.AssignedTo);
  EXPECT_TRUE(Found.IsConstant);
}

TEST_F(Allocations, MovedToItsDevice) {
  RepeatedAllocation Found = one("moved");
  ASSERT_TRUE(Found.Entry);
  ASSERT_TRUE(Found.Variable);
  EXPECT_EQ(Found.Variable->getName(), "mask");
  EXPECT_TRUE(Found.CanMove);
}

// To refill it costs what it costs to make it.
TEST_F(Allocations, RandomNumbersAreNoScratch) {
  EXPECT_TRUE(
      entry("drawn").of(repeatedAllocations(Shared->program())).empty());
}

TEST_F(Allocations, MadeWithWhatTheLoopDeclares) {
  RepeatedAllocation Found = one("inside");
  ASSERT_TRUE(Found.Entry);
  EXPECT_TRUE(Found.Variable);
  EXPECT_FALSE(Found.CanMove);
}

TEST_F(Allocations, ByAHelper) {
  RepeatedAllocation Found = one("byHelper");
  ASSERT_TRUE(Found.Entry);
  EXPECT_TRUE(Found.IsConstant);
  EXPECT_FALSE(Found.CanMove);
  EXPECT_TRUE(Found.Allocate->In->Caller);
}

TEST_F(Allocations, LikeAnother) {
  RepeatedAllocation Found = one("like");
  ASSERT_TRUE(Found.Entry);
  EXPECT_EQ(Found.Factory, "ones_like");
  EXPECT_TRUE(Found.CanMove);
}

TEST_F(Allocations, InTheInnermostLoop) {
  RepeatedAllocation Found = one("innermost");
  ASSERT_TRUE(Found.Entry);
  auto Around = Found.Entry->loopsAround(Found.Allocate->Point);
  ASSERT_EQ(Around.size(), 2u);
  EXPECT_EQ(Found.Around, Around.back());
}

TEST_F(Allocations, Quiet) {
  for (const char *Root :
       {"varying", "kept", "keptAsView", "conditional", "small", "fromData",
        "leaf", "begins", "handedOut", "savedBeyond", "once"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}
