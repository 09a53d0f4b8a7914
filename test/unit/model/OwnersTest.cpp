// Which variable or member owns an object on the heap.
#include "model/Model.h"
#include "clang/AST/ExprCXX.h"
#include <map>

using namespace clang;
using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct Owners : ModelTest<Owners> {
  static const char Code[];

  /// The names of the owners by what makes the objects: "" where there is none.
  static std::map<std::string, std::string> owners(llvm::StringRef Root) {
    const Entry W = entry(Root);
    std::map<std::string, std::string> Result;
    for (const CreateEvent *Create : W.all<CreateEvent>())
      if (isa_and_nonnull<CXXNewExpr, CallExpr>(Create->Site))
        for (PlaceId P : Create->Objects) {
          const ValueDecl *Owner = W->ownerOf(P);
          Result[Shared->program().text(Create->Site)] =
              Owner ? Owner->getNameAsString() : "";
        }
    return Result;
  }
};

const char Owners::Code[] = R"cpp(
#include <memory>
using torch::Tensor;
using torch::nn::LinearImpl;
void keep(std::shared_ptr<LinearImpl> l);

struct Trainer {
  Trainer() : first(std::make_unique<LinearImpl>(1, 1)) {
    second = std::make_shared<LinearImpl>(2, 2);
    third.reset(new LinearImpl(3, 3));
  }
  Tensor run(Tensor x) { return first->forward(x); }
  std::unique_ptr<LinearImpl> first, third, fourth = std::make_unique<LinearImpl>(4, 4);
  std::shared_ptr<LinearImpl> second;
};
void locals() {
  auto a = std::make_unique<LinearImpl>(1, 1);
  std::unique_ptr<LinearImpl> b(new LinearImpl(2, 2));
  LinearImpl *c = new LinearImpl(3, 3);
  c = new LinearImpl(4, 4);
  std::shared_ptr<LinearImpl> d{nullptr}, e = std::make_shared<LinearImpl>(5, 5);
  d = std::shared_ptr<LinearImpl>(new LinearImpl(6, 6));
}
std::shared_ptr<LinearImpl> elsewhere() {
  std::vector<std::shared_ptr<LinearImpl>> list(2);
  list.push_back(std::make_shared<LinearImpl>(1, 1));
  list[0] = std::make_shared<LinearImpl>(2, 2);
  keep(std::make_shared<LinearImpl>(3, 3));
  Tensor y = std::make_shared<LinearImpl>(4, 4)->forward(torch::ones({4}));
  return std::make_shared<LinearImpl>(5, 5);
}
void onTheStack() { LinearImpl plain(1, 1); }
)cpp";

} // namespace

TEST_F(Owners, VariablesThatAreDeclaredOrAssignedTo) {
  EXPECT_EQ(owners("locals"), (std::map<std::string, std::string>{
                                  {"std::make_unique<LinearImpl>(1, 1)", "a"},
                                  {"new LinearImpl(2, 2)", "b"},
                                  {"new LinearImpl(3, 3)", "c"},
                                  {"new LinearImpl(4, 4)", "c"},
                                  {"std::make_shared<LinearImpl>(5, 5)", "e"},
                                  {"new LinearImpl(6, 6)", "d"}}));
}

TEST_F(Owners, MembersThatAConstructorMakes) {
  EXPECT_EQ(owners("Trainer::run"),
            (std::map<std::string, std::string>{
                {"std::make_unique<LinearImpl>(1, 1)", "first"},
                {"std::make_shared<LinearImpl>(2, 2)", "second"},
                {"new LinearImpl(3, 3)", "third"},
                {"std::make_unique<LinearImpl>(4, 4)", "fourth"}}));
}

TEST_F(Owners, NoneOfWhatGoesElsewhere) {
  const auto Found = owners("elsewhere");
  EXPECT_EQ(Found.size(), 5u);
  for (const auto &[Made, Owner] : Found)
    EXPECT_EQ(Owner, "") << Made;
}

TEST_F(Owners, NoneOfVariables) {
  const Entry W = entry("onTheStack");
  for (const CreateEvent *Create : W.all<CreateEvent>())
    for (PlaceId P : Create->Objects)
      EXPECT_EQ(W->ownerOf(P), nullptr);
  EXPECT_FALSE(W.all<CreateEvent>().empty());
}
