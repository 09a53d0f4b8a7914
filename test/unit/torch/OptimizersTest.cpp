// Which optimizers keep state, by class and options.
#include "torch/Optimizers.h"
#include "ast/Expressions.h"
#include "torch/Variables.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;
using namespace torchtidy;
using namespace torchtidy::test;

namespace {

struct Optimizers : testing::Test {
  static void SetUpTestSuite() {
    Shared = std::make_unique<Variables>(R"cpp(
using namespace torch::optim;
std::vector<torch::Tensor> w;
double some();
const double nothing = 0, much = 0.9;
Adam adam(w, 0.1);
AdamW adamW(w);
RMSprop rmsprop(w, RMSpropOptions(0.1));
Adagrad adagrad(w);
LBFGS lbfgs(w);
SGD plain(w, 0.1);
SGD decayed(w, SGDOptions(0.1).weight_decay(0.1));
SGD momentum(w, SGDOptions(0.1).momentum(0.9));
SGD nesterov(w, SGDOptions(0.1).momentum(0.9).nesterov(true));
SGD constant(w, SGDOptions(0.1).momentum(much));
SGD zero(w, SGDOptions(0.1).momentum(0));
SGD constantZero(w, SGDOptions(0.1).momentum(nothing));
SGD unknown(w, SGDOptions(0.1).momentum(some()));
struct Mine : Adam { using Adam::Adam; };
Mine mine(w);
)cpp");
  }
  static void TearDownTestSuite() { Shared.reset(); }
  void SetUp() override { ASSERT_TRUE(Shared && Shared->isRead()); }

  static bool keeps(llvm::StringRef Name) {
    const VarDecl *V = Shared->variable(Name);
    const auto *Construct = dyn_cast_or_null<CXXConstructExpr>(
        V && V->getInit() ? ast::strip(V->getInit()) : nullptr);
    if (!Construct) {
      ADD_FAILURE() << Name.str() << " is not constructed";
      return false;
    }
    const llvm::SmallVector<const Expr *, 4> Arguments(Construct->arg_begin(),
                                                       Construct->arg_end());
    return torch::keepsState(V->getType(), Arguments, Shared->context());
  }

  static inline std::unique_ptr<Variables> Shared;
};

} // namespace

TEST_F(Optimizers, KeepState) {
  for (const char *Name : {"adam", "adamW", "rmsprop", "adagrad", "momentum",
                           "nesterov", "constant"})
    EXPECT_TRUE(keeps(Name)) << Name;
}

TEST_F(Optimizers, KeepNoneThatIsKnown) {
  for (const char *Name :
       {"plain", "decayed", "zero", "constantZero", "unknown", "lbfgs", "mine"})
    EXPECT_FALSE(keeps(Name)) << Name;
}
