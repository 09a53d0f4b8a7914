// Code with errors, very large functions, odd templates: bounded work and no
// crash, and what can be known is known all the same.
#include "autograd/MissingNoGrad.h"
#include "memory/RetainedGraph.h"
#include "model/Model.h"
#include "training/MissingZeroGrad.h"
#include <chrono>

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

/// Asks everything of every entry; the number of entries.
unsigned askAll(Model &M) {
  unsigned Entries = 0;
  unclearedSteps(M.program());
  retentions(M.program());
  for (const auto &Execution : M.program().executions()) {
    unusedGraphs(*Execution);
    std::string Text;
    llvm::raw_string_ostream Out(Text);
    Execution->print(Out);
    EXPECT_FALSE(Text.empty());
    ++Entries;
  }
  return Entries;
}

Model withErrors(llvm::StringRef Code) {
  ParseOptions Options;
  Options.AllowErrors = true;
  return Model(Code, Options);
}

const char Loop[] = R"cpp(
void fine(torch::nn::Linear net, torch::Tensor x) {
  torch::optim::SGD sgd(net->parameters(), 0.1);
  for (int i = 0; i < 3; ++i) {
    net->forward(x).sum().backward();
    sgd.step();
  }
}
)cpp";

double seconds(const std::chrono::steady_clock::time_point &Since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - Since)
      .count();
}

} // namespace

TEST(Robustness, Errors) {
  Model M = withErrors(std::string(R"cpp(
    using torch::Tensor;
    void names(Tensor x) { Tensor y = missing(x); y.no_such(1); missing2 += y; }
    void types(Unknown u, Tensor x) { u.forward(x); Unknown v = x; v.step(); }
    struct Net : torch::nn::Missing { Tensor forward(Tensor x) { return fc->forward(x); } };
    void use(Net &net, Tensor x) { net.forward(x).backward(); net->eval(); }
    void arguments(torch::optim::SGD &sgd) { sgd.step(1, 2, 3); sgd.zero_grad(missing); }
    void loops(Tensor x) { for (auto &b : nothing) { x += b.data; } while (missing) x.sum(); }
    auto lambda = [](Missing m) { return m.forward(m); };
    struct Half { Half() : field(missing), x(torch::ones({1})) {} Missing field; Tensor x; };
    template <class T> void generic(T t) { typename T::type y = t.forward(undeclared); y->z(); }
    Tensor returns(Tensor x) { return missing ? x : x * missing; }
    void captures(Tensor x) { auto f = [&, y = missing] { x += y; }; f(); }
    void bindings(Tensor x) { auto [a, b] = missing(x); a.backward(); std::tie(x, a) = b; }
    void news(Tensor x) { auto *p = new Missing(x); p->forward(x); delete p; }
  )cpp") + Loop);
  ASSERT_TRUE(M.isRead());
  EXPECT_GE(askAll(M), 1u);
  ASSERT_TRUE(M.hasEntry("fine"));
  EXPECT_EQ(M.entry("fine").of(unclearedSteps(M.program())).size(), 1u)
      << "the other functions are analysed all the same";
}

TEST(Robustness, TemplatesThatNothingInstantiates) {
  // Lists in parentheses have no type there.
  Model M(std::string(R"cpp(
    using torch::Tensor;
    template <class T> void hold(T x, Tensor t) {
      auto copied = [copy(x), t] { return t; };
      T made(x, t);
      std::function<Tensor()> f = copied;
      f();
    }
    template <class F, class... Rest> auto push(F &&f, Tensor t, Rest &&...rest) {
      auto task = std::make_shared<std::function<void()>>([f, t, rest...] {});
      return new std::function<void(int)>([task(task)](int) { (*task)(); });
    }
  )cpp") + Loop);
  ASSERT_TRUE(M.isRead());
  EXPECT_GE(askAll(M), 1u);
}

TEST(Robustness, ClassesThatPointToEachOther) {
  // Looking through 12 classes with 12 members each must not take 12^12 steps.
  std::string Code;
  for (int I = 0; I < 12; ++I)
    Code += "struct C" + std::to_string(I) + ";\n";
  for (int I = 0; I < 12; ++I) {
    Code += "struct C" + std::to_string(I) + " {\n";
    for (int J = 0; J < 12; ++J)
      Code += "  std::shared_ptr<C" + std::to_string(J) + "> s" +
              std::to_string(J) + "; C" + std::to_string(J) + " *p" +
              std::to_string(J) + ";\n";
    Code += "};\n";
  }
  Code += "void use(C0 &c, torch::Tensor x) { c.p1->p2->s3 = c.s4->s3; "
          "x.sum(); }\n";
  const auto Start = std::chrono::steady_clock::now();
  Model M(Code + Loop);
  ASSERT_TRUE(M.isRead());
  EXPECT_GE(askAll(M), 2u);
  EXPECT_LT(seconds(Start), 60) << "hangs would take hours";
}

TEST(Robustness, UnfinishedSource) {
  // What an editor sees while somebody types.
  Model M = withErrors(std::string(Loop) +
                       "void typing(torch::Tensor x) { for (int i = 0; i <");
  ASSERT_TRUE(M.isRead());
  askAll(M);
  ASSERT_TRUE(M.hasEntry("fine"));
  EXPECT_EQ(M.entry("fine").of(unclearedSteps(M.program())).size(), 1u);
}

TEST(Robustness, ManyStatements) {
  std::string Code = "void large(torch::nn::Linear net, torch::Tensor x) {\n"
                     "  std::vector<torch::Tensor> kept;\n"
                     "  for (int i = 0; i < 3; ++i) {\n";
  for (unsigned I = 0; I < 1000; ++I) {
    const std::string Y = "y" + std::to_string(I);
    Code += "    torch::Tensor " + Y + " = net->forward(x) * " +
            std::to_string(I) + ";\n    if (i == " + std::to_string(I) +
            ") kept.push_back(" + Y + ");\n    x = " + Y + " + x;\n";
  }
  Code += "  }\n}\n";
  Model M(Code + Loop);
  ASSERT_TRUE(M.isRead());
  const auto Start = std::chrono::steady_clock::now();
  askAll(M);
  EXPECT_LT(seconds(Start), 60) << "work is bounded";
  EXPECT_TRUE(M.hasEntry("fine"));
}

TEST(Robustness, ManyStatementsInARow) {
  std::string Code = "void large(torch::nn::Linear net, torch::Tensor x) {\n";
  for (unsigned I = 0; I < 3000; ++I)
    Code += "  x = torch::relu(x + " + std::to_string(I) + ");\n";
  Code += "  observe(\"end\", x);\n}\n";
  Model M(Code);
  ASSERT_TRUE(M.isRead());
  const auto Start = std::chrono::steady_clock::now();
  askAll(M);
  EXPECT_LT(seconds(Start), 20);
  EXPECT_EQ(M.entry("large").observed("end").History, history::Unknown);
}

TEST(Robustness, ManyCalls) {
  // Calls that call: expansion meets its bound.
  std::string Code = "void f0(torch::Tensor x) { x.sum(); }\n";
  for (unsigned I = 1; I < 8; ++I) {
    Code += "void f" + std::to_string(I) + "(torch::Tensor x) {";
    for (unsigned Call = 0; Call < 8; ++Call)
      Code += " f" + std::to_string(I - 1) + "(x);";
    Code += " }\n";
  }
  Model M(Code + Loop);
  ASSERT_TRUE(M.isRead());
  const auto Start = std::chrono::steady_clock::now();
  askAll(M);
  EXPECT_LT(seconds(Start), 60);
  EXPECT_TRUE(M.hasEntry("fine"));
}

TEST(Robustness, DeepNesting) {
  std::string Code = "void deep(torch::Tensor x, bool c) {\n";
  for (unsigned I = 0; I < 100; ++I)
    Code += "for (int i = 0; i < 2; ++i) { if (c) {\n";
  Code += "x = x + x; observe(\"deep\", x);\n";
  for (unsigned I = 0; I < 100; ++I)
    Code += "} }\n";
  Model M(Code + "}\n");
  ASSERT_TRUE(M.isRead());
  const auto Start = std::chrono::steady_clock::now();
  askAll(M);
  EXPECT_LT(seconds(Start), 20);
}

TEST(Robustness, Templates) {
  Model M(R"cpp(
    using torch::Tensor;
    template <class Net, class Loader> void train(Net &net, Loader &loader) {
      torch::optim::SGD sgd(net->parameters(), 0.1);
      for (int i = 0; i < loader.size(); ++i) {
        net->forward(loader[i].data).sum().backward();
        sgd.step();
      }
    }
    template <class... T> Tensor sum(T... values) { return (values + ...); }
    template <class T> struct Trainer {
      T net;
      template <class U> void run(U x) { net->forward(x).backward(); }
      void never() { net->eval(); net->forward(missing(net)); }
    };
    template <int N> Tensor power(Tensor x) {
      if constexpr (N == 0) return x;
      else return x * power<N - 1>(x);
    }
    void use(Tensor x) {
      sum(x, x, x).backward();
      Trainer<torch::nn::Linear>{torch::nn::Linear(2, 2)}.run(x);
      observe("power", power<6>(x));
      auto generic = [](auto &&...all) { return sum(all...); };
      observe("generic", generic(x, x));
    }
  )cpp");
  ASSERT_TRUE(M.isRead());
  EXPECT_GE(askAll(M), 2u);
  ASSERT_TRUE(M.hasEntry("train")) << "never instantiated";
  EXPECT_TRUE(M.entry("use").observed("power").History);
}

TEST(Robustness, OddFlow) {
  Model M(R"cpp(
    using torch::Tensor;
    void endless(torch::nn::Linear net, Tensor x) { for (;;) net->forward(x); }
    void never(Tensor x) { return; x.backward(); }
    void intoLoop(Tensor x, bool c) {
      if (c) goto middle;
      while (c) { x = x + 1; middle: x = x * 2; }
    }
    void throws(Tensor x) { try { x.backward(); throw 1; } catch (int) { x.sum(); } catch (...) {} }
    void switches(Tensor x, int n) { switch (n) { case 1: x.sum(); case 2: x.mean(); default:; } }
    int tryBody(Tensor x) try { x.sum(); return 1; } catch (...) { return 2; }
    Tensor statementExpression(Tensor x) { return ({ Tensor y = x + 1; y; }); }
    void selfReference(Tensor x) { Tensor y = y = x; observe("self", y); }
    void aliases(Tensor x) { Tensor &a = x; Tensor &b = a; b = b; std::vector<Tensor> v; v = v; }
    struct Node { std::shared_ptr<Node> next; Tensor t; };
    void list(Node *n, Tensor x) { while (n) { n->t = x; n = n->next.get(); } }
  )cpp");
  ASSERT_TRUE(M.isRead());
  EXPECT_EQ(askAll(M), 10u);
}
