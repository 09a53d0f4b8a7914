// Members and functions of LibTorch that are no operations, on its real
// headers: of tensors, handles, options and modules.
#include "torch/Members.h"
#include "torch/Functions.h"
#include "torch/Measurement.h"
#include "torch/Modules.h"
#include "torch/Options.h"
#include "torch/Types.h"
#include "torch/Variables.h"

using namespace clang;
using namespace torchtidy::torch;
using namespace torchtidy::test;

using Names = std::vector<std::string>;

TEST(Members, OfTensors) {
  const Calls All("extern torch::Tensor t;", {"t.data_ptr<float>()",
                                              "t.const_data_ptr()",
                                              "t.mutable_data_ptr()",
                                              "t.accessor<float, 2>()",
                                              "t.packed_accessor64<float, 2>()",
                                              "t.storage()",
                                              "t.unsafeGetTensorImpl()",
                                              "t.sizes()",
                                              "t.strides()",
                                              "t.sym_sizes()",
                                              "t.size(0)",
                                              "t.device()",
                                              "t.options()",
                                              "t.dtype()",
                                              "t.defined()",
                                              "t.reset()",
                                              "t.dim()",
                                              "t.numel()",
                                              "t.requires_grad_()",
                                              "t.set_requires_grad(true)",
                                              "t.requires_grad()",
                                              "t.clone()",
                                              "t.sum()"});
  ASSERT_TRUE(All.isRead());
  EXPECT_EQ(All.those(isDataPointer),
            (Names{"t.data_ptr<float>()", "t.const_data_ptr()",
                   "t.mutable_data_ptr()"}));
  EXPECT_EQ(All.those(isSizeList),
            (Names{"t.sizes()", "t.strides()", "t.sym_sizes()"}));
  EXPECT_EQ(All.those(givesWriteAccess),
            (Names{"t.data_ptr<float>()", "t.mutable_data_ptr()",
                   "t.accessor<float, 2>()", "t.packed_accessor64<float, 2>()",
                   "t.storage()", "t.unsafeGetTensorImpl()"}));
  EXPECT_EQ(All.those(givesReadAccess),
            (Names{"t.data_ptr<float>()", "t.const_data_ptr()",
                   "t.mutable_data_ptr()", "t.accessor<float, 2>()",
                   "t.packed_accessor64<float, 2>()"}));
  EXPECT_EQ(All.those(saysDevice), (Names{"t.device()", "t.options()"}));
  EXPECT_EQ(All.those(torchtidy::torch::saysOptions), (Names{"t.options()"}));
  EXPECT_EQ(All.those(resetsTensor), (Names{"t.reset()"}));
  EXPECT_EQ(All.those(isClone), (Names{"t.clone()"}));
  EXPECT_EQ(All.those(asksTensor),
            (Names{"t.sizes()", "t.size(0)", "t.device()", "t.options()",
                   "t.dtype()", "t.defined()", "t.dim()", "t.numel()",
                   "t.requires_grad_()", "t.set_requires_grad(true)"}));
  EXPECT_EQ(All.those(saysProperty),
            (Names{"t.sizes()", "t.strides()", "t.sym_sizes()", "t.size(0)",
                   "t.device()", "t.options()", "t.dtype()", "t.defined()",
                   "t.dim()", "t.numel()"}));
  EXPECT_EQ(All.those(saysKind),
            (Names{"t.device()", "t.options()", "t.dtype()"}));
  EXPECT_EQ(All.those(asksWhetherThere), (Names{"t.defined()"}));
}

TEST(Members, OfOptimizers) {
  const Calls All("extern torch::optim::SGD sgd; "
                  "extern std::vector<torch::Tensor> v;",
                  {"sgd.add_parameters(v)", "sgd.add_param_group(v)"});
  ASSERT_TRUE(All.isRead());
  EXPECT_EQ(All.those(addsUnchecked), (Names{"sgd.add_parameters(v)"}));
}

TEST(Members, OfHandlesAndFunctions) {
  const Calls All(
      R"cpp(
    extern torch::nn::Linear linear;
    extern c10::intrusive_ptr<c10::ivalue::Tuple> pointer;
    extern c10::optional<torch::Tensor> maybe;
    extern c10::IValue value;
    void run();
    struct Image { void *data(); void *ptr(int); Image clone(); };
    extern Image image;
  )cpp",
      {"linear.ptr()",
       "linear.get()",
       "*linear",
       "linear.operator->()",
       "linear.is_empty()",
       "pointer.get()",
       "maybe.value()",
       "maybe.has_value()",
       "value.toTensor()",
       "value.toTuple()",
       "value.toInt()",
       "value.toStringRef()",
       "value.isTensor()",
       "torch::set_default_dtype(caffe2::TypeMeta())",
       "at::GradMode::is_enabled()",
       "c10::AutogradState::get_tls_state().get_grad_mode()",
       "c10::InferenceMode::is_enabled()",
       "at::launch(run)",
       "image.data()",
       "image.ptr(1)",
       "image.clone()"});
  ASSERT_TRUE(All.isRead());
  EXPECT_EQ(
      All.those(leadsToContent),
      (Names{"linear.ptr()", "linear.get()", "*linear", "linear.operator->()",
             "pointer.get()", "maybe.value()", "image.ptr(1)"}));
  EXPECT_EQ(All.those(leadsToPointee),
            (Names{"linear.ptr()", "linear.get()", "*linear",
                   "linear.operator->()", "pointer.get()", "image.ptr(1)"}));
  EXPECT_EQ(All.those(asksWhetherThere), (Names{"maybe.has_value()"}));
  EXPECT_EQ(All.those(leadsIntoIValue),
            (Names{"*linear", "linear.operator->()", "value.toTensor()",
                   "value.toTuple()", "value.toInt()", "value.toStringRef()"}));
  EXPECT_EQ(All.those(isToTensor), (Names{"value.toTensor()"}));
  EXPECT_EQ(All.those(isToNumberOrText),
            (Names{"value.toInt()", "value.toStringRef()"}));
  EXPECT_EQ(All.those(changesDefaultType),
            (Names{"torch::set_default_dtype(caffe2::TypeMeta())"}));
  EXPECT_EQ(All.those(saysGradMode),
            (Names{"at::GradMode::is_enabled()",
                   "c10::AutogradState::get_tls_state().get_grad_mode()"}));
  EXPECT_EQ(All.those(isLaunch), (Names{"at::launch(run)"}));
  EXPECT_EQ(All.those(leadsToMemory),
            (Names{"linear.ptr()", "image.data()", "image.ptr(1)"}));
  EXPECT_EQ(All.those(isClone), (Names{"image.clone()"}));
}

TEST(Members, NullIsNone) {
  using Predicate = bool (*)(const FunctionDecl *);
  for (Predicate Is :
       {isDataPointer,    isSizeList,         givesWriteAccess,
        givesReadAccess,  saysDevice,         torchtidy::torch::saysOptions,
        resetsTensor,     asksTensor,         saysProperty,
        saysKind,         asksWhetherThere,   addsUnchecked,
        leadsToPointee,   leadsToContent,     leadsIntoIValue,
        isToTensor,       changesDefaultType, saysGradMode,
        isLaunch,         movesParameters,    leadsToMemory,
        isClone,          saysScalarType,     saysOtherOption,
        saysRequiresGrad, isForward,          unregisters,
        registersNewName, asksForMode,        returnsRegistered,
        appendsOne,       addsElements,       leadsToElements,
        keepsAsIs})
    EXPECT_FALSE(Is(nullptr));
}

TEST(Options, Functions) {
  const Calls All("extern torch::TensorOptions o;",
                  {"torch::dtype(torch::kFloat)", "torch::dtype<float>()",
                   "o.dtype(torch::kFloat)", "torch::device(torch::kCPU)",
                   "o.device(torch::kCPU)", "o.device_index(0)",
                   "torch::requires_grad()", "o.requires_grad(true)",
                   "o.layout(torch::kStrided)", "o.pinned_memory(true)",
                   "o.memory_format(torch::MemoryFormat::Contiguous)",
                   "o.has_dtype()"});
  ASSERT_TRUE(All.isRead());
  EXPECT_EQ(All.those(saysScalarType),
            (Names{"torch::dtype(torch::kFloat)", "torch::dtype<float>()",
                   "o.dtype(torch::kFloat)"}));
  EXPECT_EQ(All.those(saysRequiresGrad),
            (Names{"torch::requires_grad()", "o.requires_grad(true)"}));
  EXPECT_EQ(All.those(saysOtherOption),
            (Names{"torch::device(torch::kCPU)", "o.device(torch::kCPU)",
                   "o.device_index(0)", "torch::requires_grad()",
                   "o.requires_grad(true)", "o.layout(torch::kStrided)",
                   "o.pinned_memory(true)",
                   "o.memory_format(torch::MemoryFormat::Contiguous)"}));
}

TEST(Options, Constants) {
  struct Case {
    const char *Constant;
    std::optional<DeviceKind> Device;
    std::optional<ScalarKind> Scalar;
  };
  const Case Cases[] = {
      {"torch::kCPU", DeviceKind::CPU, {}},
      {"torch::DeviceType::CPU", DeviceKind::CPU, {}},
      {"torch::kCUDA", DeviceKind::CUDA, {}},
      {"torch::kMPS", DeviceKind::Other, {}},
      {"torch::kXPU", DeviceKind::Other, {}},
      {"torch::kFloat", {}, ScalarKind::Floating},
      {"torch::kFloat64", {}, ScalarKind::Floating},
      {"torch::kDouble", {}, ScalarKind::Floating},
      {"torch::kHalf", {}, ScalarKind::Floating},
      {"torch::kBFloat16", {}, ScalarKind::Floating},
      {"torch::kInt", {}, ScalarKind::Integral},
      {"torch::kInt64", {}, ScalarKind::Integral},
      {"torch::kLong", {}, ScalarKind::Integral},
      {"torch::kUInt8", {}, ScalarKind::Integral},
      {"torch::kByte", {}, ScalarKind::Integral},
      {"torch::kChar", {}, ScalarKind::Integral},
      {"torch::kShort", {}, ScalarKind::Integral},
      {"torch::kBool", {}, ScalarKind::Bool},
      {"torch::kComplexFloat", {}, ScalarKind::Complex},
      {"torch::kI64", {}, ScalarKind::Integral},
      {"torch::kF32", {}, ScalarKind::Floating},
      {"at::ScalarType::Byte", {}, ScalarKind::Integral},
      {"c10::ScalarType::Half", {}, ScalarKind::Floating},
      {"at::ScalarType::Bool", {}, ScalarKind::Bool},
      {"at::DeviceType::CUDA", DeviceKind::CUDA, {}},
      {"torch::kStrided", {}, {}},
      {"torch::kMean", {}, {}},
  };
  std::vector<std::string> Texts;
  for (const Case &C : Cases)
    Texts.push_back(std::string("use(") + C.Constant + ")");
  const Calls All("template <class T> int use(const T &);", Texts);
  ASSERT_TRUE(All.isRead());
  for (const Case &C : Cases) {
    const CallExpr *Call = All.call(std::string("use(") + C.Constant + ")");
    const auto *Ref = dyn_cast<DeclRefExpr>(Call->getArg(0)->IgnoreImplicit());
    ASSERT_TRUE(Ref) << C.Constant;
    EXPECT_TRUE(deviceOf(Ref->getDecl()) == C.Device) << C.Constant;
    EXPECT_TRUE(scalarKindOf(Ref->getDecl()) == C.Scalar) << C.Constant;
  }
  EXPECT_FALSE(deviceOf(nullptr));
  EXPECT_FALSE(scalarKindOf(nullptr));
}

namespace {

struct TypesAskedTest : testing::Test {
  static void SetUpTestSuite() {
    All = std::make_unique<Variables>(R"cpp(
      extern torch::Device device;
      extern torch::DeviceType device_type;
      extern torch::TensorOptions options;
      extern c10::optional<torch::ScalarType> maybe_type;
      extern torch::ScalarType scalar_type;
      extern caffe2::TypeMeta type_meta;
      extern torch::Layout layout;
      extern torch::MemoryFormat format;
      extern bool flag;
      extern int number;
      extern torch::Tensor tensor;
      enum Plain { A };
      extern Plain plain;
      extern at::IntArrayRef sizes;
      extern std::vector<torch::Tensor> vector;
      extern std::map<int, torch::Tensor> map;
      extern c10::List<torch::Tensor> list;
      extern c10::Dict<int, torch::Tensor> dict;
      extern torch::OrderedDict<std::string, torch::Tensor> ordered;
      extern torch::OrderedDict<std::string, torch::Tensor>::Item item;
      extern std::pair<torch::Tensor, int> pair;
      extern std::tuple<torch::Tensor, int> tuple;
      extern std::tuple<torch::Tensor &, int &> tie;
      extern c10::InferenceMode inference;
      extern torch::NoGradGuard guard;
      extern torch::nn::functional::ReLUFuncOptions relu;
      extern torch::nn::functional::SoftmaxFuncOptions softmax;
    )cpp");
  }
  static void TearDownTestSuite() { All.reset(); }
  void SetUp() override { ASSERT_TRUE(All->isRead()); }

  template <class Predicate> static Names those(Predicate Is) {
    Names Result;
    for (const char *Name :
         {"device",    "device_type", "options",   "maybe_type", "scalar_type",
          "type_meta", "layout",      "format",    "flag",       "number",
          "tensor",    "plain",       "sizes",     "vector",     "map",
          "list",      "dict",        "ordered",   "item",       "pair",
          "tuple",     "tie",         "inference", "guard",      "relu",
          "softmax"})
      if (Is(All->type(Name)))
        Result.push_back(Name);
    return Result;
  }
  template <class Predicate> static Names records(Predicate Is) {
    return those([&](QualType Type) { return Is(recordOf(Type)); });
  }

  static std::unique_ptr<Variables> All;
};
std::unique_ptr<Variables> TypesAskedTest::All;

} // namespace

TEST_F(TypesAskedTest, WhatTheySay) {
  EXPECT_EQ(those(saysWhere),
            (Names{"device", "device_type", "options", "maybe_type",
                   "scalar_type", "layout", "format", "plain"}));
  EXPECT_EQ(those(saysDeviceOnly), (Names{"device", "device_type", "flag"}));
  EXPECT_EQ(those(saysNoScalar),
            (Names{"device", "device_type", "layout", "format"}));
  EXPECT_EQ(those(isScalarType), (Names{"scalar_type"}));
  EXPECT_EQ(those(isTypeMeta), (Names{"type_meta"}));
  EXPECT_EQ(records(hasInplace), (Names{"relu"}));
}

TEST_F(TypesAskedTest, Classes) {
  EXPECT_EQ(records(isArrayRef), (Names{"sizes"}));
  EXPECT_EQ(records(isOrderedDict), (Names{"ordered"}));
  EXPECT_EQ(records(isItem), (Names{"item"}));
  EXPECT_EQ(records(isPair), (Names{"pair"}));
  EXPECT_EQ(records(isInferenceMode), (Names{"inference"}));
  EXPECT_EQ(those(holdsItsElements),
            (Names{"vector", "map", "ordered", "pair", "tuple"}));
}

TEST(Options, Parameters) {
  const Calls All("extern torch::Tensor t; extern float data[4];",
                  {"torch::from_blob(data, {2, 2}, {2, 1})",
                   "t.to(torch::kCPU, torch::kFloat, false, true)"});
  ASSERT_TRUE(All.isRead());
  auto Named = [&](const char *Text, auto Is) {
    Names Result;
    for (const ParmVarDecl *P : All.callee(Text)->parameters())
      if (Is(P))
        Result.push_back(P->getNameAsString());
    return Result;
  };
  EXPECT_EQ(Named("torch::from_blob(data, {2, 2}, {2, 1})", isStrides),
            (Names{"strides"}));
  EXPECT_EQ(Named("t.to(torch::kCPU, torch::kFloat, false, true)", isCopyFlag),
            (Names{"copy"}));
  EXPECT_FALSE(isStrides(nullptr));
  EXPECT_FALSE(isCopyFlag(nullptr));
}

TEST(ModuleFunctions, ByMeaning) {
  const Calls All(R"cpp(
    struct NetImpl : torch::nn::Module {
      torch::Tensor forward(torch::Tensor x) { return x; }
      std::vector<torch::Tensor> parameters(int);
      using torch::nn::Module::parameters;
    };
    extern NetImpl net;
    extern torch::Tensor t;
    extern torch::nn::Linear linear;
    extern torch::nn::ModuleList list;
    extern torch::nn::Sequential sequential;
    extern torch::optim::SGD sgd;
    extern std::vector<torch::nn::Linear> layers;
    extern std::string text;
    std::vector<torch::Tensor> parameters();
  )cpp",
                  {"net.forward(t)",
                   "net.parameters()",
                   "net.buffers()",
                   "net.named_parameters()",
                   "net.named_buffers()",
                   "net.parameters(1)",
                   "parameters()",
                   "sgd.parameters()",
                   "net.unregister_module(\"a\")",
                   "net.is_training()",
                   "net.register_module(\"a\", linear)",
                   "net.replace_module(\"a\", linear)",
                   "net.register_parameter(\"b\", t)",
                   "net.register_buffer(\"c\", t)",
                   "net.name()",
                   "net.to(torch::kFloat)",
                   "net.modules()",
                   "list->push_back(linear)",
                   "sequential->push_back(linear)",
                   "layers.push_back(linear)",
                   "layers.emplace_back(2, 2)",
                   "text.append(\"a\")",
                   "list->insert(0, linear.ptr())",
                   "list->begin()",
                   "layers.back()",
                   "layers.at(0)",
                   "linear.get()",
                   "linear.is_empty()",
                   "list->size()",
                   "layers.empty()",
                   "layers.reserve(2)",
                   "linear->reset_parameters()"});
  ASSERT_TRUE(All.isRead());
  EXPECT_EQ(All.those(isForward), (Names{"net.forward(t)"}));
  EXPECT_EQ(All.those(unregisters), (Names{"net.unregister_module(\"a\")"}));
  EXPECT_EQ(All.those(registersNewName),
            (Names{"net.register_module(\"a\", linear)",
                   "net.register_parameter(\"b\", t)",
                   "net.register_buffer(\"c\", t)"}));
  EXPECT_EQ(All.those(movesParameters), (Names{"net.to(torch::kFloat)"}));
  EXPECT_EQ(All.those(asksForMode), (Names{"net.is_training()"}));
  Names Vectors;
  for (const char *Text :
       {"net.parameters()", "net.buffers()", "net.named_parameters()",
        "net.parameters(1)", "parameters()", "sgd.parameters()"})
    if (returnsTensorVector(All.call(Text)))
      Vectors.push_back(Text);
  EXPECT_EQ(Vectors, (Names{"net.parameters()", "net.buffers()"}))
      << "not the user's own, not the reference that an optimizer returns";
  EXPECT_EQ(
      All.those(returnsRegistered),
      (Names{"net.parameters()", "net.buffers()", "net.named_parameters()",
             "net.named_buffers()", "sgd.parameters()"}));
  EXPECT_EQ(All.those(appendsOne),
            (Names{"list->push_back(linear)", "sequential->push_back(linear)",
                   "layers.push_back(linear)"}));
  EXPECT_EQ(All.those(addsElements),
            (Names{"list->push_back(linear)", "sequential->push_back(linear)",
                   "layers.push_back(linear)", "layers.emplace_back(2, 2)",
                   "text.append(\"a\")", "list->insert(0, linear.ptr())"}));
  EXPECT_EQ(All.those(leadsToElements),
            (Names{"list->begin()", "layers.back()", "layers.at(0)",
                   "linear.get()"}));
  EXPECT_EQ(All.those(keepsAsIs),
            (Names{"net.is_training()", "net.name()", "net.to(torch::kFloat)",
                   "linear.is_empty()", "list->size()", "layers.empty()",
                   "layers.reserve(2)", "linear->reset_parameters()"}));
}

TEST(ModuleFunctions, Statistics) {
  const Variables All("extern torch::nn::BatchNorm1dImpl norm;");
  ASSERT_TRUE(All.isRead());
  Names Found;
  // They are of a base class.
  const CXXRecordDecl *Class = recordOf(All.type("norm"))->getDefinition();
  Class->forallBases([&](const CXXRecordDecl *Base) {
    for (const FieldDecl *Field : Base->fields())
      if (isStatistic(Field))
        Found.push_back(Field->getNameAsString());
    return true;
  });
  EXPECT_EQ(Found,
            (Names{"running_mean", "running_var", "num_batches_tracked"}));
}

TEST(Measurement, Clocks) {
  const Calls All(R"cpp(
    #include <chrono>
    #include <ctime>
    #include <sys/time.h>
    extern "C" int cudaDeviceSynchronize();
    extern "C" double omp_get_wtime();
    namespace benchmark { struct State { bool KeepRunning(); }; }
    extern benchmark::State state;
    struct Mine { void record(); void synchronize(); static int now(); };
    extern Mine mine;
    void synchronize();
    extern timeval *tv;
    extern c10::Event event;
  )cpp",
                  {"std::chrono::steady_clock::now()", "clock()",
                   "gettimeofday(tv, nullptr)", "cudaDeviceSynchronize()",
                   "omp_get_wtime()", "state.KeepRunning()",
                   "torch::cuda::synchronize()", "event.synchronize()",
                   "mine.record()", "mine.synchronize()", "Mine::now()",
                   "synchronize()", "time(nullptr)", "torch::manual_seed(1)"});
  ASSERT_TRUE(All.isRead());
  EXPECT_EQ(All.those(isMeasurement),
            (Names{"std::chrono::steady_clock::now()", "clock()",
                   "gettimeofday(tv, nullptr)", "cudaDeviceSynchronize()",
                   "omp_get_wtime()", "state.KeepRunning()",
                   "torch::cuda::synchronize()", "event.synchronize()"}));
  EXPECT_EQ(All.those(readsClock),
            (Names{"std::chrono::steady_clock::now()", "clock()",
                   "gettimeofday(tv, nullptr)", "omp_get_wtime()"}));
  EXPECT_FALSE(readsClock(nullptr));
}
