// What types lead to and may hold.
#include "torch/Ownership.h"
#include "torch/Types.h"
#include "torch/Variables.h"

using namespace clang;
using namespace torchtidy::torch;
using namespace torchtidy::test;

namespace {

class PartsTest : public testing::Test {
protected:
  void read(llvm::StringRef Code) {
    Declared.emplace(Code);
    ASSERT_TRUE(Declared->isRead());
  }

  /// As it is printed, without elaboration; "none" for a null type.
  static std::string print(QualType Type) {
    if (Type.isNull())
      return "none";
    PrintingPolicy Policy{LangOptions()};
    Policy.SuppressTagKeyword = true;
    Policy.adjustForCPlusPlus();
    return Type.getCanonicalType().getUnqualifiedType().getAsString(Policy);
  }
  std::string pointee(llvm::StringRef Name) const {
    return print(torchtidy::torch::pointee(Declared->type(Name)));
  }
  std::string element(llvm::StringRef Name) const {
    return print(elementType(Declared->type(Name)));
  }
  std::string moduleOf(llvm::StringRef Name) const {
    const CXXRecordDecl *Record = moduleClass(Declared->type(Name));
    return Record ? Record->getQualifiedNameAsString() : "none";
  }

  std::optional<Variables> Declared;
};

} // namespace

TEST_F(PartsTest, Pointee) {
  read(R"cpp(
    struct NetImpl : torch::nn::Module {};
    TORCH_MODULE(Net);
    extern torch::Tensor *pointer;
    extern const torch::Tensor *&reference_to_pointer;
    extern std::shared_ptr<NetImpl> shared;
    extern std::unique_ptr<torch::optim::SGD> unique;
    extern std::optional<torch::Tensor> optional;
    extern torch::nn::Linear linear;
    extern Net net;
    extern torch::nn::Sequential sequential;
    extern torch::Tensor tensor;
    extern int number;
  )cpp");
  EXPECT_EQ(pointee("pointer"), "at::Tensor");
  EXPECT_EQ(pointee("reference_to_pointer"), "at::Tensor");
  EXPECT_EQ(pointee("shared"), "NetImpl");
  EXPECT_EQ(pointee("unique"), "torch::optim::SGD");
  EXPECT_EQ(pointee("optional"), "at::Tensor");
  EXPECT_EQ(pointee("linear"), "torch::nn::LinearImpl");
  EXPECT_EQ(pointee("net"), "NetImpl");
  EXPECT_EQ(pointee("sequential"), "torch::nn::SequentialImpl");
  EXPECT_EQ(pointee("tensor"), "at::Tensor") << "the type itself for others";
  EXPECT_EQ(pointee("number"), "int");
}

TEST_F(PartsTest, Element) {
  read(R"cpp(
    extern std::vector<torch::Tensor> vector;
    extern std::map<std::string, torch::Tensor> map;
    extern std::unordered_map<int, std::vector<int>> nested;
    extern std::set<int> set;
    extern torch::OrderedDict<std::string, torch::Tensor> ordered;
    extern c10::Dict<std::string, torch::Tensor> dict;
    extern torch::TensorList list;
    extern std::tuple<torch::Tensor> tuple;
    extern torch::Tensor tensor;
    extern int number;
  )cpp");
  EXPECT_EQ(element("vector"), "at::Tensor");
  EXPECT_EQ(element("map"), "at::Tensor") << "not the key";
  EXPECT_EQ(print(elementType(elementType(Declared->type("nested")))), "int");
  EXPECT_EQ(element("set"), "int");
  EXPECT_EQ(element("ordered"), "at::Tensor");
  EXPECT_EQ(element("dict"), "at::Tensor");
  EXPECT_EQ(element("list"), "at::Tensor");
  EXPECT_EQ(element("tuple"), "none");
  EXPECT_EQ(element("tensor"), "none");
  EXPECT_EQ(element("number"), "none");
  EXPECT_TRUE(elementType(QualType()).isNull());
}

TEST_F(PartsTest, TupleTypes) {
  read(R"cpp(
    template <class... Parts> using Together = std::tuple<Parts...>;
    extern std::tuple<torch::Tensor, int, std::vector<float>> three;
    extern std::tuple<> empty;
    extern const std::pair<torch::Tensor, std::string> &pair;
    extern std::pair<int, std::tuple<torch::Tensor, torch::Tensor>> nested;
    extern Together<torch::Tensor, float> alias;
    extern std::array<torch::Tensor, 3> array;
    extern std::array<int, 8> eight;
    extern std::array<int, 9> nine;
    extern std::tuple<torch::Tensor &, const int> references;
    extern std::vector<torch::Tensor> vector;
    extern std::optional<std::tuple<int>> optional;
    extern torch::Tensor tensor;
    extern int number;
  )cpp");
  auto Parts = [&](llvm::StringRef Name) {
    std::vector<std::string> Result;
    for (QualType Part : tupleTypes(Declared->type(Name)))
      Result.push_back(print(Part));
    return Result;
  };
  using Types = std::vector<std::string>;
  ASSERT_EQ(Parts("three").size(), 3u);
  EXPECT_EQ(Parts("three")[0], "at::Tensor");
  EXPECT_EQ(Parts("three")[1], "int");
  EXPECT_EQ(Parts("empty"), Types{});
  ASSERT_EQ(Parts("pair").size(), 2u) << "through a reference";
  EXPECT_EQ(Parts("pair")[0], "at::Tensor");
  ASSERT_EQ(Parts("nested").size(), 2u);
  EXPECT_EQ(tupleTypes(tupleTypes(Declared->type("nested"))[1]).size(), 2u);
  EXPECT_EQ(Parts("alias"), (Types{"at::Tensor", "float"}));
  EXPECT_EQ(Parts("array"), (Types{"at::Tensor", "at::Tensor", "at::Tensor"}));
  EXPECT_EQ(Parts("eight").size(), 8u);
  EXPECT_TRUE(Parts("nine").empty()) << "a container";
  EXPECT_EQ(Parts("references").size(), 2u);
  for (const char *Name : {"vector", "optional", "tensor", "number"})
    EXPECT_TRUE(Parts(Name).empty()) << Name;
  EXPECT_TRUE(tupleTypes(QualType()).empty());
}

TEST_F(PartsTest, Optionals) {
  read(R"cpp(
    namespace mine { template <class T> struct optional {}; }
    using Maybe = std::optional<torch::Tensor>;
    extern std::optional<int> yes_std;
    extern c10::optional<torch::Tensor> yes_c10;
    extern const Maybe &yes_alias;
    extern std::shared_ptr<int> no_shared;
    extern torch::Tensor *no_pointer;
    extern torch::Tensor no_tensor;
    extern int no_number;
  )cpp");
  for (const char *Name : {"yes_std", "yes_c10", "yes_alias"})
    EXPECT_TRUE(isOptional(Declared->type(Name))) << Name;
  for (const char *Name : {"no_shared", "no_pointer", "no_tensor", "no_number"})
    EXPECT_FALSE(isOptional(Declared->type(Name))) << Name;
  EXPECT_FALSE(isOptional(QualType()));
}

TEST_F(PartsTest, Devices) {
  read(R"cpp(
    namespace mine { struct Device {}; }
    extern torch::Device yes_torch;
    extern const c10::Device &yes_c10;
    extern at::Device yes_at;
    extern torch::DeviceType no_type;
    extern mine::Device no_mine;
    extern torch::TensorOptions no_options;
    extern std::optional<torch::Device> no_optional;
    extern std::string no_text;
  )cpp");
  for (const char *Name : {"yes_torch", "yes_c10", "yes_at"})
    EXPECT_TRUE(isDevice(Declared->type(Name))) << Name;
  for (const char *Name :
       {"no_type", "no_mine", "no_options", "no_optional", "no_text"})
    EXPECT_FALSE(isDevice(Declared->type(Name))) << Name;
  EXPECT_FALSE(isDevice(QualType()));
}

TEST(Types, ScalarNames) {
  EXPECT_EQ(scalarName("kFloat"), "Float");
  EXPECT_EQ(scalarName("kFloat32"), scalarName("kFloat"));
  EXPECT_EQ(scalarName("kFloat64"), scalarName("kDouble"));
  EXPECT_EQ(scalarName("kFloat16"), scalarName("kHalf"));
  EXPECT_EQ(scalarName("kInt64"), scalarName("kLong"));
  EXPECT_EQ(scalarName("kInt32"), scalarName("kInt"));
  EXPECT_EQ(scalarName("kInt16"), scalarName("kShort"));
  EXPECT_EQ(scalarName("kInt8"), scalarName("kChar"));
  EXPECT_EQ(scalarName("kUInt8"), scalarName("kByte"));
  EXPECT_NE(scalarName("kUInt8"), scalarName("kInt8"));
  EXPECT_NE(scalarName("kFloat16"), scalarName("kBFloat16"));
  EXPECT_EQ(scalarName("kBool"), "Bool") << "the name of at::ScalarType::Bool";
  EXPECT_EQ(scalarName("Float"), "Float") << "at::ScalarType::Float";
}

TEST_F(PartsTest, ModuleClass) {
  read(R"cpp(
    struct NetImpl : torch::nn::Module {};
    TORCH_MODULE(Net);
    extern NetImpl &reference;
    extern NetImpl *pointer;
    extern Net holder;
    extern std::shared_ptr<NetImpl> shared;
    extern std::shared_ptr<torch::nn::Linear> shared_holder;
    extern std::optional<Net> optional;
    extern torch::jit::Module script;
    extern torch::nn::AnyModule any;
    extern std::vector<Net> vector;
    extern torch::Tensor tensor;
  )cpp");
  EXPECT_EQ(moduleOf("reference"), "NetImpl");
  EXPECT_EQ(moduleOf("pointer"), "NetImpl");
  EXPECT_EQ(moduleOf("holder"), "NetImpl");
  EXPECT_EQ(moduleOf("shared"), "NetImpl");
  EXPECT_EQ(moduleOf("shared_holder"), "torch::nn::LinearImpl");
  EXPECT_EQ(moduleOf("optional"), "NetImpl");
  EXPECT_EQ(moduleOf("script"), "torch::jit::Module");
  EXPECT_EQ(moduleOf("any"), "none") << "which one cannot be known";
  EXPECT_EQ(moduleOf("vector"), "none");
  EXPECT_EQ(moduleOf("tensor"), "none");
}

TEST_F(PartsTest, MayHoldTensor) {
  read(R"cpp(
    struct NetImpl : torch::nn::Module {};
    struct Batch { int size; torch::Tensor data; };
    struct Derived : Batch { int more; };
    struct Numbers { int a; std::vector<float> b; std::string c; };
    struct NotDefined;
    inline auto capturing(torch::Tensor t) { return [t] { return t; }; }
    inline auto counting(int n) { return [n] { return n; }; }
    using Capturing = decltype(capturing(torch::Tensor()));
    using Counting = decltype(counting(1));

    extern torch::Tensor yes_tensor;
    extern const torch::Tensor *yes_pointer;
    extern std::vector<torch::Tensor> yes_vector;
    extern std::vector<std::vector<torch::Tensor>> yes_nested;
    extern std::map<std::string, torch::Tensor> yes_map;
    extern std::pair<float, torch::Tensor> yes_pair;
    extern std::tuple<int, torch::Tensor> yes_tuple;
    extern std::optional<torch::Tensor> yes_optional;
    extern std::shared_ptr<NetImpl> yes_shared;
    extern torch::nn::Linear yes_holder;
    extern torch::optim::SGD yes_optimizer;
    extern torch::jit::Module yes_script;
    extern c10::IValue yes_ivalue;
    extern std::vector<c10::IValue> yes_ivalues;
    extern std::function<void()> yes_function;
    extern Batch yes_class;
    extern Derived yes_derived;
    extern Capturing &yes_lambda;
    extern NotDefined *yes_incomplete;
    extern void *yes_void;
    extern torch::data::Example<> yes_example;

    extern int no_int;
    extern double *no_pointer;
    extern bool no_array[2];
    extern std::string no_string;
    extern std::vector<float> no_vector;
    extern std::map<std::string, int> no_map;
    extern std::tuple<int, float> no_tuple;
    extern std::shared_ptr<int> no_shared;
    extern Numbers no_class;
    extern Counting &no_lambda;
    extern torch::Device no_device;
    extern torch::TensorOptions no_options;
    extern torch::ScalarType no_enum;
    extern torch::IntArrayRef no_sizes;
    extern std::thread no_thread;
  )cpp");
  for (auto *Name :
       {"yes_tensor",    "yes_pointer", "yes_vector", "yes_nested",
        "yes_map",       "yes_pair",    "yes_tuple",  "yes_optional",
        "yes_shared",    "yes_holder",  "yes_script", "yes_ivalue",
        "yes_optimizer", "yes_ivalues", "yes_class",  "yes_function",
        "yes_derived",   "yes_lambda",  "yes_void",   "yes_incomplete",
        "yes_example"})
    EXPECT_TRUE(mayHoldTensor(Declared->type(Name))) << Name;
  for (auto *Name :
       {"no_int", "no_pointer", "no_array", "no_string", "no_vector", "no_map",
        "no_tuple", "no_shared", "no_class", "no_lambda", "no_device",
        "no_options", "no_enum", "no_sizes", "no_thread"})
    EXPECT_FALSE(mayHoldTensor(Declared->type(Name))) << Name;
  EXPECT_TRUE(mayHoldTensor(QualType()));
}

TEST_F(PartsTest, MayHoldTensorThroughTheRestOfTheStandardLibrary) {
  read(R"cpp(
    #include <any>
    #include <future>
    #include <variant>
    extern std::variant<int, torch::Tensor> yes_variant;
    extern std::any yes_any;
    extern std::future<torch::Tensor> yes_future;
    extern std::initializer_list<torch::Tensor> yes_list;
    extern std::variant<int, float> no_variant;
    extern std::future<int> no_future;
    extern std::initializer_list<int> no_list;
  )cpp");
  for (auto *Name : {"yes_variant", "yes_any", "yes_future", "yes_list"})
    EXPECT_TRUE(mayHoldTensor(Declared->type(Name))) << Name;
  for (auto *Name : {"no_variant", "no_future", "no_list"})
    EXPECT_FALSE(mayHoldTensor(Declared->type(Name))) << Name;
}

TEST_F(PartsTest, MayHoldTensorEndsOnRecursiveTypes) {
  read(R"cpp(
    struct Node { int value; std::vector<std::shared_ptr<Node>> children; };
    struct Other; struct One { Other *other; int number; };
    struct Other { One *one; };
    extern Node recursive;
    extern One mutual;
  )cpp");
  // Beyond a depth everything may: it must only come to an end.
  mayHoldTensor(Declared->type("recursive"));
  mayHoldTensor(Declared->type("mutual"));
}

TEST(Types, LibraryPaths) {
  EXPECT_TRUE(isLibraryPath("/opt/libtorch/include/torch/csrc/api/include/"
                            "torch/nn/module.h"));
  EXPECT_TRUE(isLibraryPath("/venv/site-packages/torch/include/ATen/ATen.h"));
  EXPECT_TRUE(isLibraryPath("/usr/include/c10/core/Device.h"));
  EXPECT_FALSE(isLibraryPath("/home/user/torch/train.cpp"));
  EXPECT_FALSE(isLibraryPath("src/model.h"));
  EXPECT_FALSE(isLibraryPath(""));
}

TEST_F(PartsTest, WhoseDeclaration) {
  read(R"cpp(
    namespace torch { namespace mine { struct Own {}; } }
    struct User {};
    extern torch::Tensor tensor;
    extern torch::nn::Linear linear;
    extern std::vector<int> vector;
    extern std::vector<int>::iterator iterator;
    extern torch::mine::Own own;
    extern User user;
  )cpp");
  auto Record = [&](llvm::StringRef Name) {
    return recordOf(Declared->type(Name));
  };
  EXPECT_TRUE(isLibTorch(Record("tensor")));
  EXPECT_TRUE(isLibTorch(Record("linear")));
  EXPECT_FALSE(isLibTorch(Record("vector")));
  EXPECT_FALSE(isLibTorch(Record("own"))) << "the user's, in their namespace";
  EXPECT_FALSE(isLibTorch(Record("user")));
  EXPECT_TRUE(isStd(Record("vector")));
  EXPECT_TRUE(isStd(Record("iterator")));
  EXPECT_FALSE(isStd(Record("tensor")));
  EXPECT_FALSE(isStd(Record("user")));
}

TEST_F(PartsTest, PlainData) {
  read(R"cpp(
    #include <map>
    #include <string>
    enum Color { Red };
    extern int number;
    extern Color color;
    extern std::string string;
    extern const std::string &reference;
    extern std::vector<std::string> strings;
    extern std::map<std::string, double> numbers;
    extern std::pair<int, std::string> pair;
    extern std::optional<float> optional;
    extern std::pair<int, torch::Tensor> tensor_in_pair;
    extern std::vector<torch::Tensor>::iterator iterator;
    extern torch::TensorOptions options;
    extern torch::Tensor tensor;
    extern double *pointer;
    extern std::function<void()> function;
  )cpp");
  for (const char *Name : {"number", "color", "string", "reference", "strings",
                           "numbers", "pair", "optional"})
    EXPECT_TRUE(isPlainData(Declared->type(Name))) << Name;
  for (const char *Name : {"tensor_in_pair", "iterator", "options", "tensor",
                           "pointer", "function"})
    EXPECT_FALSE(isPlainData(Declared->type(Name))) << Name;
}
