// RUN: %check_torch %s torch-reference-cycle %t
//
// No cycle: captured otherwise, by what does not own, or of another object.

#include <torch/torch.h>

#include <functional>

using torch::Tensor;

struct NetImpl : torch::nn::Module {
  torch::nn::Linear fc = register_module("fc", torch::nn::Linear(4, 4));
  Tensor hidden;
  Tensor forward(Tensor x) {
    hidden = fc(x);
    // A pointer owns nothing.
    fc->weight.register_hook([this](Tensor grad) { return grad + hidden; });
    return hidden;
  }
};
TORCH_MODULE(Net);

void captures(Tensor w, Tensor other, Net net) {
  w.register_hook([&w](Tensor grad) { return grad * w; });
  w.register_hook([&](Tensor grad) { return grad * w; });
  w.register_hook([d = w.detach()](Tensor grad) { return grad * d; });
  w.register_hook([n = w.numel()](Tensor grad) { return grad / n; });
  w.register_hook([other](Tensor grad) { return grad * other; });
  w.register_hook([=](Tensor grad) { return grad * 2; });
  w.register_hook([net](Tensor grad) { return grad * net->hidden; });
  w.register_hook([held = std::make_shared<Tensor>(w)](Tensor grad) {
    Tensor result = grad * *held;
    held->reset();
    return result;
  });
  net->fc->weight.register_hook([b = net->fc->bias](Tensor g) { return g; });
  std::weak_ptr<NetImpl> weak = net.ptr();
  net->fc->weight.register_hook([weak](Tensor grad) {
    auto strong = weak.lock();
    return strong ? grad : grad * 0;
  });
  NetImpl *raw = net.get();
  net->fc->weight.register_hook([raw](Tensor grad) { return grad; });
}

// The capture is made of the owner, and owns nothing.
struct Listener {
  std::function<void(double)> onLoss, onEnd;
  Tensor best;
};
void listens(double loss) {
  auto careful = std::make_shared<Listener>();
  careful->onLoss = [w = std::weak_ptr<Listener>(careful)](double l) {
    if (auto listener = w.lock())
      listener->best.fill_(l);
  };
  careful->onEnd = [raw = careful.get()](double l) { raw->best.fill_(l); };
  careful->onLoss(loss);
}

// By reference both: a weak one is captured, or the other object.
void given(const std::shared_ptr<Listener> &one,
           const std::weak_ptr<Listener> &weak,
           const std::shared_ptr<Listener> &other) {
  one->onLoss = [weak, other](double l) { other->best.fill_(l); };
}

// What is captured, or hooked, is another tensor by then.
void reassigned(Tensor x) {
  Tensor y = x * 2;
  const auto hook = [y](Tensor grad) { return grad * y; };
  y = x * 3;
  y.register_hook(hook);
  y.sum().backward();
}

// Each forward pass gives the member another tensor.
void ofThePass(Net net, Tensor x) {
  net->forward(x);
  net->hidden.register_hook([net](Tensor grad) { return grad; });
}

// Whoever has the handle may take the hook away.
unsigned handle(Tensor w) {
  return w.register_hook([w](Tensor grad) { return grad * w; });
}

// Parts that do not own the whole.
struct Whole;
struct Part {
  std::weak_ptr<Whole> weak;
  Whole *raw = nullptr;
  std::shared_ptr<Part> next;
  Tensor value;
};
struct Whole {
  std::shared_ptr<Part> part = std::make_shared<Part>();
  Part *lent = nullptr;
  std::shared_ptr<Part> other;
};
void parts(std::shared_ptr<Whole> whole, std::shared_ptr<Whole> another) {
  whole->part->weak = whole;
  whole->part->raw = whole.get();
  whole->part->next = whole->other;
  whole->lent->weak = whole;
}

// Let go in the file.
struct Session;
struct Request {
  std::shared_ptr<Session> session;
  Tensor input;
};
struct Session {
  void finish() { request->session.reset(); }
  void close() { on_done = nullptr; }
  std::shared_ptr<Request> request;
  std::function<void()> on_done;
  Tensor state;
};
void letGo(std::shared_ptr<Session> session) {
  session->request->session = session;
  session->on_done = [session] { session->finish(); };
}

// It gets something else: elsewhere, or behind it.
struct Job;
struct Step {
  void set_job(std::shared_ptr<Job> job) { job_ = std::move(job); }
  std::shared_ptr<Job> job_;
};
struct Job {
  std::shared_ptr<Step> step;
  std::shared_ptr<Step> last;
  std::function<void()> then;
  Tensor state;
};
void advance(Job &job) { job.step = std::make_shared<Step>(); }
void run(std::shared_ptr<Job> job) {
  job->step->job_ = job;
  job->then = [job] { job->state.zero_(); };
  job->then();
  job->then = [] {};
  job->last->set_job(job);
  job->last->set_job({});
}

// Nothing of LibTorch in it.
struct Node {
  std::shared_ptr<Node> next;
  std::function<void()> call;
};
void plain(std::shared_ptr<Node> node) {
  node->next = node;
  node->call = [node] {};
}

// A list that is emptied: each function runs once.
class Deferred : public std::enable_shared_from_this<Deferred> {
public:
  void later(std::function<void()> job) { jobs_.push_back(std::move(job)); }
  void start() {
    auto self = shared_from_this();
    later([self] { self->state_.zero_(); });
  }
  void run() {
    for (auto &job : std::exchange(jobs_, {}))
      job();
  }

private:
  Tensor state_;
  std::vector<std::function<void()>> jobs_;
};
// The second takes the place of the first.
struct Button {
  void on_press(std::function<void()> f) { press = std::move(f); }
  std::function<void()> press;
  Tensor state;
};
void replaced() {
  auto button = std::make_shared<Button>();
  button->on_press([button] { button->state.zero_(); });
  button->press();
  button->on_press({});
}

// Lives as long as the program.
int main() {
  Net net;
  Tensor w = torch::ones({4}, torch::requires_grad());
  w.register_hook([w](Tensor grad) { return grad * w; });
  net->fc->weight.register_hook([net](Tensor grad) { return grad; });
  for (auto &p : net->parameters())
    p.register_hook([p](Tensor grad) { return grad + p; });
  captures(w, w, net);
}
