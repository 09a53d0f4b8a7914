// What is known of the sizes of tensors, and of the order of their elements.
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct ShapeTest : ModelTest<ShapeTest> {
  static const char Code[];
};

const char ShapeTest::Code[] = R"cpp(
using torch::Tensor;

void sizes(int64_t n, bool either) {
  Tensor x = torch::zeros({2, n, 5});
  observe("factory", x);
  observe("of another", torch::empty(x.sizes()));
  observe("of numbers", torch::arange(4));
  observe("of content", torch::tensor({1.0, 2.0, 3.0}));
  observe("unsqueezed", x.unsqueeze(1));
  observe("unsqueezed from the end", x.unsqueeze(-2));
  observe("viewed", x.view({-1, 1}));
  observe("transposed", x.transpose(0, 2));
  observe("permuted", x.permute({2, 0, 1}));
  observe("matrix", torch::zeros({2, 3}).t());
  observe("expanded", torch::zeros({2, 1}).expand({-1, 7}));
  observe("repeated", torch::zeros({2, 1}).repeat({3, 1, 4}));
  observe("kept", x.mean(1, true));
  observe("left out", x.sum(0));
  observe("two kept", x.mean({-3, -1}, true));
  observe("two left out", x.mean({-3, -2}));
  observe("kept behind another argument", x.std({1}, /*unbiased=*/false, true));
  observe("deviation", x.std(/*unbiased=*/false));
  observe("if so", x.sum(1, either));
  observe("all", x.sum());
  Tensor loss = torch::mse_loss(x, x);
  observe("loss", loss);
  observe("weighted", 0.5 * loss + loss / 2);
  observe("loss by options", torch::nn::functional::cross_entropy(x, x));
  observe("not reduced", torch::mse_loss(x, x, at::Reduction::None));
  observe("row", x[0]);
  observe("stretched", torch::zeros({4, 1}) + torch::zeros({1, 3}));
  observe("pointwise", torch::relu(x * 2));
  Tensor joined = torch::zeros({1, 5});
  if (either)
    joined = torch::zeros({1, 6});
  observe("joined", joined);
  Tensor changed = torch::zeros({1, 5});
  changed.squeeze_();
  observe("changed", changed);
  Tensor rows = torch::zeros({1, 5});
  rows.add_(1);
  observe("written", rows);
}
void partsAndProducts(Tensor x, int64_t i) {
  using namespace torch::indexing;
  Tensor m = torch::zeros({2, 3, 5}), w = torch::zeros({5, 7});
  observe("narrowed", m.narrow(1, 0, 2));
  observe("narrowed somewhere", m.narrow(i, 0, 2));
  observe("sliced from the end", m.slice(-1, 0, 2));
  observe("selected rows", m.index_select(0, torch::arange(4)));
  observe("indexed", m.index({0, Slice(), None}));
  observe("ranges", m.index({Slice(0, 1), Slice(i)}));
  observe("to a number", m.index({0, 0, 0}));
  observe("rest", m.index({"...", 0}));
  observe("by a tensor", m.index({torch::arange(4)}));
  observe("narrowed given", x.narrow(0, 0, 2));
  observe("indexed given", x.index({Slice(0, 2), Slice()}));
  observe("mm", torch::zeros({4, 5}).mm(w));
  observe("bmm", m.bmm(torch::zeros({2, 5, 6})));
  observe("matmul", torch::matmul(m, w));
  observe("of vectors", torch::matmul(torch::zeros({5}), torch::zeros({5})));
  observe("matmul given", torch::matmul(x, w));
  observe("mm given", x.mm(w));
  observe("joined given", torch::cat({x, x}));
  observe("flattened given", x.flatten());
}
struct Centred : torch::nn::Module {
  Centred() { mean = register_buffer("mean", torch::zeros({1, 5})); }
  Tensor mean;
};
void registers(torch::Device device) {
  Centred centred;
  centred.to(device);
  observe("registered", centred.mean);
}
void behindPointers() {
  auto owned = std::make_unique<Tensor>(torch::zeros({4, 5}));
  observe("behind a pointer", owned->transpose(0, 1));
  Tensor column = torch::zeros({4, 1}), *named = &column;
  observe("behind the name of one", named->unsqueeze(0));
}
void reshapeIt(Tensor &x);
void given(Tensor x, bool either) {
  observe("given", x);
  observe("front", x.unsqueeze(0));
  observe("second", x.unsqueeze(1));
  observe("back", x.unsqueeze(-1));
  observe("both", x.unsqueeze(0).unsqueeze(-1));
  observe("kept of given", x.sum(1, true));
  observe("kept at the end", x.sum({-1}, true));
  observe("two kept of given", torch::var(x, {1, 2}, true, true));
  observe("both ends kept of given", x.sum({1, -1}, true));
  observe("two left out of given", x.sum({1, 2}));
  Tensor maybe = x;
  if (either)
    maybe = torch::zeros({1, 5});
  observe("maybe", maybe);
  Tensor passed = torch::zeros({1, 5});
  reshapeIt(passed);
  observe("passed", passed);
}
void layouts(Tensor given) {
  Tensor x = torch::zeros({4, 5});
  observe("in order", x + 1);
  observe("turned", x.t());
  observe("turned elementwise", torch::relu(x.t()));
  observe("turned twice", x.t().t());
  observe("turned copy", x.t().contiguous());
  observe("turned product", x.t().mm(x));
  observe("turned vector", torch::zeros({4, 1}).t());
  observe("turned given", given.t());
  Tensor turned = torch::zeros({4, 5});
  turned.t_();
  observe("turned in place", turned);
}
)cpp";

std::string text(const Sizes &All) {
  std::string Result;
  for (unsigned I = 0; I < All.count(); ++I)
    Result +=
        (I ? "," : "") + (All[I] == Sizes::Any ? "?" : std::to_string(All[I]));
  return Result;
}

/// "2,?,5", or "1..;..1" of what is known from both ends.
std::string text(const Shape &Of) {
  if (Of.isEmpty())
    return "nothing";
  return Of.rank() ? text(Of.first())
                   : text(Of.first()) + "..;.." + text(Of.last().reversed());
}

} // namespace

TEST_F(ShapeTest, Sizes) {
  Entry W = entry("sizes");
  const std::pair<const char *, const char *> Expected[] = {
      {"factory", "2,?,5"},
      {"of another", "2,?,5"},
      {"of numbers", "4"},
      {"of content", "3"},
      {"unsqueezed", "2,1,?,5"},
      {"unsqueezed from the end", "2,?,1,5"},
      {"viewed", "?,1"},
      {"transposed", "5,?,2"},
      {"permuted", "5,2,?"},
      {"matrix", "3,2"},
      {"expanded", "2,7"},
      {"repeated", "3,2,4"},
      {"kept", "2,1,5"},
      {"left out", "?,5"},
      {"two kept", "1,?,1"},
      {"two left out", "5"},
      {"kept behind another argument", "2,1,5"},
      {"deviation", ""},
      {"if so", "..;.."},
      {"all", ""},
      {"loss", ""},
      {"weighted", ""},
      {"loss by options", ""},
      {"not reduced", "..;.."},
      {"row", "?,5"},
      {"stretched", "4,3"},
      {"pointwise", "2,?,5"},
      {"joined", "1,?"},
      {"changed", "..;.."},
      {"written", "1,5"},
  };
  for (const auto &[Name, Text] : Expected)
    EXPECT_EQ(text(W.observed(Name).InShape), Text) << Name;
}

TEST_F(ShapeTest, SizesFromTheEnds) {
  Entry W = entry("given");
  const std::pair<const char *, const char *> Expected[] = {
      {"given", "..;.."},
      {"front", "1..;.."},
      {"second", "?,1..;.."},
      {"back", "..;..1"},
      {"both", "1..;..1"},
      {"kept of given", "?,1..;.."},
      {"kept at the end", "..;..1"},
      {"two kept of given", "?,1,1..;.."},
      {"both ends kept of given", "..;.."},
      {"two left out of given", "..;.."},
      {"maybe", "..;.."},
      {"passed", "..;.."},
  };
  for (const auto &[Name, Text] : Expected)
    EXPECT_EQ(text(W.observed(Name).InShape), Text) << Name;
}

TEST_F(ShapeTest, PartsAndProducts) {
  Entry W = entry("partsAndProducts");
  const std::pair<const char *, const char *> Expected[] = {
      {"narrowed", "2,?,5"},
      {"narrowed somewhere", "?,?,?"},
      {"sliced from the end", "2,3,?"},
      {"selected rows", "?,3,5"},
      {"indexed", "?,1,5"},
      {"ranges", "?,?,5"},
      {"to a number", ""},
      {"rest", "..;.."},
      {"by a tensor", "..;.."},
      {"narrowed given", "?..;.."},
      {"indexed given", "?,?..;.."},
      {"mm", "4,7"},
      {"bmm", "2,3,6"},
      {"matmul", "?,3,7"},
      {"of vectors", "..;.."},
      {"matmul given", "..;.."},
      {"mm given", "?,7"},
      {"joined given", "?..;.."},
      {"flattened given", "?..;.."},
  };
  for (const auto &[Name, Text] : Expected)
    EXPECT_EQ(text(W.observed(Name).InShape), Text) << Name;
}

TEST_F(ShapeTest, OfWhatIsRegistered) {
  EXPECT_EQ(text(entry("registers").observed("registered").InShape), "1,5");
}

TEST_F(ShapeTest, BehindPointers) {
  Entry W = entry("behindPointers");
  EXPECT_EQ(text(W.observed("behind a pointer").InShape), "5,4");
  EXPECT_EQ(text(W.observed("behind the name of one").InShape), "1,4,1");
}

TEST_F(ShapeTest, Layouts) {
  Entry W = entry("layouts");
  for (const char *Name : {"in order", "turned copy"})
    EXPECT_EQ(W.observed(Name).InLayout.get(), Layout::Contiguous) << Name;
  for (const char *Name : {"turned", "turned elementwise"})
    EXPECT_EQ(W.observed(Name).InLayout.get(), Layout::Strided) << Name;
  for (const char *Name :
       {"turned twice", "turned product", "turned vector", "turned in place"})
    EXPECT_EQ(W.observed(Name).InLayout.get(), std::nullopt) << Name;
  EXPECT_EQ(W.observed("turned given").InLayout.get(), Layout::Reordered);
}

TEST(Shape, JoinOfDifferentRanks) {
  Shape A = Shape::whole({2, 1});
  EXPECT_FALSE(A.join(Shape()));
  EXPECT_TRUE(A.join(Shape::whole({3, 2, 1})));
  EXPECT_EQ(text(A), "?,?..;..2,1");
  EXPECT_TRUE(A.join(Shape::whole({7, 7, 1})));
  EXPECT_EQ(text(A), "?,?..;..?,1");
  EXPECT_FALSE(A.join(Shape::whole({2, 7, 1})));
  EXPECT_TRUE(A.join(Shape::any()));
  EXPECT_EQ(text(A), "..;..");
  EXPECT_EQ(Shape::whole({1, 2, 3, 4, 5, 6, 7}).rank(), std::nullopt);
}
