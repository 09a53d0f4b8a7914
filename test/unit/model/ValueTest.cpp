// Values are a join semilattice: the analysis ends, and its order of work does
// not matter.
#include "model/state/State.h"
#include "gtest/gtest.h"

using namespace torchtidy::model;

static std::vector<Value> samples() {
  std::vector<Value> Result(1);
  for (uint8_t History :
       {history::None, history::Leaf, history::Graph, history::Unknown})
    Result.push_back(Value::withHistory(History));
  for (Device D : {Device::CPU, Device::CUDA, Device::Other}) {
    Value V;
    V.OnDevice = Devices(D);
    Result.push_back(V);
  }
  Value Mixed;
  Mixed.OnDevice = Devices::unknown();
  Mixed.OfType = Known<DType>(DType::Integral);
  Mixed.InLayout = Known<Layout>(Layout::Contiguous);
  Mixed.InStorage = Known<Storage>(Storage::Blob);
  Mixed.Mode = mode::Off;
  Mixed.InShape = Shape::whole({2, 1});
  Result.push_back(Mixed);
  Value Other = Mixed;
  Other.OfType = Known<DType>(DType::Floating);
  Other.InLayout = Known<Layout>(Layout::Strided);
  Other.InStorage = Known<Storage>(Storage::View);
  Other.Mode = mode::On;
  Other.InShape = Shape::whole({3, 2, 1});
  Other.ViewOf = {PlaceId(1), PlaceId(4)};
  Result.push_back(Other);
  Result.push_back(Value::handle({PlaceId(3)}));
  Result.push_back(Value::handle({PlaceId(1), PlaceId(2)}));
  Value Computed = Value::withHistory(history::Graph);
  Computed.addOrigin(OriginId(4));
  Computed.addOrigin(OriginId(2));
  Result.push_back(Computed);
  Value Many = Computed;
  Many.ManyOrigins = true;
  Many.addOrigin(OriginId(7));
  Result.push_back(Many);
  return Result;
}

static Value joined(Value A, const Value &B) {
  A.join(B);
  return A;
}

TEST(Value, JoinIsIdempotent) {
  for (const Value &V : samples()) {
    Value Copy = V;
    EXPECT_FALSE(Copy.join(V));
    EXPECT_TRUE(Copy == V);
  }
}

TEST(Value, JoinIsCommutativeAndAssociative) {
  const std::vector<Value> All = samples();
  for (const Value &A : All)
    for (const Value &B : All) {
      EXPECT_TRUE(joined(A, B) == joined(B, A));
      for (const Value &C : All)
        EXPECT_TRUE(joined(joined(A, B), C) == joined(A, joined(B, C)));
    }
}

TEST(Value, JoinGoesUpwardsAndSaysSo) {
  const std::vector<Value> All = samples();
  for (const Value &A : All)
    for (const Value &B : All) {
      Value Into = A;
      const bool Changed = Into.join(B);
      EXPECT_EQ(Changed, !(Into == A));
      // The result is above both.
      EXPECT_FALSE(Into.join(A));
      EXPECT_FALSE(Into.join(B));
    }
}

TEST(Value, EmptyIsTheLeast) {
  for (const Value &V : samples()) {
    EXPECT_TRUE(joined(Value(), V) == V);
    EXPECT_TRUE(joined(V, Value()) == V);
  }
}

TEST(Value, Origins) {
  Value V;
  EXPECT_TRUE(V.addOrigin(OriginId(9)));
  EXPECT_TRUE(V.addOrigin(OriginId(3)));
  EXPECT_FALSE(V.addOrigin(OriginId(9)));
  EXPECT_TRUE(V.hasOrigin(OriginId(3)));
  EXPECT_FALSE(V.hasOrigin(OriginId(4)));
  EXPECT_EQ(V.Origins.size(), 2u);
  EXPECT_LT(V.Origins[0], V.Origins[1]) << "sorted";
}

TEST(Value, OriginsAreBounded) {
  Value V;
  for (unsigned Number = 0; Number < Value::MaxOrigins; ++Number)
    EXPECT_TRUE(V.addOrigin(OriginId(Number)));
  EXPECT_FALSE(V.ManyOrigins);
  EXPECT_TRUE(V.addOrigin(OriginId(Value::MaxOrigins)))
      << "that there are more is news";
  EXPECT_TRUE(V.ManyOrigins);
  EXPECT_FALSE(V.addOrigin(OriginId(Value::MaxOrigins + 1))) << "but once";
  EXPECT_FALSE(V.addOrigin(OriginId(3)));
  EXPECT_EQ(V.Origins.size(), Value::MaxOrigins);
}

TEST(Value, History) {
  EXPECT_TRUE(
      Value::withHistory(history::Graph | history::None).mayHaveGraph());
  EXPECT_FALSE(Value::withHistory(history::Leaf).mayHaveGraph());
  EXPECT_TRUE(Value::withHistory(history::Leaf).needsGrad());
  EXPECT_FALSE(Value::withHistory(history::None).needsGrad());
  EXPECT_FALSE(Value::withHistory(history::Unknown).needsGrad());
  EXPECT_EQ(joined(Value::withHistory(history::None),
                   Value::withHistory(history::Graph))
                .History,
            history::None | history::Graph)
      << "a set of possibilities";
}

TEST(Known, FlatLattice) {
  Known<Device> Nothing, Cpu(Device::CPU), Cuda(Device::CUDA);
  EXPECT_TRUE(Nothing.isEmpty());
  EXPECT_EQ(Nothing.get(), std::nullopt);
  EXPECT_EQ(Cpu.get(), Device::CPU);

  Known<Device> V = Nothing;
  EXPECT_TRUE(V.join(Cpu));
  EXPECT_TRUE(V == Cpu);
  EXPECT_FALSE(V.join(Cpu));
  EXPECT_FALSE(V.join(Nothing));
  EXPECT_TRUE(V.join(Cuda));
  EXPECT_TRUE(V.isUnknown());
  EXPECT_EQ(V.get(), std::nullopt);
  EXPECT_FALSE(V.isEmpty());
  EXPECT_FALSE(V.join(Cpu)) << "nothing is above unknown";
}

TEST(PlaceState, Find) {
  State S;
  EXPECT_EQ(S.find(PlaceId(1)), nullptr);
  S.Places[PlaceId(1)] = Value::withHistory(history::Leaf);
  ASSERT_TRUE(S.find(PlaceId(1)));
  EXPECT_EQ(S.find(PlaceId(1))->History, history::Leaf);
}
