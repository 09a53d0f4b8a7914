// State that goes from one call of a function to the next, in members and
// global variables, and what these hold when an entry begins and when it ends.
#include "autograd/UndetachedHiddenState.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct RecurrenceCalls : ModelTest<RecurrenceCalls> {
  static const char Code[];
  static std::vector<CarriedState> ask(llvm::StringRef Root) {
    std::vector<CarriedState> Result;
    for (CarriedState &Found : carriedStates(Shared->program()))
      if (Found.Entry->root().Function->getQualifiedNameAsString() == Root)
        Result.push_back(std::move(Found));
    return Result;
  }
  static CarriedState one(llvm::StringRef Root) {
    std::vector<CarriedState> All = ask(Root);
    EXPECT_EQ(All.size(), 1u) << Root.str();
    return All.empty() ? CarriedState() : All.front();
  }
  /// The place of the entry with this name. Fails the test when there is none.
  static PlaceId place(const Entry &W, llvm::StringRef Name) {
    for (PlaceId P : W->places().all())
      if (W->places().name(P) == Name && !W->places().isSummary(P))
        return P;
    ADD_FAILURE() << "no place " << Name.str();
    return PlaceId();
  }
};

const char RecurrenceCalls::Code[] = R"cpp(
using torch::Tensor;
using torch::nn::GRUCell; using torch::nn::LSTMCell; using torch::nn::LSTM;
using torch::nn::Linear;
using State = std::tuple<Tensor, Tensor>;

struct Thrower {
  GRUCell cell{8, 8};
  Tensor h_ = torch::zeros({4, 8});
  void step(const Tensor &x) {
    h_ = cell->forward(x, h_);
    h_.sum().backward();
  }
};
struct Retainer {
  GRUCell cell{8, 8};
  Tensor h_;
  void step(const Tensor &x) {
    h_ = cell->forward(x, h_);
    h_.sum().backward({}, /*retain_graph=*/true);
  }
};
struct Grower {
  GRUCell cell{8, 8};
  Tensor h_;
  float step(const Tensor &x) {
    h_ = cell->forward(x, h_);
    return h_.sum().item<float>();
  }
};
struct Pair {
  LSTMCell cell{8, 8};
  Tensor h_, c_;
  void step(const Tensor &x) {
    auto next = cell->forward(x, std::make_tuple(h_, c_));
    h_ = std::get<0>(next);
    c_ = std::get<1>(next);
    h_.sum().backward();
  }
};
struct Tied {
  LSTM net{8, 8};
  State state_;
  void step(const Tensor &x) {
    Tensor out;
    std::tie(out, state_) = net->forward(x, state_);
    out.sum().backward();
  }
};
GRUCell globalCell(8, 8);
Tensor globalState;
void global(const Tensor &x) {
  globalState = globalCell->forward(x, globalState);
  globalState.sum().backward();
}
void local(const Tensor &x) {
  static GRUCell cell(8, 8);
  static Tensor kept = torch::zeros({4, 8});
  kept = cell->forward(x, kept);
  kept.sum().backward();
}

// Quiet.
struct Detacher {
  GRUCell cell{8, 8};
  Tensor h_;
  void step(const Tensor &x) {
    h_ = cell->forward(x, h_.detach());
    h_.sum().backward();
  }
};
struct AtTheEnd {
  GRUCell cell{8, 8};
  Tensor h_;
  void step(const Tensor &x) {
    h_ = cell->forward(x, h_);
    h_.sum().backward();
    h_ = h_.detach();
  }
};
struct Resettable {
  GRUCell cell{8, 8};
  Tensor h_;
  void step(const Tensor &x) {
    h_ = cell->forward(x, h_);
    h_.sum().backward();
  }
  void reset() { h_ = torch::zeros({4, 8}); }
};
struct Guarded {
  GRUCell cell{8, 8};
  Tensor h_;
  void step(const Tensor &x) {
    torch::NoGradGuard no_grad;
    h_ = cell->forward(x, h_);
  }
};
struct Giver {
  GRUCell cell{8, 8};
  Tensor h_;
  Tensor step(const Tensor &x) {
    h_ = cell->forward(x, h_);
    return h_;
  }
};
struct Cache {
  Linear net{8, 8};
  Tensor last_;
  void step(const Tensor &x) {
    last_ = net->forward(x);
    last_.sum().backward();
  }
};

struct Ends {
  Linear net{8, 8};
  Tensor kept_, plain_, untouched_;
  std::vector<Tensor> list_;
  State both_;
  void step(const Tensor &x, bool some) {
    kept_ = net->forward(x);
    plain_ = net->forward(x).detach();
    list_.push_back(net->forward(x));
    both_ = std::make_tuple(net->forward(x), x.detach());
    if (some)
      return;
    plain_ = torch::zeros({4});
  }
};
struct Entries {
  GRUCell cell{8, 8};
  Tensor a_, b_;
  State s_;
  void step(const Tensor &x) {
    observe("a", a_);
    observe("b", b_);
    observe("sum", a_ + b_);
    observe("detached", a_.detach());
    observe("first", std::get<0>(s_));
    observe("second", std::get<1>(s_));
    observe("parameter", x);
    observe("computed", cell->forward(x, a_));
    Tensor alias = b_;
    observe("alias", alias);
  }
};
struct Settings {
  int size = 8;
  Tensor initial = torch::zeros({4, 8});
  Tensor weight = torch::randn({8, 8}, torch::requires_grad());
};
struct Implicit {
  Settings settings;
  Tensor made = torch::ones({2});
};
void implicitConstructor() {
  Implicit object;
  observe("member of a member", object.settings.initial);
  observe("leaf", object.settings.weight);
  observe("member", object.made);
  observe("product", object.settings.weight * object.made);
}
struct Explicit {
  Explicit() {}
  explicit Explicit(Tensor given) : made(given) {}
  Tensor made = torch::randn({2}, torch::requires_grad());
};
void initializerWins(const Linear &net, const Tensor &x) {
  Linear fresh(2, 2);
  Explicit first;
  Explicit second(torch::zeros({2}));
  observe("by default", first.made);
  observe("by initializer", second.made);
}
)cpp";

} // namespace

TEST_F(RecurrenceCalls, Throws) {
  CarriedState Found = one("Thrower::step");
  ASSERT_TRUE(Found.Entry);
  EXPECT_EQ(Found.Outcome, CarriedState::Throws);
  EXPECT_FALSE(Found.Around) << "to the next call";
  EXPECT_TRUE(Found.Backward);
  EXPECT_TRUE(Found.Built);
  EXPECT_EQ(Found.Entry->places().name(Found.Place), "h_");
}

TEST_F(RecurrenceCalls, Retained) {
  CarriedState Found = one("Retainer::step");
  ASSERT_TRUE(Found.Entry);
  EXPECT_EQ(Found.Outcome, CarriedState::Retained);
  EXPECT_FALSE(Found.Around);
}

TEST_F(RecurrenceCalls, Grows) {
  CarriedState Found = one("Grower::step");
  ASSERT_TRUE(Found.Entry);
  EXPECT_EQ(Found.Outcome, CarriedState::Grows);
  EXPECT_FALSE(Found.Around);
  EXPECT_FALSE(Found.Backward);
}

TEST_F(RecurrenceCalls, TheTwoStatesOfACellAreOne) {
  CarriedState Found = one("Pair::step");
  ASSERT_TRUE(Found.Entry);
  EXPECT_EQ(Found.Outcome, CarriedState::Throws);
  ASSERT_EQ(Found.Others.size(), 1u);
  EXPECT_NE(Found.Others[0]->Site, Found.Store->Site);
}

TEST_F(RecurrenceCalls, ATupleInATie) {
  CarriedState Found = one("Tied::step");
  ASSERT_TRUE(Found.Entry);
  EXPECT_EQ(Found.Outcome, CarriedState::Throws);
  EXPECT_EQ(Found.Entry->places().name(Found.Place), "state_");
}

TEST_F(RecurrenceCalls, Globals) {
  for (const char *Root : {"global", "local"}) {
    CarriedState Found = one(Root);
    ASSERT_TRUE(Found.Entry) << Root;
    EXPECT_EQ(Found.Outcome, CarriedState::Throws) << Root;
    EXPECT_FALSE(Found.Around) << Root;
    EXPECT_EQ(Found.Entry->places().rootKind(Found.Place), Root::Global);
  }
}

TEST_F(RecurrenceCalls, Quiet) {
  EXPECT_TRUE(ask("Detacher::step").empty());
  EXPECT_TRUE(ask("AtTheEnd::step").empty());
  EXPECT_TRUE(ask("Guarded::step").empty());
  EXPECT_TRUE(ask("Resettable::step").empty())
      << "another method makes it afresh";
  EXPECT_TRUE(ask("Giver::step").empty()) << "the caller has it";
  EXPECT_TRUE(ask("Cache::step").empty()) << "not computed from itself";
}

TEST_F(RecurrenceCalls, HeldAtEnd) {
  Entry W = entry("Ends::step");
  EXPECT_TRUE(W->heldAtEnd(place(W, "kept_")).mayHaveGraph());
  EXPECT_FALSE(W->heldAtEnd(place(W, "plain_")).mayHaveGraph())
      << "on both ways to the end";
  EXPECT_TRUE(W->heldAtEnd(place(W, "list_")).mayHaveGraph())
      << "with what lies in it";
  const PlaceId Both = place(W, "both_");
  EXPECT_TRUE(W->heldAtEnd(Both).mayHaveGraph());
  const StoreEvent &Store = W.event<StoreEvent>("kept_ = net->forward(x)");
  EXPECT_TRUE(W->heldAtEnd(place(W, "kept_")).hasOrigin(Store.Origin));
  EXPECT_FALSE(W->heldAtEnd(place(W, "plain_")).hasOrigin(Store.Origin));
}

TEST_F(RecurrenceCalls, TheOriginsOfMembersAreToldApart) {
  Entry W = entry("Entries::step");
  auto EntryOrigins = [&](const char *Name) {
    std::vector<OriginId> Result;
    for (OriginId Id : W.observed(Name).Origins)
      if (W->origin(Id).Of == Origin::Entry)
        Result.push_back(Id);
    return Result;
  };
  ASSERT_EQ(EntryOrigins("a").size(), 1u);
  ASSERT_EQ(EntryOrigins("b").size(), 1u);
  EXPECT_NE(EntryOrigins("a"), EntryOrigins("b"));
  EXPECT_EQ(W->places().name(W->origin(EntryOrigins("a").front()).Place), "a_");
  EXPECT_EQ(EntryOrigins("sum").size(), 2u);
  EXPECT_TRUE(EntryOrigins("detached").empty());
  EXPECT_EQ(EntryOrigins("alias"), EntryOrigins("b"));
  EXPECT_TRUE(EntryOrigins("parameter").empty()) << "no member, no global";
  EXPECT_EQ(EntryOrigins("computed"), EntryOrigins("a")) << "through a module";
  EXPECT_EQ(EntryOrigins("first"), EntryOrigins("second"))
      << "one member, one state";
  ASSERT_EQ(EntryOrigins("first").size(), 1u);
  EXPECT_EQ(W->places().name(W->origin(EntryOrigins("first").front()).Place),
            "s_");
}

TEST_F(RecurrenceCalls, ImplicitConstructorsAreExpanded) {
  Entry W = entry("implicitConstructor");
  EXPECT_EQ(W.observed("member of a member").History, history::None);
  EXPECT_EQ(W.observed("leaf").History, history::Leaf);
  EXPECT_EQ(W.observed("member").History, history::None);
  EXPECT_TRUE(W.observed("product").mayHaveGraph());
  EXPECT_EQ(W.all<AllocateEvent>().size(), 3u);
}

TEST_F(RecurrenceCalls, AnInitializerTakesThePlaceOfTheDefault) {
  Entry W = entry("initializerWins");
  EXPECT_EQ(W.observed("by default").History, history::Leaf);
  EXPECT_EQ(W.observed("by initializer").History, history::None);
}
