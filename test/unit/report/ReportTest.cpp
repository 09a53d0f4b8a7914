// What the checks share in putting findings together.
#include "report/Report.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct Report : ModelTest<Report> {
  static const char Code[];
};

const char Report::Code[] = R"cpp(
#include <algorithm>
using torch::Tensor;
using torch::nn::Linear;
struct Trainer {
  std::unique_ptr<torch::optim::SGD> sgd_;
  torch::optim::SGD own;
  void step() { sgd_->step(); own.step(); this->own.step(); }
  void run() { for (int i = 0; i < 3; ++i) step(); }
};
void loops(Linear net, Tensor x) {
  for (int i = 0; i < 3; ++i)
    net(x);
}
void inner(Linear net, Tensor x) { net->forward(x); }
void outer(Linear net, Tensor x) { inner(net, x); }
void repeats(Linear net, Tensor x) {
  for (int i = 0; i < 3; ++i)
    inner(net, x);
}
void each(Linear net, std::vector<Tensor> &all) {
  std::for_each(all.begin(), all.end(), [&](Tensor &x) { net->forward(x); });
}
void stores(Linear net, Tensor x, int i) {
  std::vector<Tensor> kept(3);
  Tensor y = net->forward(x);
  kept.push_back(y);
  kept[i] = y;
  kept.at(i) = y;
}
void jumps(Linear net, Tensor x, bool &more) {
again:
  net->forward(x);
  if (more)
    goto again;
}
)cpp";

} // namespace

TEST_F(Report, NamesOfObjects) {
  Entry W = entry("Trainer::run");
  auto Names = [&](const char *Site) {
    const StepEvent &E = W.event<StepEvent>(Site);
    return memberPrefix(Shared->context(), E.Site) + " " +
           objectName(Shared->context(), E.Site);
  };
  EXPECT_EQ(Names("sgd_->step()"), "sgd_-> sgd_");
  EXPECT_EQ(Names("own.step()"), "own. own");
  EXPECT_EQ(Names("this->own.step()"), "this->own. this->own");
  Entry Called = entry("loops");
  const ForwardEvent &Forward = Called.event<ForwardEvent>("net(x)");
  EXPECT_EQ(objectName(Shared->context(), Forward.Site), "net");
  EXPECT_EQ(memberPrefix(Shared->context(), Forward.Site), "");
}

TEST_F(Report, LoopAsANote) {
  auto Note = [](const char *Root, const char *Site) {
    Entry W = entry(Root);
    const ForwardEvent &E = W.event<ForwardEvent>(Site);
    Finding Result;
    addLoop(Result, *W, E.In, W->loopsAround(E.Point).back());
    EXPECT_EQ(Result.Loop.isValid(), !Result.Notes.empty());
    return Result.Notes.empty() ? "" : Result.Notes.front().Message;
  };
  EXPECT_EQ(Note("loops", "net(x)"), "in every iteration of this loop");
  EXPECT_EQ(Note("repeats", "net->forward(x)"),
            "called in every iteration of this loop");
  EXPECT_EQ(Note("each", "net->forward(x)"),
            "called again and again from here");
  EXPECT_EQ(Note("jumps", "net->forward(x)"), "") << "a goto";
  Finding Nothing;
  addLoop(Nothing, *entry("loops"), &entry("loops")->root(), nullptr);
  EXPECT_TRUE(Nothing.Notes.empty());
}

TEST_F(Report, TargetsOfStores) {
  Entry W = entry("stores");
  for (const StoreEvent *E : W.all<StoreEvent>())
    EXPECT_EQ(targetName(Shared->context(), E->Site), "kept");
  EXPECT_EQ(W.all<StoreEvent>().size(), 3u);
}

TEST_F(Report, CallersAsNotes) {
  Entry W = entry("outer");
  Finding Result;
  addCallers(Result, W.event<ForwardEvent>("net->forward(x)").In);
  ASSERT_EQ(Result.Notes.size(), 1u);
  EXPECT_EQ(Result.Notes[0].Message, "called from here");
  EXPECT_EQ(Result.Notes[0].Role, torchtidy::NoteRole::Caller);
}

TEST_F(Report, OneFindingAtALocation) {
  Entry W = entry("loops");
  Finding First, Second;
  First.Location = W.all<ForwardEvent>().front()->Site->getBeginLoc();
  Second.Location = First.Location.getLocWithOffset(1);
  std::vector<Finding> Findings;
  addUnlessKnown(Findings, First);
  addUnlessKnown(Findings, First);
  addUnlessKnown(Findings, Second);
  EXPECT_EQ(Findings.size(), 2u);
}
