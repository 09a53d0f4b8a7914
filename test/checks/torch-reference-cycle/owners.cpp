// RUN: %check_torch %s torch-reference-cycle %t
//
// A part shares what it is a part of, or a function that a member holds does.

#include <torch/torch.h>

#include <functional>

using torch::Tensor;

struct DecoderImpl;
struct EncoderImpl : torch::nn::Module {
  torch::nn::Linear fc = register_module("fc", torch::nn::Linear(4, 4));
  std::shared_ptr<DecoderImpl> decoder;
};
struct DecoderImpl : torch::nn::Module {
  std::shared_ptr<EncoderImpl> encoder =
      register_module("encoder", std::make_shared<EncoderImpl>());
};
std::shared_ptr<DecoderImpl> build() {
  auto decoder = std::make_shared<DecoderImpl>();
  decoder->encoder->decoder = decoder;
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: member 'decoder' keeps 'decoder' alive, which keeps alive what it is a member of, so neither is ever freed; make the member a 'std::weak_ptr' [torch-reference-cycle]
  // CHECK-NOTES: :[[@LINE-10]]:32: note: the member
  return decoder;
}

// By a method, of an object that knows itself.
struct Block;
struct Stage : torch::nn::Module {
  void set_owner(std::shared_ptr<Block> owner) { owner_ = std::move(owner); }
  std::shared_ptr<Block> owner_;
};
struct Block : torch::nn::Module, std::enable_shared_from_this<Block> {
  void connect() {
    stage_->set_owner(std::enable_shared_from_this<Block>::shared_from_this());
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: member 'owner_' keeps 'shared_from_this()' alive, which keeps alive what it is a member of
    // CHECK-NOTES: :[[@LINE-6]]:26: note: the member
  }
  std::shared_ptr<Stage> stage_ = std::make_shared<Stage>();
};

// A list of parts.
struct Tree;
struct Leaf {
  std::shared_ptr<Tree> tree;
  Tensor value;
};
struct Tree {
  std::vector<std::shared_ptr<Leaf>> leaves;
};
void grow(const std::shared_ptr<Tree> &tree, int count) {
  for (int i = 0; i < count; ++i) {
    auto leaf = std::make_shared<Leaf>();
    leaf->tree = tree;
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: member 'tree' keeps 'tree' alive, which keeps alive what it is a member of
    // CHECK-NOTES: :[[@LINE-11]]:25: note: the member
    tree->leaves.push_back(leaf);
  }
}

// A callback.
struct Trainer {
  torch::nn::Linear net{4, 4};
  std::function<void(float)> on_loss;
  std::vector<std::function<void()>> at_end;
};
void watch() {
  auto trainer = std::make_shared<Trainer>();
  trainer->on_loss = [trainer](float loss) {
    // CHECK-NOTES: :[[@LINE-1]]:3: warning: the function that 'on_loss' holds has captured 'trainer', which has 'on_loss', so the object keeps itself alive and is never freed; capture a 'std::weak_ptr'
    // CHECK-NOTES: :[[@LINE-2]]:23: note: it is captured here
    // CHECK-NOTES: :[[@LINE-8]]:30: note: the member
    std::cout << loss << trainer->net->weight.norm();
  };
  trainer->at_end.push_back([trainer] { trainer->net->eval(); });
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: the function that 'at_end' holds has captured 'trainer'
  // CHECK-NOTES: :[[@LINE-2]]:30: note: it is captured here
  // CHECK-NOTES: :[[@LINE-13]]:38: note: the member
}

// A copy that the capture makes itself.
struct Listener {
  std::function<void(double)> onLoss;
  torch::Tensor best;
};
void listens(double loss) {
  auto strong = std::make_shared<Listener>();
  strong->onLoss = [s = std::shared_ptr<Listener>(strong)](double l) { s->best.fill_(l); };
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: the function that 'onLoss' holds has captured 'strong'
  // CHECK-NOTES: :[[@LINE-2]]:21: note: it is captured here
  // CHECK-NOTES: :[[@LINE-8]]:31: note: the member
  strong->onLoss(loss);
}

// Of an owner that is given by reference, the capture has a share of its own.
struct Meter {
  std::function<void(const Tensor &)> on_batch, on_error;
  Tensor sum;
};
void attach(const std::shared_ptr<Meter> &meter, int64_t &count) {
  meter->on_batch = [meter, &count](const Tensor &x) {
    // CHECK-NOTES: :[[@LINE-1]]:3: warning: the function that 'on_batch' holds has captured 'meter', which has 'on_batch'
    // CHECK-NOTES: :[[@LINE-2]]:22: note: it is captured here
    // CHECK-NOTES: :[[@LINE-7]]:39: note: the member
    meter->sum += x;
    ++count;
  };
  meter->on_error = [&meter](const Tensor &x) { meter->sum -= x; };
}

// By a method that adds what it is given to a list, or puts it into a member;
// of an object that knows itself under another name.
class Recorder : public std::enable_shared_from_this<Recorder> {
public:
  using Sink = std::function<void(const Tensor &)>;
  void add(Sink sink) { sinks_.push_back(std::move(sink)); }
  void set_last(const Sink &sink) { last_ = sink; }
  void record() {
    const auto self = shared_from_this();
    add([self](const Tensor &x) { self->sum_ += x; });
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: the function that 'sinks_' holds has captured 'shared_from_this()', which has 'sinks_'
    // CHECK-NOTES: :[[@LINE-2]]:10: note: it is captured here
    // CHECK-NOTES: :[[@LINE+16]]:21: note: the member
    sinks_.push_back([self](const Tensor &x) { self->sum_ -= x; });
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: the function that 'sinks_' holds has captured 'shared_from_this()'
    // CHECK-NOTES: :[[@LINE-2]]:23: note: it is captured here
    // CHECK-NOTES: :[[@LINE+12]]:21: note: the member
    add([this](const Tensor &x) { sum_ *= x; });
    std::weak_ptr<Recorder> weak = weak_from_this();
    add([weak](const Tensor &x) {
      if (auto strong = weak.lock())
        strong->sum_ += x;
    });
  }
  const Tensor &sum() const { return sum_; }

private:
  Tensor sum_;
  std::vector<Sink> sinks_;
  Sink last_;
};
void registers() {
  auto recorder = std::make_shared<Recorder>();
  auto other = std::make_shared<Recorder>();
  recorder->add([recorder](const Tensor &x) { std::cout << recorder->sum() + x; });
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: the function that 'sinks_' holds has captured 'recorder', which has 'sinks_'
  // CHECK-NOTES: :[[@LINE-2]]:18: note: it is captured here
  // CHECK-NOTES: :[[@LINE-9]]:21: note: the member
  recorder->set_last([recorder](const Tensor &x) { std::cout << recorder->sum() - x; });
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: the function that 'last_' holds has captured 'recorder', which has 'last_'
  // CHECK-NOTES: :[[@LINE-2]]:23: note: it is captured here
  // CHECK-NOTES: :[[@LINE-12]]:8: note: the member
  recorder->add([other](const Tensor &x) { std::cout << other->sum() + x; });
}
