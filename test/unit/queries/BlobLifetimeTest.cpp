// Memory that tensors use and do not own: who lends it, when it ends, and who
// uses it then. The tests of torch-blob-lifetime (test/checks) have more
// programs.
#include "lifetime/BlobLifetime.h"
#include "model/Model.h"

using namespace clang;
using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct Loans : ModelTest<Loans> {
  static const char Code[];

  static std::vector<OutlivedLoan> ask(llvm::StringRef Root) {
    std::vector<OutlivedLoan> Result = outlivedBlobs(Shared->program());
    llvm::erase_if(Result, [&](const OutlivedLoan &Found) {
      return Found.Entry->root().Function->getQualifiedNameAsString() != Root;
    });
    return Result;
  }
  static std::string owner(const OutlivedLoan &Found) {
    return Found.Entry->places().name(Found.Taken->Owner);
  }
};

const char Loans::Code[] = R"cpp(
using torch::Tensor;
using Values = std::vector<float>;
Values load();

void lent(Values &outer, float *unknown) {
  Values values = load();
  float array[3];
  float *first = values.data() + 1;
  observe("vector", torch::from_blob(first, {2}));
  observe("array", torch::from_blob(array, {3}));
  observe("reference", torch::from_blob(outer.data(), {3}));
  observe("pointer", torch::from_blob(unknown, {3}));
  observe("deleter", torch::from_blob(array, {3}, [](void *) {}));
}
void kept(torch::Device device, torch::Dtype type) {
  Values values = load();
  Tensor t = torch::from_blob(values.data(), {2, 2});
  observe("view", t.view(-1).unsqueeze(0));
  observe("contiguous", t.contiguous());
  observe("transposed", t.t().contiguous());
  observe("device", t.to(device));
  observe("cuda", t.to(torch::kCUDA));
  observe("same", t.to(torch::kFloat));
  observe("other", t.to(torch::kDouble));
  observe("type", t.to(type));
  observe("clone", t.clone());
  observe("sum", t + 1);
}
Tensor returned() {
  Values values = load();
  return torch::from_blob(values.data(), {3});
}
double touched() {
  Tensor t;
  {
    Values values = load();
    t = torch::from_blob(values.data(), {3});
  }
  return t.sum().item<double>();
}
double temporary() {
  Tensor t = torch::from_blob(load().data(), {3});
  return t.sum().item<double>();
}
double deleted() {
  auto *values = new float[3];
  Tensor t = torch::from_blob(values, {3});
  delete[] values;
  return t.sum().item<double>();
}
double cleared() {
  Values values = load();
  Tensor t = torch::from_blob(values.data(), {3});
  values.clear();
  return t.sum().item<double>();
}
double inTime() {
  Values values = load();
  Tensor t = torch::from_blob(values.data(), {3});
  double sum = t.sum().item<double>();
  values.clear();
  return sum;
}
std::pair<Values, Tensor> moved() {
  Values values = load();
  Tensor t = torch::from_blob(values.data(), {3});
  return {std::move(values), t};
}
struct Keeper {
  Tensor last;
  void keep() {
    Values values = load();
    last = torch::from_blob(values.data(), {3});
  }
};
static Tensor handsOut() {
  Values values = load();
  return torch::from_blob(values.data(), {3});
}
static Tensor lentBy(Values &values) {
  return torch::from_blob(values.data(), {3});
}
void neverReads() { Tensor t = handsOut(); }
double reads() { return handsOut().sum().item<double>(); }
void keeps() {
  Keeper keeper;
  keeper.keep();
}
void lends() {
  Values values = load();
  Tensor t = lentBy(values);
}
void captures() {
  Tensor t;
  [&] {
    Values values = load();
    t = torch::from_blob(values.data(), {3});
  }();
}
)cpp";

TEST_F(Loans, AreTakenFromOwnersThatAreKnown) {
  Entry W = entry("lent");
  EXPECT_EQ(W.observed("vector").Loans.size(), 1u);
  EXPECT_EQ(W.observed("array").Loans.size(), 1u);
  EXPECT_TRUE(W.observed("reference").Loans.empty());
  EXPECT_TRUE(W.observed("pointer").Loans.empty());
  EXPECT_TRUE(W.observed("deleter").Loans.empty());
}

TEST_F(Loans, StayWhereAnOperationMayReturnTheSameMemory) {
  Entry W = entry("kept");
  for (const char *Name : {"view", "contiguous", "device", "same"})
    EXPECT_EQ(W.observed(Name).Loans.size(), 1u) << Name;
  for (const char *Name :
       {"transposed", "cuda", "other", "type", "clone", "sum"})
    EXPECT_TRUE(W.observed(Name).Loans.empty()) << Name;
}

TEST_F(Loans, EndWithTheirOwner) {
  const auto All = ask("returned");
  ASSERT_EQ(All.size(), 1u);
  EXPECT_EQ(owner(All[0]), "values");
  EXPECT_EQ(All[0].End->How, EndKind::Scope);
  EXPECT_TRUE(All[0].Hold);
  EXPECT_FALSE(All[0].Touch);
}

TEST_F(Loans, AreReadAfterwards) {
  const std::pair<const char *, EndKind> Cases[] = {
      {"touched", EndKind::Scope},
      {"temporary", EndKind::FullExpression},
      {"deleted", EndKind::Delete},
      {"cleared", EndKind::Reallocation}};
  for (const auto &[Root, How] : Cases) {
    const auto All = ask(Root);
    ASSERT_EQ(All.size(), 1u) << Root;
    EXPECT_EQ(All[0].End->How, How) << Root;
    EXPECT_TRUE(All[0].Touch) << Root;
  }
}

TEST_F(Loans, AreFineWhereTheMemoryLivesOn) {
  EXPECT_TRUE(ask("inTime").empty());
  EXPECT_TRUE(ask("moved").empty());
}

// The function that owned the memory is wrong, whoever reads it.
TEST_F(Loans, AreHandedOutByTheFunctionThatOwns) {
  const auto Unread = ask("neverReads");
  ASSERT_EQ(Unread.size(), 1u);
  ASSERT_TRUE(Unread[0].Hold);
  EXPECT_EQ(Unread[0].Hold->In->Function->getName(), "handsOut");
  EXPECT_TRUE(isReturned(Unread[0]));
  const auto Read = ask("reads");
  ASSERT_EQ(Read.size(), 1u);
  EXPECT_TRUE(Read[0].Touch);
  const auto Kept = ask("keeps");
  ASSERT_EQ(Kept.size(), 1u);
  ASSERT_TRUE(Kept[0].Hold);
  EXPECT_FALSE(isReturned(Kept[0]));
  EXPECT_TRUE(ask("lends").empty());
  EXPECT_TRUE(ask("captures").empty());
}

} // namespace
