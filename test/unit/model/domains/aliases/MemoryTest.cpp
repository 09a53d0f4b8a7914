// Which tensors share memory, what a graph may have saved of it, where tensors
// are and of which type, and the events about memory.
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct Memory : ModelTest<Memory> {
  static const char Code[];

  /// The memory that the factory at this site makes.
  static AllocationId made(const Entry &W, llvm::StringRef Site) {
    return W.event<AllocateEvent>(Site).Memory;
  }
  static bool uses(const Entry &W, llvm::StringRef Name, AllocationId Id) {
    return W.observed(Name).uses(Id);
  }
  static bool saved(const Entry &W, llvm::StringRef Name, AllocationId Id) {
    return W.observed(Name).mayHaveSaved(Id);
  }
  /// The names of an event's places.
  static std::set<std::string> names(const Entry &W, const PlaceSet &Places) {
    std::set<std::string> Result;
    for (PlaceId P : Places)
      if (std::string Name = W->places().name(P); !Name.empty())
        Result.insert(Name);
    return Result;
  }
};

const char Memory::Code[] = R"cpp(
using torch::Tensor;
using torch::nn::Linear; using torch::nn::GRUCell;
using Tensors = std::vector<Tensor>;

void views(bool some) {
  Tensor a = torch::zeros({4, 4});
  Tensor b = torch::ones({4, 4});
  observe("itself", a);
  observe("view", a.view({16}));
  observe("slice", a[0].slice(0, 1));
  observe("transposed", a.t());
  observe("detached", a.detach());
  observe("maybe", a.contiguous());
  observe("clone", a.clone());
  observe("sum", a + b);
  observe("in place", a.add_(b));
  Tensor c = a;
  observe("handle", c);
  Tensor d = some ? a : b;
  observe("either", d);
  c = b;
  observe("rebound", c);
  observe("old", a);
}
void transfers(torch::Device device) {
  Tensor a = torch::zeros({4});
  Tensor moved = a.to(device);
  observe("moved", moved);
  observe("from a", a);
  observe("converted", a.to(torch::kDouble));
  observe("on the cpu", a.cpu());
}
Tensor same(Tensor t) { return t; }
struct Holder { Tensor kept; };
void containers() {
  Tensor a = torch::zeros({4}), b = torch::ones({4});
  Tensors list;
  list.push_back(a);
  observe("element", list[0]);
  list.push_back(b);
  observe("elements", list[0]);
  Holder holder{a};
  observe("member", holder.kept);
  auto pair = std::make_tuple(a, b);
  observe("first", std::get<0>(pair));
  observe("second", std::get<1>(pair));
  observe("returned", same(b));
  std::optional<Tensor> optional = a;
  observe("optional", *optional);
  auto lambda = [a] { return a; };
  observe("captured", lambda());
  observe("stacked", torch::stack(list));
}
void saved(Linear net, GRUCell cell, Tensor x) {
  Tensor w = torch::randn({4, 4}, torch::requires_grad());
  Tensor mask = torch::zeros({4, 4});
  Tensor scale = torch::ones({4, 4});
  Tensor product = w * mask;
  observe("product", product);
  observe("computed on", product.sum().exp());
  observe("detached product", product.detach());
  observe("without a graph", scale * mask);
  Tensor h = torch::full({4, 4}, 2.0);
  observe("forward", net->forward(h));
  {
    torch::NoGradGuard no_grad;
    observe("under a guard", w * mask);
  }
}
void allocations(Tensor like) {
  Tensor a = torch::zeros({2}), b = torch::zeros_like(like),
         c = like.new_zeros({2}), d = torch::empty({3});
  a + b;
  c.clone();
}
void loops(Linear net, int n) {
  Tensors kept;
  Tensor current, graph;
  for (int i = 0; i < n; ++i) {
    Tensor fresh = torch::zeros({2, 2});
    current = fresh;
    Tensor noise = torch::randn({2, 2});
    kept.push_back(noise);
    Tensor input = torch::ones({2, 2});
    graph = net->forward(input);
  }
}
void writes(Tensor given, Tensor idx) {
  Tensor a = torch::zeros({4}), b = torch::ones({4});
  a.zero_();
  a.copy_(b);
  a += b;
  a[0] = 1;
  a.index_put_({idx}, b);
  a.view({2, 2}).fill_(1);
  given.mul_(2);
  torch::add_out(a, b, b);
  a = a + b;
  a.sum();
}
void asked(torch::Device device, Tensor x, Tensor y, torch::TensorOptions o) {
  x.to(device);
  x.to(torch::kFloat);
  x.to(device, torch::kFloat);
  x.toType(torch::kFloat);
  x.cuda();
  x.cpu();
  x.to(o);
  x.to(y);
  x.to(x.dtype());
}
void combined(Tensors list, Tensor x) {
  torch::stack(list);
  torch::cat(list, 1);
  torch::cat({x, x});
  x + x;
}
void where(torch::Device device, torch::Device other, bool some) {
  Tensor a = torch::zeros({2}, device);
  observe("made there", a);
  observe("computed there", a * 2);
  Tensor b = torch::zeros({2}).to(device);
  observe("moved there", b);
  observe("both there", a + b);
  observe("elsewhere", torch::zeros({2}, other));
  torch::Device copy = device;
  observe("by a copy", torch::zeros({2}, copy));
  observe("either", some ? a : torch::zeros({2}, other));
  observe("constant", torch::zeros({2}, torch::kCUDA));
  observe("converted there", a.to(torch::kLong));
  observe("nothing said", torch::zeros({2}));
  auto options = torch::TensorOptions().device(device).dtype(torch::kFloat);
  observe("by options", torch::zeros({2}, options));
}
void types(bool some, Tensor x) {
  Tensor a = torch::zeros({2});
  observe("float", a);
  observe("long", torch::arange(4));
  observe("random", torch::randint(0, 4, {2}));
  observe("permutation", torch::randperm(4));
  observe("said", torch::zeros({2}, torch::kInt64));
  observe("said by options", torch::zeros({2}, torch::dtype(torch::kDouble)));
  observe("converted", a.to(torch::kHalf));
  observe("compared", a > 0);
  observe("computed", a + a);
  observe("mixed", a + torch::zeros({2}, torch::kDouble));
  observe("given", x);
  observe("like", torch::zeros_like(a));
  observe("full", torch::full({2}, 1));
  observe("either", some ? a : torch::zeros({2}, torch::kLong));
  observe("index", a.argmax());
}
)cpp";

} // namespace

TEST_F(Memory, OfViews) {
  Entry W = entry("views");
  const AllocationId A = made(W, "torch::zeros({4, 4})"),
                     B = made(W, "torch::ones({4, 4})");
  ASSERT_NE(A, B);
  EXPECT_EQ(W->allocation(A).Site,
            W.event<AllocateEvent>("torch::zeros({4, 4})").Site);
  for (const char *Name : {"itself", "view", "slice", "transposed", "detached",
                           "maybe", "in place", "handle", "either", "old"})
    EXPECT_TRUE(uses(W, Name, A)) << Name;
  for (const char *Name : {"clone", "sum", "rebound"})
    EXPECT_FALSE(uses(W, Name, A)) << Name;
  EXPECT_TRUE(uses(W, "either", B));
  EXPECT_TRUE(uses(W, "rebound", B));
  EXPECT_FALSE(uses(W, "in place", B)) << "it is read only";
  EXPECT_FALSE(uses(W, "sum", B));
}

TEST_F(Memory, OfTransfers) {
  Entry W = entry("transfers");
  const AllocationId A = made(W, "torch::zeros({4})");
  const AllocationId Moved = W.event<TransferEvent>("a.to(device)").Memory;
  ASSERT_NE(A, Moved);
  EXPECT_TRUE(uses(W, "moved", A)) << "where it is there already";
  EXPECT_TRUE(uses(W, "moved", Moved));
  EXPECT_FALSE(uses(W, "from a", Moved));
  for (const char *Name : {"converted", "on the cpu"})
    EXPECT_TRUE(uses(W, Name, A)) << Name;
}

TEST_F(Memory, InContainers) {
  Entry W = entry("containers");
  const AllocationId A = made(W, "torch::zeros({4})"),
                     B = made(W, "torch::ones({4})");
  for (const char *Name :
       {"element", "elements", "member", "first", "optional", "captured"})
    EXPECT_TRUE(uses(W, Name, A)) << Name;
  for (const char *Name : {"elements", "second", "returned"})
    EXPECT_TRUE(uses(W, Name, B)) << Name;
  for (const char *Name : {"element", "member", "first", "optional"})
    EXPECT_FALSE(uses(W, Name, B)) << Name;
  EXPECT_FALSE(uses(W, "stacked", A));
}

TEST_F(Memory, SavedForBackward) {
  Entry W = entry("saved");
  const AllocationId Mask = made(W, "torch::zeros({4, 4})"),
                     Scale = made(W, "torch::ones({4, 4})"),
                     H = made(W, "torch::full({4, 4}, 2.0)");
  EXPECT_TRUE(saved(W, "product", Mask));
  EXPECT_FALSE(uses(W, "product", Mask));
  EXPECT_FALSE(saved(W, "product", Scale));
  EXPECT_TRUE(saved(W, "computed on", Mask));
  EXPECT_FALSE(saved(W, "detached product", Mask));
  EXPECT_FALSE(saved(W, "without a graph", Mask));
  EXPECT_FALSE(saved(W, "under a guard", Mask));
  EXPECT_TRUE(saved(W, "forward", H)) << "the input of a module";
}

TEST_F(Memory, Allocations) {
  Entry W = entry("allocations");
  EXPECT_EQ(
      W.sites<AllocateEvent>(),
      (std::vector<std::string>{"torch::zeros({2})", "torch::zeros_like(like)",
                                "like.new_zeros({2})", "torch::empty({3})"}));
  std::set<AllocationId> Ids;
  for (const AllocateEvent *E : W.all<AllocateEvent>()) {
    Ids.insert(E->Memory);
    EXPECT_TRUE(E->Result.uses(E->Memory));
  }
  EXPECT_EQ(Ids.size(), 4u);
}

TEST_F(Memory, WhatHoldsTheTensorOfTheIterationBefore) {
  Entry W = entry("loops");
  const AllocateEvent &Fresh = W.event<AllocateEvent>("torch::zeros({2, 2})");
  EXPECT_TRUE(names(W, Fresh.Holders).count("current"));
  EXPECT_FALSE(names(W, Fresh.Holders).count("kept"));
  EXPECT_TRUE(Fresh.Savers.empty());
  const AllocateEvent &Noise = W.event<AllocateEvent>("torch::randn({2, 2})");
  EXPECT_TRUE(names(W, Noise.Holders).count("kept"));
  const AllocateEvent &Input = W.event<AllocateEvent>("torch::ones({2, 2})");
  EXPECT_TRUE(names(W, Input.Holders).count("graph"))
      << "a module may return what it is given";
  EXPECT_TRUE(names(W, Input.Savers).count("graph"));
}

TEST_F(Memory, Writes) {
  Entry W = entry("writes");
  EXPECT_EQ(W.sites<WriteEvent>(),
            (std::vector<std::string>{
                "a.zero_()", "a.copy_(b)", "a += b", "a[0] = 1",
                "a.index_put_({idx}, b)", "a.view({2, 2}).fill_(1)",
                "given.mul_(2)", "torch::add_out(a, b, b)"}));
  const AllocationId A = made(W, "torch::zeros({4})");
  for (const WriteEvent *E : W.all<WriteEvent>()) {
    const bool IsGiven = W.placeOf(E->Places) == "given";
    EXPECT_EQ(E->Before.uses(A), !IsGiven);
    EXPECT_EQ(W.placeOf(E->Places), IsGiven ? "given" : "a");
  }
}

TEST_F(Memory, WhatATransferAsksFor) {
  Entry W = entry("asked");
  ASSERT_EQ(W.all<TransferEvent>().size(), 9u);
  auto Asked = [&](const char *Site) {
    const TransferEvent &E = W.event<TransferEvent>(Site);
    EXPECT_EQ(W.placeOf(E.Source), "x") << Site;
    return std::make_pair(E.MovesDevice, E.ConvertsType);
  };
  using Answer = std::pair<bool, bool>;
  EXPECT_EQ(Asked("x.to(device)"), Answer(true, false));
  EXPECT_EQ(Asked("x.to(torch::kFloat)"), Answer(false, true));
  EXPECT_EQ(Asked("x.to(device, torch::kFloat)"), Answer(true, true));
  EXPECT_EQ(Asked("x.toType(torch::kFloat)"), Answer(false, true));
  EXPECT_EQ(Asked("x.cuda()"), Answer(true, false));
  EXPECT_EQ(Asked("x.cpu()"), Answer(true, false));
  EXPECT_TRUE(Asked("x.to(o)").first);
  EXPECT_TRUE(Asked("x.to(y)").first);
  EXPECT_EQ(Asked("x.to(x.dtype())"), Answer(false, true));
}

TEST_F(Memory, Combinations) {
  Entry W = entry("combined");
  EXPECT_EQ(
      W.sites<CombineEvent>(),
      (std::vector<std::string>{"torch::stack(list)", "torch::cat(list, 1)",
                                "torch::cat({x, x})"}));
}

TEST_F(Memory, OnTheDeviceOfAVariable) {
  Entry W = entry("where");
  auto From = [&](const char *Name) -> std::string {
    const Known<PlaceId> &Device = W.observed(Name).DeviceFrom;
    if (std::optional<PlaceId> P = Device.get())
      return W->places().name(*P);
    return Device.isUnknown() ? "unknown" : "none";
  };
  for (const char *Name : {"made there", "computed there", "moved there",
                           "both there", "converted there", "by options"})
    EXPECT_EQ(From(Name), "device") << Name;
  EXPECT_EQ(From("elsewhere"), "other");
  EXPECT_EQ(From("by a copy"), "device");
  EXPECT_EQ(From("either"), "unknown");
  EXPECT_EQ(From("constant"), "none");
  EXPECT_EQ(From("nothing said"), "none");
  EXPECT_TRUE(W.observed("constant").OnDevice.get() == Device::CUDA);
  EXPECT_TRUE(W.observed("nothing said").OnDevice.get() == Device::CPU);
  EXPECT_TRUE(W.observed("made there").OnDevice.isUnknown());
}

TEST_F(Memory, ScalarTypes) {
  Entry W = entry("types");
  auto Scalar = [&](const char *Name) -> std::string {
    const Known<llvm::StringRef> &Known = W.observed(Name).Scalar;
    return Known.get() ? Known.get()->str() : "unknown";
  };
  for (const char *Name : {"float", "computed", "like"})
    EXPECT_EQ(Scalar(Name), "Float") << Name;
  for (const char *Name : {"long", "random", "permutation", "said", "full"})
    EXPECT_EQ(Scalar(Name), "Long") << Name;
  EXPECT_EQ(Scalar("said by options"), "Double");
  EXPECT_EQ(Scalar("converted"), "Half");
  EXPECT_EQ(Scalar("compared"), "Bool");
  for (const char *Name : {"mixed", "given", "either", "index"})
    EXPECT_EQ(Scalar(Name), "unknown") << Name;
}
