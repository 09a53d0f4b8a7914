// Where values go: variables, members, containers, functions and back.
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct ValuesFlow : ModelTest<ValuesFlow> {
  static const char Code[];
};

const char ValuesFlow::Code[] = R"cpp(
#include <deque>
#include <map>
using torch::Tensor;
using torch::nn::Linear;
struct Holder {
  Tensor kept, other;
  std::vector<Tensor> list;
  void keep(Tensor t) { kept = t; }
  Tensor &ref() { return kept; }
};
struct Pair { Tensor first, second; };
Tensor loss(Linear net, Tensor x) { return net->forward(x).sum(); }
void fill(Tensor &out, Linear &net, const Tensor &x) { out = net->forward(x); }
Tensor pass(Tensor t) { return t; }
std::tuple<Tensor, Tensor> both(Linear net, Tensor x) { return {net->forward(x), x}; }
Pair pair(Linear net, Tensor x) { return {net->forward(x), x}; }
template <class T> T identity(T value) { return value; }

void functions() {
  Linear net(2, 2);
  Tensor x = torch::ones({2}), filled;
  observe("returned", loss(net, x));
  fill(filled, net, x);
  observe("by reference", filled);
  observe("passed plain", pass(x));
  observe("passed graph", pass(loss(net, x)));
  observe("template", identity(loss(net, x)));
  observe("template plain", identity(x));
  auto run = [&] { return net->forward(x); };
  observe("lambda", run());
  auto give = [](Tensor t) { return t; };
  observe("lambda plain", give(x));
  std::function<Tensor(Tensor)> stored = [&](Tensor t) { return net->forward(t); };
  observe("function", stored(x));
}

void members() {
  Linear net(2, 2);
  Tensor x = torch::ones({2});
  Holder h;
  h.keep(net->forward(x));
  observe("member", h.kept);
  observe("by method", h.ref());
  observe("other member", h.other);
  Holder copy = h;
  observe("copied", copy.kept);
  h.kept = x;
  observe("replaced", h.kept);
  observe("still copied", copy.kept);
  Holder *pointer = &h;
  pointer->kept = net->forward(x);
  observe("through pointer", h.kept);
  h.list.push_back(x);
  observe("list member", h.list.back());
}

void containers() {
  Linear net(2, 2);
  Tensor x = torch::ones({2}), y = net->forward(x);
  std::vector<Tensor> graphs, plain;
  graphs.push_back(y);
  plain.push_back(y.detach());
  observe("back", graphs.back());
  observe("at", graphs[0]);
  observe("plain", plain[0]);
  observe("stacked", torch::stack(graphs));
  observe("plain stacked", torch::stack(plain));
  for (const Tensor &each : graphs)
    observe("ranged", each);
  std::map<std::string, Tensor> named;
  named["loss"] = y;
  observe("named", named["loss"]);
  std::deque<Tensor> ring;
  ring.emplace_front(y);
  observe("front", ring.front());
  std::vector<Tensor> listed = {x, y};
  observe("listed", listed[1]);
  graphs.clear();
  graphs.push_back(x);
  observe("after clear", graphs[0]);
}

void tuples() {
  Linear net(2, 2);
  Tensor x = torch::ones({2});
  auto [a, b] = both(net, x);
  observe("bound first", a);
  observe("bound second", b);
  Tensor c, d;
  std::tie(c, d) = both(net, x);
  observe("tied first", c);
  observe("tied second", d);
  auto made = std::make_tuple(net->forward(x), x);
  observe("got first", std::get<0>(made));
  observe("got second", std::get<1>(made));
  auto [e, f] = pair(net, x);
  observe("part first", e);
  observe("part second", f);
}

void pointers(bool some) {
  Linear net(2, 2);
  Tensor x = torch::ones({2}), y = net->forward(x);
  auto shared = std::make_shared<Tensor>(y);
  observe("shared", *shared);
  std::optional<Tensor> optional;
  if (some)
    optional = y;
  observe("optional", *optional);
  Tensor moved = std::move(y);
  observe("moved", moved);
  Tensor &alias = moved;
  alias = x;
  observe("through alias", moved);
  Tensor first = net->forward(x), second = x;
  std::swap(first, second);
  observe("swapped", second);
}

struct Trainer {
  Trainer() : net(2, 2) {}
  void remember(Tensor x) { last = net->forward(x); }
  void use() {
    remember(torch::ones({2}));
    observe("of this", last);
  }
  Linear net;
  Tensor last;
};
Tensor global;
void globals() {
  global = Linear(2, 2)->forward(torch::ones({2}));
  observe("global", global);
}
)cpp";

constexpr unsigned None = history::None, Graph = history::Graph;

void expect(const Entry &W, unsigned History,
            std::initializer_list<const char *> Names) {
  for (const char *Name : Names)
    EXPECT_EQ(W.observed(Name).History, History) << Name;
}

} // namespace

TEST_F(ValuesFlow, Functions) {
  Entry W = entry("functions");
  expect(W, Graph,
         {"returned", "by reference", "passed graph", "template", "lambda",
          "function"});
  expect(W, None, {"passed plain", "template plain", "lambda plain"});
}

TEST_F(ValuesFlow, Members) {
  Entry W = entry("members");
  expect(W, Graph,
         {"member", "by method", "copied", "still copied", "through pointer"});
  expect(W, None, {"replaced", "list member"});
  EXPECT_FALSE(W.observed("other member").mayHaveGraph());
}

TEST_F(ValuesFlow, Containers) {
  Entry W = entry("containers");
  expect(W, Graph, {"back", "at", "stacked", "ranged", "named", "front"});
  expect(W, None, {"plain", "plain stacked", "after clear"});
  EXPECT_TRUE(W.observed("listed").mayHaveGraph())
      << "elements are not told apart";
}

TEST_F(ValuesFlow, Tuples) {
  Entry W = entry("tuples");
  expect(W, Graph, {"bound first", "tied first", "got first", "part first"});
  expect(W, None, {"bound second", "tied second", "got second", "part second"});
}

TEST_F(ValuesFlow, Pointers) {
  Entry W = entry("pointers");
  expect(W, Graph, {"shared", "moved"});
  expect(W, None, {"through alias"});
  EXPECT_TRUE(W.observed("optional").mayHaveGraph());
  EXPECT_TRUE(W.observed("swapped").mayHaveGraph());
}

TEST_F(ValuesFlow, ThisAndGlobals) {
  EXPECT_TRUE(entry("Trainer::use").observed("of this").mayHaveGraph());
  EXPECT_TRUE(entry("globals").observed("global").mayHaveGraph());
}
