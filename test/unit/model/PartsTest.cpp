// Tuples, pairs and structures by their parts, and the ways to detach them:
// part by part, in loops over elements, and under conditions.
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct Parts : ModelTest<Parts> {
  static const char Code[];
};

const char Parts::Code[] = R"cpp(
using torch::Tensor;
using torch::nn::Linear; using torch::nn::LSTMCell; using torch::nn::LSTM;
using Pair = std::pair<Tensor, Tensor>;
using Tuple = std::tuple<Tensor, Tensor>;
struct State { Tensor h, c; };
struct Nested { State inner; Tensor rest; };
using Tensors = std::vector<Tensor>;

void tuples(LSTMCell cell, Tensor x) {
  Tuple s = cell->forward(x);
  observe("first before", std::get<0>(s));
  std::get<0>(s).detach_();
  observe("first", std::get<0>(s));
  observe("second", std::get<1>(s));
  std::get<1>(s) = std::get<1>(s).detach();
  observe("second after", std::get<1>(s));
}
void pairs(Linear net, Tensor x) {
  Tensor y = net->forward(x);
  Pair p(y, y);
  p.first = p.first.detach();
  observe("p.first", p.first);
  observe("p.second", p.second);
  Pair q = p;
  observe("q.first", q.first);
  observe("q.second", q.second);
}
State run(Linear net, Tensor x) { return {net->forward(x), net->forward(x)}; }
void structs(Linear net, Tensor x) {
  State s = run(net, x);
  s.h.detach_();
  observe("s.h", s.h);
  observe("s.c", s.c);
}
void nested(Linear net, Tensor x) {
  Nested n{run(net, x), net->forward(x)};
  n.inner.c = n.inner.c.detach();
  observe("n.inner.h", n.inner.h);
  observe("n.inner.c", n.inner.c);
  observe("n.rest", n.rest);
}
struct Member {
  Tuple state_;
  State parts_;
  void go(LSTMCell cell, Tensor x) {
    state_ = cell->forward(x, state_);
    std::get<1>(state_).detach_();
    observe("member first", std::get<0>(state_));
    observe("member second", std::get<1>(state_));
    parts_.h = x.detach();
    observe("untouched part", parts_.c);
  }
};
void bindings(LSTMCell cell, Tensor x) {
  Tuple s = cell->forward(x);
  auto &[h, c] = s;
  c = c.detach();
  observe("bound h", std::get<0>(s));
  observe("bound c", std::get<1>(s));
}
// Known whole on one path and by parts on the other.
void joins(LSTMCell cell, Tensor x, bool some, bool other) {
  Tuple s = cell->forward(x);
  if (some)
    std::get<0>(s) = torch::zeros({2});
  observe("joined first", std::get<0>(s));
  observe("joined second", std::get<1>(s));
  Tuple t = std::make_tuple(torch::zeros({2}), torch::zeros({2}));
  if (other)
    t = cell->forward(x);
  observe("either first", std::get<0>(t));
  std::get<0>(t).detach_();
  observe("either detached", std::get<0>(t));
  observe("either second", std::get<1>(t));
  Tuple u = cell->forward(x);
  if (other) {
    std::get<0>(u).detach_();
    std::get<1>(u).detach_();
  } else {
    u = std::make_tuple(torch::zeros({2}), torch::zeros({2}));
  }
  observe("all first", std::get<0>(u));
  observe("all second", std::get<1>(u));
}
void ties(LSTM net, Tensor x) {
  Tensor out, h, c;
  Tuple s;
  std::tie(out, s) = net->forward(x);
  observe("tied out", out);
  observe("tied part", std::get<1>(s));
  std::tie(out, std::ignore) = net->forward(x);
  std::tie(h, c) = std::make_tuple(out.detach(), out);
  observe("tied detached", h);
  observe("tied graph", c);
  std::forward_as_tuple(out, std::tie(h, c)) = net->forward(x);
  observe("forwarded h", h);
  std::tie(h, c) = Tuple(h.detach(), c.detach());
  observe("forwarded h after", h);
  observe("forwarded c after", c);
}

std::array<Tensor, 2> both(Linear net, Tensor x) {
  return {net->forward(x), x.detach()};
}
void arrays(Linear net, Tensor x, size_t i) {
  auto a = both(net, x);
  observe("array 0", a[0]);
  observe("array 1", a.at(1));
  observe("array i", a[i]);
  auto [first, second] = a;
  observe("array first", first);
  observe("array second", std::get<1>(a));
  a[i] = net->forward(x);
  observe("array 1 after a[i]", a[1]);
  for (auto &t : a)
    t = t.detach();
  observe("array detached", a[0]);
  std::array<Tensor, 20> many{net->forward(x)};
  observe("long array", many[7]);
}
void arrayByParts(Linear net, Tensor x) {
  std::array<Tensor, 2> a{net->forward(x), net->forward(x)};
  a[0] = a[0].detach();
  observe("part 0", a[0]);
  observe("part 1", a[1]);
}

void rangeFor(Linear net, Tensor x) {
  Tensors states(2);
  states[0] = net->forward(x);
  observe("ranged before", states[1]);
  for (auto &s : states)
    s = s.detach();
  observe("ranged", states[1]);
}
void rangeForInPlace(Linear net, Tensor x) {
  Tensors states{net->forward(x), net->forward(x)};
  for (Tensor &s : states) {
    s.detach_();
  }
  observe("ranged in place", states[0]);
}
void index(Linear net, Tensor x) {
  Tensors states(2);
  states[0] = net->forward(x);
  for (size_t i = 0; i < states.size(); ++i)
    states[i] = states[i].detach();
  observe("indexed", states[0]);
}
void byCopy(Linear net, Tensor x) {
  Tensors states{net->forward(x)};
  for (auto s : states)
    s = s.detach();
  observe("by copy", states[0]);
}
void others(Linear net, Tensor x) {
  Tensors states{net->forward(x)}, more{net->forward(x)};
  for (auto &s : states)
    s = s.detach();
  observe("other container", more[0]);
}

void whereDefined(Linear net, Tensor x, int n) {
  Tensor h;
  for (int t = 0; t < n; ++t) {
    if (h.defined())
      h = h.detach();
    observe("where defined", h);
    h = net->forward(x);
  }
}
void afterTheFirst(Linear net, Tensor x, int n) {
  Tensor h = torch::zeros({2});
  for (int t = 0; t < n; ++t) {
    if (t > 0) {
      h.detach_();
    }
    observe("after the first", h);
    h = net->forward(x);
  }
}
void everyFew(Linear net, Tensor x, int n, int k) {
  Tensor h = torch::zeros({2});
  for (int t = 0; t < n; ++t) {
    if (t % k == 0)
      h = h.detach();
    observe("every few", h);
    h = net->forward(x);
  }
}
void ofAnOptional(LSTMCell cell, Tensor x, int n) {
  std::optional<Tuple> s;
  for (int t = 0; t < n; ++t) {
    if (s)
      s = std::make_tuple(std::get<0>(*s).detach(), std::get<1>(*s).detach());
    observe("optional", s ? std::get<0>(*s) : x.detach());
    s = cell->forward(x, *s);
  }
}
void ofSomethingElse(Linear net, Tensor x, int n) {
  Tensor h = torch::zeros({2}), g = torch::zeros({2});
  for (int t = 0; t < n; ++t) {
    if (t > 0)
      h = h.detach();
    observe("something else", g);
    h = net->forward(x);
    g = net->forward(x);
  }
}
)cpp";

/// Neither a graph nor a doubt about one.
void expectDetached(const Entry &W, llvm::StringRef Name) {
  EXPECT_EQ(W.observed(Name).History, history::None) << Name.str();
}
void expectGraph(const Entry &W, llvm::StringRef Name) {
  EXPECT_TRUE(W.observed(Name).mayHaveGraph()) << Name.str();
}

} // namespace

TEST_F(Parts, OfATuple) {
  Entry W = entry("tuples");
  expectGraph(W, "first before");
  expectDetached(W, "first");
  expectGraph(W, "second");
  expectDetached(W, "second after");
}

TEST_F(Parts, OfAPair) {
  Entry W = entry("pairs");
  expectDetached(W, "p.first");
  expectGraph(W, "p.second");
  expectDetached(W, "q.first");
  expectGraph(W, "q.second");
}

TEST_F(Parts, OfAStructure) {
  Entry W = entry("structs");
  expectDetached(W, "s.h");
  expectGraph(W, "s.c");
}

TEST_F(Parts, OfAPart) {
  Entry W = entry("nested");
  expectGraph(W, "n.inner.h");
  expectDetached(W, "n.inner.c");
  expectGraph(W, "n.rest");
}

TEST_F(Parts, OfAMember) {
  Entry W = entry("Member::go");
  expectGraph(W, "member first");
  expectDetached(W, "member second");
  EXPECT_EQ(W.observed("untouched part").History, history::Unknown);
}

TEST_F(Parts, OfAnArray) {
  Entry W = entry("arrays");
  expectGraph(W, "array 0");
  expectDetached(W, "array 1");
  expectGraph(W, "array i");
  expectGraph(W, "array first");
  expectDetached(W, "array second");
  expectGraph(W, "array 1 after a[i]");
  expectDetached(W, "array detached");
  expectGraph(W, "long array");
  Entry P = entry("arrayByParts");
  expectDetached(P, "part 0");
  expectGraph(P, "part 1");
}

TEST_F(Parts, Bindings) {
  Entry W = entry("bindings");
  expectGraph(W, "bound h");
  expectDetached(W, "bound c");
}

TEST_F(Parts, WholeOnOnePathPartsOnTheOther) {
  Entry W = entry("joins");
  expectGraph(W, "joined first");
  EXPECT_TRUE(W.observed("joined first").History & history::None);
  expectGraph(W, "joined second");
  EXPECT_FALSE(W.observed("joined second").History & history::None);
  expectGraph(W, "either first");
  expectDetached(W, "either detached");
  expectGraph(W, "either second");
  EXPECT_TRUE(W.observed("either second").History & history::None);
  expectDetached(W, "all first");
  expectDetached(W, "all second");
}

TEST_F(Parts, Ties) {
  Entry W = entry("ties");
  expectGraph(W, "tied out");
  expectGraph(W, "tied part");
  expectDetached(W, "tied detached");
  expectGraph(W, "tied graph");
  expectGraph(W, "forwarded h");
  expectDetached(W, "forwarded h after");
  expectDetached(W, "forwarded c after");
}

TEST_F(Parts, EachElement) {
  expectGraph(entry("rangeFor"), "ranged before");
  expectDetached(entry("rangeFor"), "ranged");
  expectDetached(entry("rangeForInPlace"), "ranged in place");
  expectDetached(entry("index"), "indexed");
}

TEST_F(Parts, NotTheElements) {
  expectGraph(entry("byCopy"), "by copy");
  expectGraph(entry("others"), "other container");
}

TEST_F(Parts, WhereThereIsSomethingToDetach) {
  EXPECT_FALSE(entry("whereDefined").observed("where defined").mayHaveGraph());
  EXPECT_FALSE(
      entry("afterTheFirst").observed("after the first").mayHaveGraph());
  EXPECT_FALSE(entry("ofAnOptional").observed("optional").mayHaveGraph());
}

TEST_F(Parts, NotOnEveryStep) {
  expectGraph(entry("everyFew"), "every few");
  expectGraph(entry("ofSomethingElse"), "something else");
}
