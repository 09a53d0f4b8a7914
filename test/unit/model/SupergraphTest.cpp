// How the user's functions are expanded where they are called.
#include "model/Model.h"
#include "clang/AST/DeclCXX.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct Expansion : ModelTest<Expansion> {
  static const char Code[];

  /// The functions of all activations but the root, sorted.
  static std::vector<std::string> frames(const Entry &W) {
    std::vector<std::string> Result;
    for (const auto &F : W->graph().frames())
      if (F->Caller)
        Result.push_back(F->Function->getNameAsString());
    llvm::sort(Result);
    return Result;
  }
  static const Frame *frame(const Entry &W, llvm::StringRef Name) {
    const Frame *Found = nullptr;
    for (const auto &F : W->graph().frames())
      if (F->Function->getNameAsString() == Name) {
        EXPECT_FALSE(Found) << "two activations of " << Name.str();
        Found = F.get();
      }
    EXPECT_TRUE(Found) << "no activation of " << Name.str();
    return Found;
  }
};

const char Expansion::Code[] = R"cpp(
#include <algorithm>
#include <future>
#include <mutex>
#include <thread>
using torch::Tensor;

void leaf(Tensor x) { observe("leaf", x); }
int number() { return 1; }
void middle(Tensor x) { leaf(x); number(); }
void calls(Tensor x) { middle(x); leaf(x); }

struct Net {
  Net(Tensor x) : kept(x) { leaf(x); }
  ~Net() { leaf(kept); }
  Tensor run(Tensor x) { return x; }
  static void fixed(Tensor x) {}
  Tensor operator()(Tensor x) { return run(x); }
  Tensor kept;
};
void methods(Tensor x) { Net net(x); net.run(x); Net::fixed(x); }
void operators(Net &net, Tensor x) { net(x); }
void heap(Tensor x) { auto net = std::make_shared<Net>(x); }

void lambdas(Tensor x) {
  auto direct = [&] { leaf(x); };
  direct();
  auto generic = [](auto t) { leaf(t); };
  generic(x);
  std::function<void()> stored = [&] { number(); leaf(x); };
  stored();
}

void apply(std::function<void(Tensor)> f, Tensor x) { f(x); }
template <class F> void applyAny(F f, Tensor x) { f(x); }
void passed(Tensor x) { apply(leaf, x); }
void passedAny(Tensor x) { applyAny([](Tensor t) { leaf(t); }, x); }

void worker(Tensor x, int) {}
struct Server {
  void start(Tensor x) { std::thread(&Server::serve, this, x).join(); }
  void serve(Tensor x) {}
};
void threads(Tensor x) {
  std::thread thread(worker, x, 1);
  std::vector<std::thread> pool;
  pool.emplace_back(leaf, x);
  auto later = std::async(leaf, x);
  thread.join();
}

void algorithms(std::vector<Tensor> &v) { std::for_each(v.begin(), v.end(), leaf); }
void once(Tensor x) {
  static std::once_flag flag;
  std::call_once(flag, [&] { leaf(x); });
}
void parallel(Tensor x) {
  at::parallel_for(0, 8, 1, [&](int64_t, int64_t) { leaf(x); });
}

void again(Tensor x, int n) { if (n) again(x, n - 1); leaf(x); }
void odd(Tensor x, int n);
void even(Tensor x, int n) { if (n) odd(x, n - 1); }
void odd(Tensor x, int n) { if (n) even(x, n - 1); }
void recursion(Tensor x) { again(x, 3); even(x, 4); }

template <int N> void deep(Tensor x) { deep<N - 1>(x); }
template <> void deep<0>(Tensor x) { observe("bottom", x); }
void bounded(Tensor x) { deep<3>(x); }

struct Other { void run(Tensor x) { leaf(x); } };
template <class T> void train(T &model, Tensor x) { model.run(x); }
void instantiates(Net &net, Other &other, Tensor x) { train(net, x); train(other, x); }
)cpp";

using Names = std::vector<std::string>;

} // namespace

TEST_F(Expansion, Calls) {
  Entry W = entry("calls");
  EXPECT_EQ(frames(W), (Names{"leaf", "leaf", "middle"}))
      << "each call is one activation; what has nothing to do with LibTorch "
         "has none";
  for (const auto &F : W->graph().frames()) {
    if (!F->Caller)
      continue;
    EXPECT_EQ(W->graph().expansion(F->Caller, F->Site), F.get());
    EXPECT_EQ(F->Depth, F->Caller->Depth + 1);
    EXPECT_TRUE(F->isWithin(&W->root()));
    EXPECT_EQ(F->Arguments.size(), F->Function->getNumParams());
  }
  EXPECT_TRUE(W->graph().isComplete());
  EXPECT_EQ(W->graph().covered().size(), 3u);
}

TEST_F(Expansion, Methods) {
  Entry W = entry("methods");
  EXPECT_EQ(frames(W), (Names{"Net", "fixed", "leaf", "leaf", "run", "~Net"}));
  EXPECT_TRUE(frame(W, "run")->Object);
  EXPECT_FALSE(frame(W, "fixed")->Object);
  EXPECT_FALSE(frame(W, "Net")->Object) << "the construction makes it";
  ASSERT_TRUE(frame(W, "~Net")->Destroyed);
  EXPECT_EQ(frame(W, "~Net")->Destroyed->getName(), "net");
  EXPECT_EQ(frames(entry("operators")), (Names{"operator()", "run"}));
}

TEST_F(Expansion, ConstructorThroughMakeShared) {
  EXPECT_EQ(frames(entry("heap")), (Names{"Net", "leaf"}));
}

TEST_F(Expansion, Lambdas) {
  EXPECT_EQ(frames(entry("lambdas")),
            (Names{"leaf", "leaf", "leaf", "operator()", "operator()",
                   "operator()"}));
}

TEST_F(Expansion, FunctionsThatAreHandedOn) {
  EXPECT_EQ(frames(entry("passed")), (Names{"apply", "leaf"}));
  EXPECT_EQ(frames(entry("passedAny")),
            (Names{"applyAny", "leaf", "operator()"}));
}

TEST_F(Expansion, Threads) {
  Entry W = entry("threads");
  EXPECT_EQ(frames(W), (Names{"leaf", "leaf", "worker"}));
  for (const auto &F : W->graph().frames())
    EXPECT_EQ(F->IsThread, F->Caller != nullptr);
  const Frame *Worker = frame(W, "worker");
  ASSERT_EQ(Worker->Arguments.size(), 2u);
  EXPECT_TRUE(Worker->Arguments[0] && Worker->Arguments[1]);
  Entry Method = entry("Server::start");
  EXPECT_EQ(frames(Method), (Names{"serve"}));
  EXPECT_TRUE(frame(Method, "serve")->IsThread);
  EXPECT_TRUE(frame(Method, "serve")->Object);
}

TEST_F(Expansion, Algorithms) {
  Entry W = entry("algorithms");
  EXPECT_EQ(frames(W), (Names{"leaf"}));
  EXPECT_TRUE(frame(W, "leaf")->Range);
  EXPECT_EQ(frames(entry("once")), (Names{"leaf", "operator()"}));
  EXPECT_EQ(frames(entry("parallel")), (Names{"leaf", "operator()"}));
}

TEST_F(Expansion, RecursionIsOpaque) {
  Entry W = entry("recursion");
  EXPECT_EQ(frames(W), (Names{"again", "even", "leaf", "odd"}));
  EXPECT_TRUE(W->isComplete());
}

TEST_F(Expansion, Templates) {
  EXPECT_EQ(frames(entry("bounded")), (Names{"deep", "deep", "deep", "deep"}));
  EXPECT_EQ(frames(entry("instantiates")),
            (Names{"leaf", "run", "run", "train", "train"}))
      << "one activation for each instantiation that is called";
}

TEST(ExpansionBounds, Depth) {
  std::string Code = "void f0(torch::Tensor x) { observe(\"end\", x); }\n";
  for (unsigned I = 1; I < 20; ++I)
    Code += "void f" + std::to_string(I) + "(torch::Tensor x) { f" +
            std::to_string(I - 1) + "(x); }\n";
  Model M(Code);
  ASSERT_TRUE(M.isRead());
  torchtidy::model::Code Program(M.context());
  Supergraph Deep(Program, M.function("f19"), false);
  EXPECT_FALSE(Deep.isComplete());
  EXPECT_EQ(Deep.frames().size(), Supergraph::MaxDepth);
  Supergraph Shallow(Program, M.function("f5"), false);
  EXPECT_TRUE(Shallow.isComplete());
  EXPECT_EQ(Shallow.frames().size(), 6u);
}

TEST(ExpansionBounds, Size) {
  // Each function calls the one below four times: 4^7 activations of the last.
  std::string Code = "void f0(torch::Tensor x) { observe(\"end\", x); }\n";
  for (unsigned I = 1; I < 8; ++I) {
    const std::string Call = "f" + std::to_string(I - 1) + "(x); ";
    Code += "void f" + std::to_string(I) + "(torch::Tensor x) { " + Call +
            Call + Call + Call + Call + Call + "}\n";
  }
  Model M(Code);
  ASSERT_TRUE(M.isRead());
  torchtidy::model::Code Program(M.context());
  Supergraph Large(Program, M.function("f7"), false);
  EXPECT_FALSE(Large.isComplete());
  EXPECT_LT(Large.graph().size(), 2 * Supergraph::MaxSegments);
}

TEST(Globals, TheirConstructorsRunBeforeMain) {
  Model M(R"cpp(
    struct Fixed {
      explicit Fixed(int64_t width) : layer(width, 1) {
        for (auto &parameter : layer->parameters())
          parameter.set_requires_grad(false);
      }
      torch::nn::Linear layer;
    };
    Fixed made(8), copied = Fixed(4);
    Fixed *pointer = nullptr, &reference = made;
    extern Fixed elsewhere;
    torch::nn::Linear trained(8, 1);
    int main() {
      observe("made", made.layer(torch::rand({1, 8})));
      observe("copied", copied.layer(torch::rand({1, 4})));
      observe("trained", trained(torch::rand({1, 8})));
    })cpp");
  ASSERT_TRUE(M.isRead());
  const Entry Main = M.entry("main");
  std::vector<std::string> Constructed;
  for (const auto &F : Main->graph().frames())
    if (F->Constructed)
      Constructed.push_back(F->Constructed->getNameAsString());
  EXPECT_EQ(Constructed, (std::vector<std::string>{"made", "copied"}));
  EXPECT_FALSE(Main.observed("made").mayHaveGraph());
  EXPECT_FALSE(Main.observed("copied").mayHaveGraph());
  EXPECT_TRUE(Main.observed("trained").mayHaveGraph());
}
