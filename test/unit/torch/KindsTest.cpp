// What C++ types mean to LibTorch, on its real headers.
#include "torch/Types.h"
#include "torch/Variables.h"

using namespace clang;
using namespace torchtidy::torch;
using namespace torchtidy::test;

namespace {

struct Case {
  const char *Name;
  const char *Type;
  TypeKind Kind;
};

const char Before[] = R"cpp(
#include <deque>
#include <future>
#include <list>
#include <queue>
#include <stack>

struct NetImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) { return x; }
};
TORCH_MODULE(Net);
struct DeepImpl : NetImpl {};
struct CopyImpl : torch::nn::Cloneable<CopyImpl> { void reset() override {} };
template <class Part> struct Wrapped : torch::nn::Module { Part part; };
struct MyOptimizer : torch::optim::SGD { using SGD::SGD; };
namespace torch { namespace extra { struct ByBase : nn::Module {}; } }

// RAII types of the user.
struct GuardMember { torch::NoGradGuard guard; };
struct GuardBase : torch::NoGradGuard {};
struct GuardNested { GuardMember inner; };
struct GuardOptional { std::optional<torch::NoGradGuard> guard; };
struct GuardPointer { std::unique_ptr<torch::NoGradGuard> guard; };
struct GuardMode { GuardMode(bool on) : mode(on) {} at::AutoGradMode mode; };

// Not LibTorch's, in spite of their names.
namespace mine {
struct Tensor {}; struct Optimizer {}; struct Module {}; struct NoGradGuard {};
}
namespace torch { namespace mine { struct Optimizer {}; struct IValue {}; } }
struct NotDefined;
using Loss = torch::Tensor;
struct Batch { torch::Tensor data, target; };
)cpp";

const Case Cases[] = {
    {"tensor", "torch::Tensor", TypeKind::Tensor},
    {"tensor_base", "at::TensorBase", TypeKind::Tensor},
    {"variable", "torch::autograd::Variable", TypeKind::Tensor},
    {"tensor_reference", "const torch::Tensor &", TypeKind::Tensor},
    {"tensor_pointer", "torch::Tensor *", TypeKind::Tensor},
    {"tensor_array", "torch::Tensor[3]", TypeKind::Tensor},
    {"tensor_alias", "const Loss", TypeKind::Tensor},

    {"optimizer", "torch::optim::Optimizer &", TypeKind::Optimizer},
    {"sgd", "torch::optim::SGD", TypeKind::Optimizer},
    {"adam", "torch::optim::Adam", TypeKind::Optimizer},
    {"lbfgs", "torch::optim::LBFGS", TypeKind::Optimizer},
    {"own_optimizer", "MyOptimizer", TypeKind::Optimizer},
    {"scheduler", "torch::optim::LRScheduler &", TypeKind::Other},
    {"step_lr", "torch::optim::StepLR", TypeKind::Other},
    {"plateau", "torch::optim::ReduceLROnPlateauScheduler", TypeKind::Other},
    {"sgd_options", "torch::optim::SGDOptions", TypeKind::Other},

    {"module", "torch::nn::Module", TypeKind::Module},
    {"linear_impl", "torch::nn::LinearImpl", TypeKind::Module},
    {"sequential_impl", "torch::nn::SequentialImpl", TypeKind::Module},
    {"own_module", "NetImpl", TypeKind::Module},
    {"module_of_module", "DeepImpl *", TypeKind::Module},
    {"cloneable", "CopyImpl", TypeKind::Module},
    {"module_template", "decltype(Wrapped<int>())", TypeKind::Module},
    {"module_in_torch", "torch::extra::ByBase", TypeKind::Module},

    {"linear", "torch::nn::Linear", TypeKind::ModuleHolder},
    {"own_holder", "Net", TypeKind::ModuleHolder},
    {"sequential", "torch::nn::Sequential", TypeKind::ModuleHolder},
    {"module_list", "torch::nn::ModuleList", TypeKind::ModuleHolder},
    {"any_module", "torch::nn::AnyModule", TypeKind::ModuleHolder},
    {"jit_module", "torch::jit::Module", TypeKind::ScriptModule},
    {"script_module", "torch::jit::script::Module", TypeKind::ScriptModule},
    {"ivalue", "c10::IValue", TypeKind::IValue},

    {"no_grad", "torch::NoGradGuard", TypeKind::NoGradGuard},
    {"inference", "c10::InferenceMode", TypeKind::NoGradGuard},
    {"below_autograd", "at::AutoDispatchBelowAutograd", TypeKind::NoGradGuard},
    {"grad_mode", "torch::AutoGradMode", TypeKind::GradModeGuard},
    {"guard_member", "GuardMember", TypeKind::NoGradGuard},
    {"guard_base", "GuardBase", TypeKind::NoGradGuard},
    {"guard_nested", "GuardNested", TypeKind::NoGradGuard},
    {"guard_optional", "GuardOptional", TypeKind::NoGradGuard},
    {"guard_pointer", "GuardPointer", TypeKind::NoGradGuard},
    {"guard_mode", "GuardMode", TypeKind::GradModeGuard},

    {"shared", "std::shared_ptr<NetImpl>", TypeKind::Pointer},
    {"unique", "std::unique_ptr<torch::optim::SGD>", TypeKind::Pointer},
    {"weak", "std::weak_ptr<NetImpl>", TypeKind::Pointer},
    {"optional", "std::optional<torch::Tensor>", TypeKind::Pointer},
    {"c10_optional", "c10::optional<torch::Tensor>", TypeKind::Pointer},
    {"wrapper", "std::reference_wrapper<torch::Tensor>", TypeKind::Pointer},
    {"intrusive", "c10::intrusive_ptr<c10::TensorImpl>", TypeKind::Pointer},

    {"vector", "std::vector<torch::Tensor>", TypeKind::Container},
    {"deque", "std::deque<torch::Tensor>", TypeKind::Container},
    {"list", "std::list<torch::Tensor>", TypeKind::Container},
    {"map", "std::map<int, torch::Tensor>", TypeKind::Container},
    {"hash_map", "std::unordered_map<int, int>", TypeKind::Container},
    {"set", "std::set<int>", TypeKind::Container},
    {"stack", "std::stack<torch::Tensor>", TypeKind::Container},
    {"queue", "std::queue<torch::Tensor>", TypeKind::Container},
    {"c10_list", "c10::List<torch::Tensor>", TypeKind::Container},
    {"c10_dict", "c10::Dict<std::string, torch::Tensor>", TypeKind::Container},
    {"ordered", "torch::OrderedDict<std::string, torch::Tensor>",
     TypeKind::Container},
    {"array_ref", "torch::TensorList", TypeKind::Container},
    {"small_vector", "c10::SmallVector<torch::Tensor, 4>", TypeKind::Container},

    {"tuple", "std::tuple<torch::Tensor, int>", TypeKind::Aggregate},
    {"pair", "std::pair<torch::Tensor, int>", TypeKind::Aggregate},
    {"array", "std::array<torch::Tensor, 2>", TypeKind::Aggregate},
    {"function", "std::function<void()>", TypeKind::Callable},
    {"task", "std::packaged_task<void()>", TypeKind::Callable},
    {"thread", "std::thread", TypeKind::Thread},
    {"future", "std::future<int>", TypeKind::Thread},

    {"number", "int", TypeKind::Other},
    {"text", "std::string", TypeKind::Other},
    {"device", "torch::Device", TypeKind::Other},
    {"options", "torch::TensorOptions", TypeKind::Other},
    {"batch", "Batch", TypeKind::Other},
    {"mine_tensor", "mine::Tensor", TypeKind::Other},
    {"mine_optimizer", "mine::Optimizer", TypeKind::Other},
    {"mine_module", "mine::Module", TypeKind::Other},
    {"mine_guard", "mine::NoGradGuard", TypeKind::Other},
    {"in_torch_optimizer", "torch::mine::Optimizer", TypeKind::Other},
    {"in_torch_ivalue", "torch::mine::IValue", TypeKind::Other},
    {"incomplete", "NotDefined *", TypeKind::Other},
    {"function_pointer", "void (*)()", TypeKind::Other},
};

std::string source() {
  std::string Code = Before;
  for (const Case &C : Cases)
    Code += std::string("template <class T> struct id_") + C.Name +
            " { using type = T; };\nextern id_" + C.Name + "<" + C.Type +
            ">::type " + C.Name + ";\n";
  return Code;
}

} // namespace

TEST(Types, Kinds) {
  Variables Declared(source());
  ASSERT_TRUE(Declared.isRead());
  for (const Case &C : Cases) {
    EXPECT_EQ(static_cast<int>(kindOf(Declared.type(C.Name))),
              static_cast<int>(C.Kind))
        << C.Type;
    EXPECT_EQ(isTensor(Declared.type(C.Name)), C.Kind == TypeKind::Tensor)
        << C.Type;
    const bool WantsModule = C.Kind == TypeKind::Module ||
                             C.Kind == TypeKind::ModuleHolder ||
                             C.Kind == TypeKind::ScriptModule;
    EXPECT_EQ(isModule(Declared.type(C.Name)), WantsModule) << C.Type;
  }
}

TEST(Types, NoType) {
  EXPECT_EQ(kindOf(QualType()), TypeKind::Other);
  EXPECT_EQ(kindOf(static_cast<const CXXRecordDecl *>(nullptr)),
            TypeKind::Other);
  EXPECT_EQ(recordOf(QualType()), nullptr);
}

TEST(Types, InsideATemplateThatNothingInstantiates) {
  auto Unit = parseTorch(R"cpp(
    template <class Model> struct Trainer {
      void run(Model &model, std::vector<Model> &models, Trainer *self) {}
    };
    template <class T> struct Net : torch::nn::Module {
      void use(Net &net) {}
    };
  )cpp");
  ASSERT_TRUE(Unit);
  const FunctionDecl *Run = findFunction(*Unit, "run");
  ASSERT_TRUE(Run);
  for (const ParmVarDecl *P : Run->parameters()) {
    const bool IsVector = P->getName() == "models";
    EXPECT_EQ(kindOf(P->getType()),
              IsVector ? TypeKind::Container : TypeKind::Other);
  }
  const FunctionDecl *Use = findFunction(*Unit, "use");
  ASSERT_TRUE(Use);
  EXPECT_EQ(kindOf(Use->getParamDecl(0)->getType()), TypeKind::Module);
}
