// What is known of modules: parameters to train, dependence on train() and
// eval().
#include "torch/Modules.h"
#include "torch/Callbacks.h"
#include "torch/Functions.h"
#include "torch/Types.h"
#include "torch/Variables.h"

using namespace clang;
using namespace torchtidy::torch;
using namespace torchtidy::test;

namespace {

struct Case {
  const char *Type;
  Parameters Trains;
  Parameters Depends;
};

constexpr Parameters None = Parameters::None, Some = Parameters::Some,
                     Unknown = Parameters::Unknown;

const char Before[] = R"cpp(
struct Plain : torch::nn::Module { int size; };
struct WithLinear : torch::nn::Module { torch::nn::Linear fc{nullptr}; };
struct WithDropout : torch::nn::Module { torch::nn::Dropout drop; };
struct WithNorm : torch::nn::Module { torch::nn::BatchNorm2d norm{nullptr}; };
struct Activations : torch::nn::Module { torch::nn::ReLU a; torch::nn::Tanh b; };
struct WithSequential : torch::nn::Module { torch::nn::Sequential layers; };
struct WithTensor : torch::nn::Module { torch::Tensor weight; };
struct Inner : torch::nn::Module {
  std::vector<torch::nn::Linear> layers;
  torch::nn::Dropout drop;
};
struct Outer : torch::nn::Module { std::shared_ptr<Inner> inner; };
struct Derived : WithNorm {};
struct Interface : torch::nn::Module { virtual torch::Tensor forward() = 0; };
struct Behind : Interface { torch::Tensor forward() override { return {}; } };
struct Tree : torch::nn::Module { std::shared_ptr<Tree> left, right; };
struct TreeOfLinear : torch::nn::Module {
  std::vector<std::shared_ptr<TreeOfLinear>> children;
  torch::nn::Linear fc{nullptr};
};
)cpp";

const Case Cases[] = {
    {"torch::nn::LinearImpl", Some, None},
    {"torch::nn::BilinearImpl", Some, None},
    {"torch::nn::Conv2dImpl", Some, None},
    {"torch::nn::ConvTranspose2dImpl", Some, None},
    {"torch::nn::EmbeddingImpl", Some, None},
    {"torch::nn::LayerNormImpl", Some, None},
    {"torch::nn::LSTMImpl", Some, Unknown},
    {"torch::nn::GRUCellImpl", Some, Unknown},
    {"torch::nn::BatchNorm2dImpl", Some, Some},
    {"torch::nn::TransformerEncoderImpl", Some, Unknown},
    {"torch::nn::DropoutImpl", None, Some},
    {"torch::nn::AlphaDropoutImpl", None, Some},
    {"torch::nn::ReLUImpl", None, None},
    {"torch::nn::MSELossImpl", None, None},
    {"torch::nn::CrossEntropyLossImpl", None, None},
    {"torch::nn::MaxPool2dImpl", None, None},
    {"torch::nn::InstanceNorm2dImpl", Unknown, Unknown},
    {"torch::nn::FlattenImpl", None, None},
    {"torch::nn::SequentialImpl", Unknown, Unknown},
    {"torch::nn::ModuleListImpl", Unknown, Unknown},
    {"torch::nn::Module", Unknown, Unknown},
    {"torch::jit::Module", Unknown, Unknown},
    {"torch::jit::Method", Unknown, Unknown},
    {"torch::jit::Object", Unknown, Unknown},
    {"Interface &", Unknown, Unknown},
    {"Behind", None, None},
    {"Plain", None, None},
    {"WithLinear", Some, None},
    {"WithDropout", None, Some},
    {"WithNorm", Some, Some},
    {"Activations", None, None},
    {"WithSequential", Unknown, Unknown},
    {"Outer", Some, Some},
    {"Derived", Some, Some},
    {"Tree", None, None},
    {"TreeOfLinear", Some, None},
};

} // namespace

TEST(Modules, ParametersAndModeDependence) {
  std::string Code = Before;
  unsigned Number = 0;
  for (const Case &C : Cases)
    Code += "extern " + std::string(C.Type) + " v" + std::to_string(Number++) +
            ";\n";
  Variables Declared(Code);
  ASSERT_TRUE(Declared.isRead());
  Number = 0;
  for (const Case &C : Cases) {
    const CXXRecordDecl *Record =
        moduleClass(Declared.type("v" + std::to_string(Number++)));
    ASSERT_TRUE(Record) << C.Type;
    EXPECT_EQ(static_cast<int>(parametersOf(Record)),
              static_cast<int>(C.Trains))
        << C.Type;
    EXPECT_EQ(static_cast<int>(modeDependence(Record)),
              static_cast<int>(C.Depends))
        << C.Type;
  }
}

TEST(Modules, TensorMemberMayBeAParameter) {
  Variables Declared(std::string(Before) + "extern WithTensor net;");
  ASSERT_TRUE(Declared.isRead());
  EXPECT_EQ(parametersOf(Declared.record("WithTensor")), Unknown);
}

TEST(Modules, WhatCannotBeSeen) {
  Variables Declared("struct NotDefined;");
  ASSERT_TRUE(Declared.isRead());
  EXPECT_EQ(parametersOf(nullptr), Unknown);
  EXPECT_EQ(modeDependence(nullptr), Unknown);
  EXPECT_EQ(parametersOf(Declared.record("NotDefined")), Unknown);
  EXPECT_EQ(modeDependence(Declared.record("NotDefined")), Unknown);
}

TEST(Modules, ModulesThatHoldEachOther) {
  Variables Declared(R"cpp(
    struct Decoder;
    struct Encoder : torch::nn::Module { std::shared_ptr<Decoder> decoder; };
    struct Decoder : torch::nn::Module {
      std::weak_ptr<Encoder> encoder;
      torch::nn::Linear fc{nullptr};
    };
    struct Second;
    struct First : torch::nn::Module { std::shared_ptr<Second> second; };
    struct Second : torch::nn::Module { std::weak_ptr<First> first; };
  )cpp");
  ASSERT_TRUE(Declared.isRead());
  EXPECT_EQ(parametersOf(Declared.record("Encoder")), Some);
  EXPECT_EQ(parametersOf(Declared.record("Decoder")), Some);
  EXPECT_EQ(parametersOf(Declared.record("First")), None);
  EXPECT_EQ(modeDependence(Declared.record("First")), None);
}

TEST(Modules, NamesAsTheyAreUsed) {
  Variables Declared("extern torch::nn::DropoutImpl layer;");
  ASSERT_TRUE(Declared.isRead());
  EXPECT_EQ(layerName(moduleClass(Declared.type("layer"))), "Dropout");
}

TEST(Modules, WhatMembersLeadTo) {
  Calls Members(R"cpp(
    using namespace torch::nn;
    Sequential s; ModuleList l; ModuleDict d; Linear linear(2, 2);
  )cpp",
                {"s[1]", "s->ptr(1)", "s->at<LinearImpl>(0)", "l->begin()",
                 "s->children()", "s->named_children()", "d->values()",
                 "s->modules()", "s->as<Linear>()", "s->size()",
                 "s->parameters()", "l->push_back(linear)",
                 "s->apply([](Module &part) { part.train(); })"});
  ASSERT_TRUE(Members.isRead());
  const auto Leading = [&](PartAccess To) {
    return Members.those(
        [&](const FunctionDecl *F) { return partAccess(F) == To; });
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(Leading(PartAccess::One),
            (Texts{"s[1]", "s->ptr(1)", "s->at<LinearImpl>(0)"}));
  EXPECT_EQ(Leading(PartAccess::Several),
            (Texts{"l->begin()", "s->children()", "s->named_children()",
                   "d->values()"}));
  EXPECT_EQ(Leading(PartAccess::All), Texts{"s->modules()"});
  EXPECT_EQ(Leading(PartAccess::Itself), Texts{"s->as<Linear>()"});
  EXPECT_EQ(Members.those(addsParts), Texts{"l->push_back(linear)"});
  EXPECT_EQ(Members.those(callsForModules),
            Texts{"s->apply([](Module &part) { part.train(); })"});
}

TEST(Modules, NamesOfDerivatives) {
  for (const char *Name : {"forces", "atom_forces", "edgeForces", "virial_",
                           "dE/dx gradient", "grad", "STRESS"})
    EXPECT_TRUE(namesDerivative(Name)) << Name;
  for (const char *Name : {"reinforce", "enforced", "no_grad", "noGrad",
                           "requires_grad", "gradual", "", "logits"})
    EXPECT_FALSE(namesDerivative(Name)) << Name;
}
