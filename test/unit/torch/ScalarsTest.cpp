// What memory consists of, and which scalar types of LibTorch fit it.
#include "torch/Scalars.h"
#include "torch/Types.h"
#include "torch/Variables.h"

using namespace torchtidy::torch;
using namespace torchtidy::test;

namespace {

struct ScalarsTest : testing::Test {
  static void SetUpTestSuite() {
    Declared = std::make_unique<Variables>(R"cpp(
#include <array>
#include <complex>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>
struct Point { double x, y, z; };
struct Named { std::string name; };
struct Mixed { int id; float score; };
struct Derived : Point { double w[2]; };
struct Leads { float *values; };
struct Virtual { virtual ~Virtual(); float x; };
struct Unknown;
enum class Kind : short { A };
union Bits { float f; int i; };
float floating; double wide; int integer; unsigned long number; bool flag;
unsigned char byte; std::byte raw; Kind kind; short table[2][3];
std::complex<float> z; c10::complex<double> z2; at::Half half; at::BFloat16 brain;
Point point; Derived derived; std::array<float, 3> three; std::pair<int, int> pair;
float *address; std::unique_ptr<float> unique; std::vector<float> row;
std::string text; std::vector<std::string> *texts;
Mixed mixed; Leads leads; Virtual hidden; Bits bits; extern Unknown unknown;
)cpp");
  }
  static void TearDownTestSuite() { Declared.reset(); }
  void SetUp() override { ASSERT_TRUE(Declared->isRead()); }

  static std::optional<Element> element(llvm::StringRef Name) {
    return elementOf(Declared->type(Name), Declared->context());
  }
  static std::string name(llvm::StringRef Name) {
    const auto Found = element(Name);
    return Found ? Found->Name.str() : "none";
  }

  static inline std::unique_ptr<Variables> Declared;
};

TEST_F(ScalarsTest, NamesOfElements) {
  const std::pair<const char *, const char *> Cases[] = {
      {"floating", "Float"},   {"wide", "Double"},  {"integer", "Int"},
      {"number", "Long"},      {"flag", "Bool"},    {"byte", "Byte"},
      {"raw", "Byte"},         {"kind", "Short"},   {"table", "Short"},
      {"z", "ComplexFloat"},   {"half", "Half"},    {"brain", "BFloat16"},
      {"z2", "ComplexDouble"}, {"point", "Double"}, {"derived", "Double"},
      {"three", "Float"},      {"pair", "Int"},     {"mixed", "none"},
      {"leads", "none"},       {"hidden", "none"},  {"bits", "none"},
      {"unknown", "none"}};
  for (const auto &[Variable, Name] : Cases)
    EXPECT_EQ(name(Variable), Name) << Variable;
}

TEST_F(ScalarsTest, WhatLeadsElsewhere) {
  for (const char *Name : {"address", "unique"})
    EXPECT_EQ(element(Name)->Of, Element::Pointer) << Name;
  for (const char *Name : {"row", "text"})
    EXPECT_EQ(element(Name)->Of, Element::Container) << Name;
}

TEST_F(ScalarsTest, Fits) {
  EXPECT_TRUE(fits(*element("floating"), "Float", false));
  EXPECT_FALSE(fits(*element("wide"), "Float", false));
  EXPECT_FALSE(fits(*element("integer"), "Float", true));
  EXPECT_FALSE(fits(*element("integer"), "Long", true));
  EXPECT_TRUE(fits(*element("number"), "UInt64", true));
  EXPECT_TRUE(fits(*element("kind"), "Half", true));
  EXPECT_TRUE(fits(*element("byte"), "Float", true));
  EXPECT_FALSE(fits(*element("byte"), "Float", false));
  EXPECT_TRUE(fits(*element("floating"), "ComplexFloat", true));
  EXPECT_TRUE(fits(*element("z"), "Float", false));
  EXPECT_FALSE(fits(*element("wide"), "ComplexFloat", true));
  EXPECT_TRUE(fits(*element("address"), "Long", true));
  EXPECT_FALSE(fits(*element("address"), "Float", false));
  EXPECT_TRUE(fits(*element("point"), "Byte", true));
  EXPECT_FALSE(fits(*element("row"), "Byte", true));
  // Quantized types, and what comes with later versions.
  EXPECT_TRUE(fits(*element("wide"), "QInt8", true));
}

TEST_F(ScalarsTest, Sizes) {
  EXPECT_EQ(scalarSize("Byte"), 1u);
  EXPECT_EQ(scalarSize("BFloat16"), 2u);
  EXPECT_EQ(scalarSize("ComplexDouble"), 16u);
  EXPECT_EQ(scalarSize("Float8_e5m2"), 0u);
}

} // namespace
