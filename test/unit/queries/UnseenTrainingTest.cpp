// Which calls of code that is not seen may train.
#include "queries/graphs/UnseenTraining.h"
#include "ast/Names.h"
#include "model/Model.h"

using namespace clang;
using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

using Found = std::map<std::string, UnseenTraining>;

struct UnseenTrainingTest : ModelTest<UnseenTrainingTest> {
  /// By the name of the function that is called.
  static Found ask(const std::string &Root) {
    Found Result;
    Entry W = entry(Root);
    for (const UnseenCall &Each : unseenTraining(*W))
      Result[torchtidy::ast::nameOf(Each.At.Call->getDirectCallee()).str()] =
          Each.Trains;
    return Result;
  }

  static const char Code[];
};

const char UnseenTrainingTest::Code[] = R"cpp(
using torch::Tensor;
using torch::nn::Linear;
struct Trainer {
  std::unique_ptr<torch::optim::SGD> sgd;
  void fit(int epochs);
  int epochs() const;
  void seen() {}
};
struct Logger {
  virtual void log(float value) = 0;
  virtual ~Logger() = default;
};
struct Hidden;
struct Clock { int now(); void wait(int seconds); };
void update(Hidden &hidden);
void train();
int count();
void save(Linear net);
void show(const Tensor &image);
void report(const std::string &text);

void objects(Trainer &trainer, Logger &logger, Hidden &hidden, Clock &clock,
             Linear net, Tensor x) {
  net->forward(x);
  trainer.fit(3);
  trainer.epochs();
  trainer.seen();
  logger.log(1);
  update(hidden);
  clock.wait(clock.now());
}
void functions(Linear net, Tensor x) {
  train();
  count();
  save(net);
  show(x);
  report("done");
  x.add_(1);
  std::cout << x;
}
struct NetImpl : torch::nn::Module {
  Tensor forward(Tensor x);
  Linear layer{nullptr};
};
TORCH_MODULE(Net);
void losses(Net net, Tensor x) {
  Tensor loss = net->forward(x);
  show(loss);
}
void answers(Net net, Tensor x) {
  torch::NoGradGuard guard;
  show(net->forward(x));
}
)cpp";

} // namespace

TEST_F(UnseenTrainingTest, WhatItIsCalledOn) {
  EXPECT_EQ(ask("objects"), (Found{{"fit", UnseenTraining::Likely},
                                   {"log", UnseenTraining::Unlikely},
                                   {"update", UnseenTraining::Unlikely}}));
}

TEST_F(UnseenTrainingTest, WhatItGets) {
  EXPECT_EQ(ask("functions"), (Found{{"train", UnseenTraining::Likely},
                                     {"save", UnseenTraining::Likely},
                                     {"show", UnseenTraining::Unlikely}}));
}

TEST_F(UnseenTrainingTest, ALossWithAGraph) {
  EXPECT_EQ(ask("losses"), (Found{{"show", UnseenTraining::Likely}}));
  EXPECT_EQ(ask("answers"), (Found{{"show", UnseenTraining::Unlikely}}));
}
