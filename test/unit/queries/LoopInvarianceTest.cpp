// What does not change in a loop. A question is about the initializer of a
// variable that the loop declares.
#include "queries/loops/LoopInvariance.h"
#include "model/Model.h"

using namespace clang;
using namespace torchtidy::model;
using namespace torchtidy::test;
using torchtidy::flow::Loop;

namespace {

struct Question {
  const Expr *E = nullptr;
  const Frame *F = nullptr;
  const Loop *L = nullptr;
};

/// About the initializer of the variable, in the innermost loop around it.
Question about(const Entry &W, llvm::StringRef Name) {
  Question Result;
  for (unsigned N = 0; N < W->points().size(); ++N) {
    const Segment &S = W->segment(N);
    if (S.Of != Segment::Elements || !W->point(N).IsEnd)
      continue;
    for (unsigned I = S.Begin; I < S.End; ++I) {
      std::optional<CFGStmt> Element = (*S.Block)[I].getAs<CFGStmt>();
      const auto *Declaration =
          Element ? dyn_cast<DeclStmt>(Element->getStmt()) : nullptr;
      if (!Declaration)
        continue;
      for (const Decl *D : Declaration->decls()) {
        const auto *V = dyn_cast<VarDecl>(D);
        if (!V || !V->getDeclName().isIdentifier() || V->getName() != Name)
          continue;
        EXPECT_FALSE(Result.E) << "two activations of " << Name.str();
        auto Around = W->loopsAround(N);
        Result = {V->getInit(), S.In, Around.empty() ? nullptr : Around.back()};
      }
    }
  }
  EXPECT_TRUE(Result.E && Result.L) << "no loop with " << Name.str();
  return Result;
}

template <class Derived> struct InvarianceOf : ModelTest<Derived> {
  static bool invariant(llvm::StringRef Root, llvm::StringRef Name) {
    const Entry W = ModelTest<Derived>::entry(Root);
    const Question Q = about(W, Name);
    return Q.E && Q.L && Invariance(*W).isInvariant(Q.E, Q.F, *Q.L);
  }
  static void expect(llvm::StringRef Root,
                     std::initializer_list<const char *> Same,
                     std::initializer_list<const char *> Changing) {
    for (const char *Name : Same)
      EXPECT_TRUE(invariant(Root, Name)) << Root.str() << ": " << Name;
    for (const char *Name : Changing)
      EXPECT_FALSE(invariant(Root, Name)) << Root.str() << ": " << Name;
  }
};

struct Invariants : InvarianceOf<Invariants> {
  static const char Code[];
};

const char Invariants::Code[] = R"cpp(
#include <random>
using torch::Tensor;
using Tensors = std::vector<Tensor>;
enum Size { Small = 2 };
constexpr int Constant = 4;
int counter = 0, fixed = 3;
void use(const Tensor &t);

void constants(Tensor keep, int n) {
  for (int i = 0; i < n; ++i) {
    auto number = 3;
    auto text = "weights";
    auto sum = Constant * 2 + Small;
    auto type = torch::kFloat;
    auto options =
        torch::TensorOptions().dtype(torch::kFloat).device(torch::kCUDA);
    auto device = torch::Device(torch::kCUDA, 0);
    std::vector<int64_t> sizes = {2, Constant};
    auto outer = n + 1;
    auto index = i;
    auto indexed = n + i;
    auto global = fixed;
    auto counted = counter;
    ++counter;
    use(keep);
  }
}
void fromInvariants(Tensor keep, int n) {
  for (int i = 0; i < n; ++i) {
    int half = n / 2;
    auto quarter = half / 2;
    int step = i / 2;
    auto next = step + 1;
    int changed = n;
    changed += i;
    auto later = changed;
    int unset;
    unset = n;
    auto read = unset;
    use(keep);
  }
}
void bump(int &value) { value += 1; }
void look(const int &value) {}
void bumpPointer(int *value) { *value += 1; }
int next(int &value) { return value++; }
void changes(Tensor keep, int n, int a, int b, int c, int d, int e, int f,
             int g) {
  int &alias = b;
  int tiedA = 0, tiedB = 0;
  auto adds = [&] { c += 1; };
  for (int i = 0; i < n; ++i) {
    a++;
    alias = i;
    adds();
    bump(d);
    look(e);
    bumpPointer(&f);
    std::tie(tiedA, tiedB) = std::make_tuple(i, i);
    auto incremented = a;
    auto byReference = b;
    auto byLambda = c;
    auto byHelper = d;
    auto looked = e;
    auto byPointer = f;
    auto tied = tiedA;
    auto untouched = g;
    auto called = next(n);
    use(keep);
  }
}
void otherLoop(Tensor keep, int n, int size) {
  for (int i = 0; i < n; ++i)
    size += i;
  for (int i = 0; i < n; ++i) {
    auto afterwards = size;
    use(keep);
  }
}
void properties(Tensor keep, const Tensors &xs, Tensor bound) {
  for (const auto &x : xs) {
    auto rows = keep.size(0);
    auto shape = keep.sizes();
    auto count = keep.numel();
    auto dimension = keep.size(keep.dim() - 1);
    auto batch = x.size(0);
    auto device = x.device();
    auto options = x.options();
    auto ownOptions = keep.options();
    auto reboundSize = bound.size(0);
    auto value = keep.sum().item<float>();
    auto one = keep;
    auto element = x;
    auto view = keep.view({2, -1});
    auto grown = torch::zeros({2});
    auto many = xs.size();
    bound = x;
    use(keep);
  }
}
int twice(int n) { return 2 * n; }
int drawn() { return std::rand(); }
int complicated(int n) { if (n) return 1; return 2; }
torch::Device chosen();
torch::Device choose() { if (fixed) return torch::kCPU; return torch::kCUDA; }
template <class T> T &&pass(T &&value) { return std::forward<T>(value); }
template <class T> const T &larger(const T &a, const T &b) {
  return a < b ? b : a;
}
void functions(Tensor keep, int n) {
  int size = 3;
  std::mt19937 engine;
  std::uniform_int_distribution<int> distribution(1, 8);
  for (int i = 0; i < n; ++i) {
    auto doubled = twice(n);
    auto doubledIndex = twice(i);
    auto random = std::rand();
    auto inside = drawn();
    auto branching = complicated(n);
    auto foreign = chosen();
    auto branched = choose();
    auto forwardedIndex = pass(i);
    auto maximum = std::max(n, 3);
    auto maximumIndex = std::max(n, i);
    auto mine = larger(n, size);
    auto drawnByEngine = distribution(engine);
    auto lambda = [&] { return n; };
    use(keep);
  }
}
struct Config {
  int width = 2, height = 2;
  int area() const { return width * height; }
  int grow() { return ++height; }
};
struct Trainer {
  Config config_;
  int size_ = 4, epoch_ = 0;
  torch::Device device_ = torch::kCPU;
  static int shared;
  int size() const { return size_; }
  int epoch() const { return epoch_; }
  void run(Tensor keep, int n) {
    for (int i = 0; i < n; ++i) {
      ++epoch_;
      auto member = size_;
      auto getter = size();
      auto current = epoch_;
      auto currentGetter = epoch();
      auto nested = config_.width;
      auto device = device_;
      auto byMethod = config_.area();
      auto statics = shared;
      use(keep);
    }
  }
  void grows(Tensor keep, int n) {
    for (int i = 0; i < n; ++i) {
      config_.grow();
      auto width = config_.width;
      auto height = config_.height;
      use(keep);
    }
  }
};
void inner(Tensor keep, int given, int constant, int varying) {
  auto passed = given;
  auto literal = constant;
  auto index = varying;
  use(keep);
}
void middle(Tensor keep, int n, int i) { inner(keep, n * 2, 7, i); }
void frames(Tensor keep, int n) {
  for (int i = 0; i < n; ++i)
    middle(keep, n, i);
}
struct Net {
  int width;
  void go(Tensor keep) const { auto ofObject = width; use(keep); }
  void other(Tensor keep) { auto ofElement = width; use(keep); }
};
void objects(Tensor keep, std::vector<Net> &nets, int n) {
  Net net{3};
  for (int i = 0; i < n; ++i)
    net.go(keep);
  for (auto &each : nets)
    each.other(keep);
}
void bindings(Tensor keep, std::pair<int, int> size,
              const std::map<int, int> &map) {
  auto [w, h] = size;
  for (auto &[key, mapped] : map) {
    h += 1;
    auto fromKey = key;
    auto fromW = w;
    auto fromH = h;
    use(keep);
  }
}
void captures(Tensor keep, int n) {
  int size = n * 2;
  auto run = [&, copy = n](int argument) {
    auto captured = size;
    auto copied = copy;
    auto handed = argument;
    use(keep);
  };
  for (int i = 0; i < n; ++i)
    run(i);
}
template <int Width> struct Fixed {
  void go(Tensor keep, int n) {
    for (int i = 0; i < n; ++i) {
      auto parameter = Width;
      use(keep);
    }
  }
};
void instantiate(Tensor keep) { Fixed<3>().go(keep, 2); }
void nestedLoops(Tensor keep, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      auto outerIndex = i;
      auto innerIndex = j;
      use(keep);
    }
}
)cpp";

} // namespace

TEST_F(Invariants, Constants) {
  expect("constants",
         {"number", "text", "sum", "type", "options", "device", "sizes",
          "outer", "global"},
         {"index", "indexed", "counted"});
}

TEST_F(Invariants, LocalsOfTheLoop) {
  expect("fromInvariants", {"half", "quarter"},
         {"step", "next", "later", "read"});
}

TEST_F(Invariants, Changes) {
  expect("changes", {"looked", "untouched"},
         {"incremented", "byReference", "byLambda", "byHelper", "byPointer",
          "tied", "called"});
}

TEST_F(Invariants, ChangesInAnotherLoop) {
  expect("otherLoop", {"afterwards"}, {});
}

TEST_F(Invariants, PropertiesOfTensors) {
  expect("properties",
         {"rows", "shape", "count", "dimension", "ownOptions", "one", "view",
          "many", "device", "options"},
         {"batch", "reboundSize", "value", "element", "grown"});
}

TEST_F(Invariants, Functions) {
  expect("functions", {"doubled", "foreign", "branched", "maximum", "mine"},
         {"doubledIndex", "random", "inside", "branching", "forwardedIndex",
          "drawnByEngine", "maximumIndex", "lambda"});
}

TEST_F(Invariants, Members) {
  expect("Trainer::run",
         {"member", "getter", "nested", "device", "byMethod", "statics"},
         {"current", "currentGetter"});
  expect("Trainer::grows", {"width"}, {"height"});
}

TEST_F(Invariants, ParametersThroughFrames) {
  expect("frames", {"passed", "literal"}, {"index"});
}

TEST_F(Invariants, MembersOfObjectsThroughFrames) {
  expect("objects", {"ofObject"}, {"ofElement"});
}

TEST_F(Invariants, Bindings) {
  expect("bindings", {"fromW"}, {"fromKey", "fromH"});
}

TEST_F(Invariants, Captures) {
  expect("captures", {"captured", "copied"}, {"handed"});
}

TEST_F(Invariants, TemplateParameters) {
  expect("instantiate", {"parameter"}, {});
}

TEST_F(Invariants, OfTheInnerLoop) {
  expect("nestedLoops", {"outerIndex"}, {"innerIndex"});
}
