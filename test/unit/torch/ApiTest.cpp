// What calls mean to LibTorch, on its real headers.
#include "torch/Api.h"
#include "ast/Names.h"
#include "support/Parse.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/Stmt.h"
#include "gtest/gtest.h"

using namespace clang;
using namespace torchtidy::torch;
using namespace torchtidy::test;

namespace {

struct Case {
  const char *Call;
  Api Kind;
  /// The operation's name, for Api::Operation.
  const char *Operation = "";
};

const char Before[] = R"cpp(
namespace F = torch::nn::functional;
struct NetImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) { return x; }
  torch::Tensor encode(torch::Tensor x) { return x; }
};
TORCH_MODULE(Net);
struct Callable : torch::nn::Module {
  torch::Tensor operator()(torch::Tensor x) { return x; }
};
struct Own : torch::optim::SGD {
  using SGD::SGD;
  torch::Tensor step(LossClosure closure = nullptr) override { return {}; }
  void log() {}
};
// LibTorch's has another signature: these are the class's own.
struct Elsewhere : torch::nn::Module { void zero_grad(); };
struct ElsewhereSgd : torch::optim::SGD { using SGD::SGD; void zero_grad(); };
struct Seen : torch::nn::Module { void zero_grad() {} };
namespace mine {
struct Tensor { void backward() {} void add(int) {} };
struct Sgd { void step() {} void zero_grad() {} };
struct Module { int forward(int x) { return x; } void eval() {} };
void load(int) {}
}
extern torch::Tensor t;
extern std::vector<torch::Tensor> tensors;
extern torch::optim::SGD sgd;
extern torch::optim::Optimizer &base;
extern std::unique_ptr<torch::optim::Adam> adam;
extern torch::optim::StepLR scheduler;
extern Own own;
extern NetImpl net;
extern Elsewhere elsewhere;
extern ElsewhereSgd elsewhere_sgd;
extern Seen seen;
extern Net holder;
extern std::shared_ptr<NetImpl> shared;
extern Callable callable;
extern torch::nn::Linear linear;
extern torch::nn::Sequential sequential;
extern torch::nn::AnyModule any;
extern torch::jit::Module script;
extern std::vector<c10::IValue> inputs;
extern mine::Tensor mine_tensor;
extern mine::Sgd mine_sgd;
extern mine::Module mine_module;
void helper(torch::Tensor);
)cpp";

const Case Cases[] = {
    {"helper(t)", Api::Foreign},
    {"net.encode(t)", Api::Foreign},
    {"own.log()", Api::Foreign},
    {"mine_tensor.backward()", Api::Foreign},
    {"mine_tensor.add(1)", Api::Foreign},
    {"mine_sgd.step()", Api::Foreign},
    {"mine_sgd.zero_grad()", Api::Foreign},
    {"mine_module.forward(1)", Api::Foreign},
    {"mine_module.eval()", Api::Foreign},
    {"mine::load(1)", Api::Foreign},

    {"tensors.push_back(t)", Api::Std},
    {"std::move(t)", Api::Std},
    {"tensors.begin()", Api::Std},
    {"adam.get()", Api::Std},

    {"torch::manual_seed(1)", Api::Library},
    {"torch::save(t, \"file\")", Api::Library},
    {"t.sizes()", Api::Library},
    {"scheduler.step()", Api::Library},
    {"holder.ptr()", Api::Library},
    {"torch::cuda::is_available()", Api::Library},

    {"t.add(1)", Api::Operation, "add"},
    {"t.add_(1)", Api::Operation, "add_"},
    {"torch::matmul(t, t)", Api::Operation, "matmul"},
    {"torch::zeros({2, 3})", Api::Operation, "zeros"},
    {"at::cat({t, t})", Api::Operation, "cat"},
    {"t.item<float>()", Api::Operation, "item"},
    {"t.item()", Api::Operation, "item"},
    {"t.to(torch::kCUDA)", Api::Operation, "to"},
    {"t.cpu()", Api::Operation, "cpu"},
    {"t.detach()", Api::Operation, "detach"},
    {"t.data()", Api::Operation, "data"},
    {"F::relu(t)", Api::Operation, "relu"},
    {"t + t", Api::Operation, "add"},
    {"t * 2", Api::Operation, "mul"},
    {"1 - t", Api::Operation, "sub"},
    {"-t", Api::Operation, "neg"},
    {"t += t", Api::Operation, "add_"},
    {"t /= 2", Api::Operation, "div_"},
    {"t == t", Api::Operation, "eq"},
    {"t[0]", Api::Operation, "select"},

    {"t.backward()", Api::Backward},
    {"t.sum().backward({}, true)", Api::Backward},
    {"torch::autograd::backward({t}, {})", Api::Backward},
    {"torch::autograd::grad({t}, {t})", Api::Grad},
    {"t.grad()", Api::GradAccess},
    {"t.mutable_grad()", Api::GradAccess},
    {"t.requires_grad_()", Api::RequiresGrad},
    {"t.set_requires_grad(false)", Api::RequiresGrad},
    {"t.grad_fn()", Api::GradFn},

    {"sgd.step()", Api::OptimizerStep},
    {"base.step()", Api::OptimizerStep},
    {"adam->step()", Api::OptimizerStep},
    {"own.step()", Api::OptimizerStep},
    {"sgd.step([] { return torch::zeros({1}); })", Api::OptimizerStep},
    {"sgd.zero_grad()", Api::OptimizerZeroGrad},
    {"adam->zero_grad(false)", Api::OptimizerZeroGrad},
    {"own.zero_grad()", Api::OptimizerZeroGrad},
    {"sgd.add_param_group({net.parameters()})", Api::OptimizerAdd},
    {"sgd.add_parameters(net.parameters())", Api::OptimizerAdd},
    {"sgd.param_groups()", Api::OptimizerParameters},
    {"sgd.param_groups()[0].params()", Api::OptimizerParameters},
    {"sgd.parameters()", Api::OptimizerParameters},

    {"net.forward(t)", Api::ModuleForward},
    {"shared->forward(t)", Api::ModuleForward},
    {"holder->forward(t)", Api::ModuleForward},
    {"holder(t)", Api::ModuleForward},
    {"callable(t)", Api::ModuleForward},
    {"linear->forward(t)", Api::ModuleForward},
    {"linear(t)", Api::ModuleForward},
    {"sequential->forward(t)", Api::ModuleForward},
    {"any.forward(t)", Api::ModuleForward},
    {"script.forward(inputs)", Api::ModuleForward},
    {"script(inputs)", Api::ModuleForward},
    {"net.zero_grad()", Api::ModuleZeroGrad},
    {"linear->zero_grad()", Api::ModuleZeroGrad},
    {"elsewhere.zero_grad()", Api::ModuleZeroGrad},
    {"elsewhere_sgd.zero_grad()", Api::OptimizerZeroGrad},
    {"seen.zero_grad()", Api::Foreign},
    {"net.parameters()", Api::ModuleParameters},
    {"shared->named_parameters()", Api::ModuleParameters},
    {"script.parameters()", Api::ModuleParameters},
    {"net.train()", Api::ModuleTrain},
    {"net.train(false)", Api::ModuleTrain},
    {"holder->eval()", Api::ModuleEval},
    {"script.eval()", Api::ModuleEval},
    {"net.register_module(\"fc\", linear)", Api::RegisterModule},
    {"net.replace_module(\"fc\", linear)", Api::RegisterModule},
    {"net.register_parameter(\"w\", t)", Api::RegisterParameter},
    {"net.register_buffer(\"b\", t)", Api::RegisterBuffer},
    {"net.name()", Api::NoEffect},
    {"net.to(torch::kCUDA)", Api::NoEffect},
    {"sgd.size()", Api::NoEffect},

    {"torch::jit::load(\"model.pt\")", Api::Load},
    {"torch::load(t, \"tensor.pt\")", Api::Load},
    {"torch::jit::freeze(script)", Api::Freeze},
    {"torch::jit::optimize_for_inference(script)", Api::Freeze},
    {"torch::GradMode::set_enabled(false)", Api::SetGradMode},
    {"at::GradMode::set_enabled(true)", Api::SetGradMode},
    {"c10::AutogradState::get_tls_state().set_grad_mode(false)",
     Api::SetGradMode},
    {"torch::nn::init::xavier_uniform_(t)", Api::Initialize},
};

std::string source() {
  std::string Code = Before;
  unsigned Number = 0;
  for (const Case &C : Cases)
    Code += "void case" + std::to_string(Number++) + "() { " + C.Call + "; }\n";
  return Code;
}

/// The call that is the only statement of a function.
const CallExpr *onlyCall(const FunctionDecl *F) {
  const auto *Body = dyn_cast<CompoundStmt>(F->getBody());
  const auto *E = dyn_cast<Expr>(Body->body_front());
  return E ? dyn_cast<CallExpr>(E->IgnoreImplicit()) : nullptr;
}

} // namespace

TEST(Api, Calls) {
  ParseOptions Quiet;
  Quiet.Arguments = {"-w"};
  auto Unit = parseTorch(source(), Quiet);
  ASSERT_TRUE(Unit);
  unsigned Number = 0;
  for (auto It = Unit->top_level_begin(); It != Unit->top_level_end(); ++It) {
    const auto *F = dyn_cast<FunctionDecl>(*It);
    if (!F || !F->hasBody() || !torchtidy::ast::nameOf(F).starts_with("case"))
      continue;
    const Case &C = Cases[Number++];
    const CallExpr *Expression = onlyCall(F);
    ASSERT_TRUE(Expression) << C.Call;
    const Call Found = classify(Expression);
    EXPECT_EQ(static_cast<int>(Found.Kind), static_cast<int>(C.Kind)) << C.Call;
    EXPECT_EQ(Found.Op ? Found.Op->Name : "", C.Operation) << C.Call;
  }
  EXPECT_EQ(Number, std::size(Cases));
}

TEST(Api, NoCallee) {
  EXPECT_EQ(classify(static_cast<const FunctionDecl *>(nullptr)).Kind,
            Api::Foreign);
}

TEST(Api, DependentCallsByNameWhereItIsBeyondDoubt) {
  auto Unit = parseTorch(R"cpp(
    template <class T> void case0(T &net) { net.zero_grad(); }
    template <class T> void case1(T &net, torch::Tensor x) { net.forward(x); }
    template <class T> void case2(T &loss) { loss.backward(); }
    template <class T> void case3(T &some) { some.step(); }
    template <class T> void case4(T &some) { some(1); }
    template <class T> void case5(torch::optim::SGD &sgd, T) { sgd.step(); }
  )cpp");
  ASSERT_TRUE(Unit);
  const Api Kinds[] = {Api::ModuleZeroGrad, Api::ModuleForward,
                       Api::Backward,       Api::Foreign,
                       Api::Foreign,        Api::OptimizerStep};
  for (unsigned I = 0; I < std::size(Kinds); ++I) {
    const FunctionDecl *F = findFunction(*Unit, "case" + std::to_string(I));
    ASSERT_TRUE(F);
    const CallExpr *Expression = onlyCall(F);
    ASSERT_TRUE(Expression) << I;
    EXPECT_EQ(static_cast<int>(classify(Expression).Kind),
              static_cast<int>(Kinds[I]))
        << I;
  }
}

TEST(Api, CodeWithErrors) {
  ParseOptions Options;
  Options.AllowErrors = true;
  auto Unit = parseTorch(R"cpp(
    void first(torch::Tensor t) { t.no_such_method(); undeclared(t); }
    void second(torch::optim::SGD &sgd) { sgd.step(missing); sgd.zero_grad(); }
  )cpp",
                         Options);
  ASSERT_TRUE(Unit);
  for (llvm::StringRef Name : {"first", "second"}) {
    const FunctionDecl *F = findFunction(*Unit, Name);
    ASSERT_TRUE(F);
    for (const Stmt *S : F->getBody()->children())
      if (const auto *Expression = dyn_cast_or_null<CallExpr>(S))
        classify(Expression);
  }
}
