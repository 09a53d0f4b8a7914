#include "model/base/Place.h"
#include "support/Parse.h"
#include "clang/AST/DeclCXX.h"
#include "gtest/gtest.h"

using namespace clang;
using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

/// Variables and fields to make places of.
class PlaceTest : public testing::Test {
protected:
  void SetUp() override {
    Unit = parse(R"cpp(
      struct Optimizer { int Rate; };
      struct Trainer { Optimizer Sgd; Trainer *Next; int Size; };
      void use(Trainer First, Trainer Second) {}
    )cpp");
    ASSERT_TRUE(Unit);
    Use = findFunction(*Unit, "use");
    ASSERT_TRUE(Use);
    First = Use->getParamDecl(0);
    Second = Use->getParamDecl(1);
    auto Fields = First->getType()->getAsCXXRecordDecl()->fields();
    auto It = Fields.begin();
    Sgd = *It++;
    Next = *It++;
    Size = *It++;
    Rate = *Sgd->getType()->getAsCXXRecordDecl()->field_begin();
  }

  PlaceId local(const VarDecl *V, unsigned Frame = 0) {
    return Table.root(Root::Local, Frame, V);
  }

  std::unique_ptr<ASTUnit> Unit;
  const FunctionDecl *Use = nullptr;
  const VarDecl *First = nullptr, *Second = nullptr;
  const FieldDecl *Sgd = nullptr, *Next = nullptr, *Size = nullptr,
                  *Rate = nullptr;
  PlaceTable Table;
};

} // namespace

TEST_F(PlaceTest, RootsAreMadeOnce) {
  EXPECT_EQ(local(First), local(First));
  EXPECT_NE(local(First), local(Second));
  EXPECT_NE(local(First, 0), local(First, 1)) << "two activations";
  EXPECT_TRUE(Table.isRoot(local(First)));
  EXPECT_EQ(Table.rootKind(local(First)), Root::Local);
  EXPECT_EQ(Table.frame(local(First, 1)), 1u);
  EXPECT_EQ(Table.variable(local(First)), First);
}

TEST_F(PlaceTest, GlobalsAreTheSameInAllFrames) {
  EXPECT_EQ(Table.root(Root::Global, 0, First),
            Table.root(Root::Global, 3, First));
  EXPECT_EQ(Table.root(Root::Outer, 1, First),
            Table.root(Root::Outer, 2, First));
  EXPECT_NE(Table.root(Root::Global, 0, First),
            Table.root(Root::Outer, 0, First));
  EXPECT_NE(Table.root(Root::Global, 0, First), local(First));
}

TEST_F(PlaceTest, ThisIsNoVariable) {
  PlaceId This = Table.root(Root::This, 0, nullptr);
  EXPECT_EQ(This, Table.root(Root::This, 0, nullptr));
  EXPECT_NE(This, local(First));
  EXPECT_EQ(Table.rootKind(This), Root::This);
  EXPECT_EQ(Table.variable(This), nullptr);
}

TEST_F(PlaceTest, ReceiversAreOfTheirFrames) {
  EXPECT_NE(Table.root(Root::Receiver, 1, nullptr),
            Table.root(Root::Receiver, 2, nullptr));
  EXPECT_EQ(Table.root(Root::Background, 1, nullptr),
            Table.root(Root::Background, 2, nullptr));
  EXPECT_NE(Table.root(Root::Background, 0, nullptr),
            Table.root(Root::This, 0, nullptr));
}

TEST_F(PlaceTest, ChildrenAreMadeOnce) {
  PlaceId P = local(First);
  PlaceId Field = Table.field(P, Sgd);
  EXPECT_EQ(Field, Table.field(P, Sgd));
  EXPECT_NE(Field, Table.field(P, Size));
  EXPECT_NE(Field, Table.field(local(Second), Sgd));
  EXPECT_EQ(Table.element(P), Table.element(P));
  EXPECT_NE(Table.index(P, 0), Table.index(P, 1));
  EXPECT_NE(Table.element(P), Table.index(P, 0));
  EXPECT_NE(Table.parameters(P), Table.gradient(P));
  EXPECT_EQ(Table.parent(Field), P);
  EXPECT_EQ(Table.rootOf(Table.field(Field, Rate)), P);
  EXPECT_FALSE(Table.isRoot(Field));
  EXPECT_EQ(Table.children(P).size(), 7u);
}

TEST_F(PlaceTest, Within) {
  PlaceId P = local(First), Field = Table.field(P, Sgd),
          Part = Table.field(Field, Rate), Other = Table.field(P, Size);
  EXPECT_TRUE(Table.isWithin(Part, P));
  EXPECT_TRUE(Table.isWithin(Part, Field));
  EXPECT_TRUE(Table.isWithin(P, P));
  EXPECT_FALSE(Table.isWithin(P, Part));
  EXPECT_FALSE(Table.isWithin(Other, Field));
  EXPECT_TRUE(Table.overlap(P, Part));
  EXPECT_TRUE(Table.overlap(Part, P));
  EXPECT_FALSE(Table.overlap(Field, Other));
  EXPECT_FALSE(Table.overlap(P, local(Second)));
}

TEST_F(PlaceTest, Summaries) {
  PlaceId P = local(First), Element = Table.element(P);
  EXPECT_FALSE(Table.isSummary(P));
  EXPECT_FALSE(Table.isSummary(Table.index(P, 1)));
  EXPECT_FALSE(Table.isSummary(Table.gradient(P)));
  EXPECT_TRUE(Table.isSummary(Element));
  EXPECT_TRUE(Table.isSummary(Table.field(Element, Sgd)))
      << "a part of each element";
  EXPECT_TRUE(Table.isSummary(Table.parameters(P)));
  EXPECT_TRUE(Table.hasStep(Table.field(Element, Sgd), Step::Element));
  EXPECT_FALSE(Table.hasStep(P, Step::Element));
}

TEST_F(PlaceTest, PartsAreNotToldApart) {
  PlaceId P = local(First), Field = Table.field(P, Sgd);
  PlaceId Part = Table.part(Field);
  EXPECT_TRUE(Table.isSummary(Part));
  EXPECT_EQ(Table.toldApart(Part), Field);
  EXPECT_EQ(Table.toldApart(Table.part(Table.field(Part, Rate))), Field);
  EXPECT_EQ(Table.toldApart(Table.element(Field)), Table.element(Field));
}

TEST_F(PlaceTest, Owner) {
  PlaceId P = local(First), Field = Table.field(P, Sgd);
  EXPECT_EQ(Table.owner(Table.parameters(Field)), Field);
  EXPECT_EQ(Table.owner(Table.gradient(Table.parameters(Field))), Field);
  EXPECT_EQ(Table.owner(Field), Field);
  EXPECT_EQ(Table.owner(P), P);
}

TEST_F(PlaceTest, Names) {
  PlaceId P = local(First);
  EXPECT_EQ(Table.name(P), "First");
  EXPECT_EQ(Table.name(Table.field(P, Sgd)), "First.Sgd");
  EXPECT_EQ(Table.name(Table.field(Table.field(P, Sgd), Rate)),
            "First.Sgd.Rate");
  EXPECT_EQ(Table.name(Table.element(P)), "First");
  EXPECT_EQ(Table.name(Table.parameters(Table.field(P, Sgd))), "First.Sgd");
  PlaceId This = Table.root(Root::This, 0, nullptr);
  EXPECT_EQ(Table.name(This), "");
  EXPECT_EQ(Table.name(Table.field(This, Sgd)), "Sgd")
      << "as members are written";
  EXPECT_EQ(Table.name(Table.root(Root::Object, 0, Use)), "");
}

TEST_F(PlaceTest, TypesOfVariablesAndFields) {
  PlaceId P = local(First);
  EXPECT_EQ(Table.typeOf(P), First->getType());
  EXPECT_EQ(Table.typeOf(Table.field(P, Sgd)), Sgd->getType());
  EXPECT_EQ(Table.typeOf(Table.field(Table.field(P, Sgd), Rate)),
            Rate->getType());
  EXPECT_TRUE(Table.typeOf(Table.root(Root::This, 0, nullptr)).isNull());
  EXPECT_TRUE(Table.typeOf(Table.root(Root::Object, 0, Use)).isNull());
  EXPECT_TRUE(Table.typeOf(Table.parameters(P)).isNull());
  EXPECT_TRUE(Table.typeOf(Table.gradient(P)).isNull());
  EXPECT_TRUE(Table.typeOf(Table.index(P, 0)).isNull()) << "no tuple";
  EXPECT_TRUE(Table.typeOf(Table.element(P)).isNull()) << "no container";
}

TEST(PlaceTypes, OfPartsAndElements) {
  auto Unit = parse(R"cpp(
    #include <tuple>
    #include <vector>
    void use(std::vector<std::tuple<int, std::pair<char, float>>> List) {}
  )cpp");
  ASSERT_TRUE(Unit);
  const FunctionDecl *Use = findFunction(*Unit, "use");
  ASSERT_TRUE(Use);
  PlaceTable Table;
  PlaceId Element =
      Table.element(Table.root(Root::Local, 0, Use->getParamDecl(0)));
  EXPECT_FALSE(Table.typeOf(Element).isNull());
  EXPECT_TRUE(Table.typeOf(Table.index(Element, 0))->isIntegerType());
  PlaceId Pair = Table.index(Element, 1);
  EXPECT_TRUE(Table.typeOf(Table.index(Pair, 1))->isFloatingType());
  EXPECT_TRUE(Table.typeOf(Table.index(Pair, 0))->isCharType());
  EXPECT_TRUE(Table.typeOf(Table.index(Pair, 2)).isNull()) << "of two parts";
  EXPECT_EQ(Table.name(Pair), "List");
}

TEST_F(PlaceTest, DeepPathsAreFolded) {
  // A list: its tail is one place.
  PlaceId P = local(First);
  for (unsigned I = 0; I < 100; ++I)
    P = Table.field(P, Next);
  EXPECT_EQ(Table.field(P, Next), P);
  EXPECT_LE(Table.size(), PlaceTable::MaxDepth + 1);
  EXPECT_TRUE(Table.isWithin(P, local(First)));
  PlaceId Short = Table.field(Table.field(local(First), Next), Size);
  EXPECT_NE(Short, P) << "short paths are told apart";
}

TEST(PlaceSet, SortedWithoutDuplicates) {
  PlaceSet Set;
  const PlaceId One(1), Two(2), Five(5), Seven(7);
  EXPECT_TRUE(insert(Set, Five));
  EXPECT_TRUE(insert(Set, Two));
  EXPECT_FALSE(insert(Set, Five));
  EXPECT_TRUE(insert(Set, PlaceSet{One, Two, Seven}));
  EXPECT_FALSE(insert(Set, PlaceSet{One, Two}));
  EXPECT_EQ(Set, (PlaceSet{One, Two, Five, Seven}));
}
