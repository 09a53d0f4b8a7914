// An inference server in one process: clients talk to a small attention model
// in sessions of many turns; worker threads take requests from a queue. The
// keys and values of a turn are kept, so that the next turn of the session can
// attend to them without encoding the old tokens again.
#include <torch/torch.h>

#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

constexpr int64_t kVocabulary = 400;
constexpr int64_t kWidth = 128;
constexpr int64_t kHeads = 4;
constexpr int64_t kTokens = 40;
constexpr int kLayers = 2;
constexpr int kWorkers = 3;
constexpr int kSessions = 12;

// Keys and values of all layers: [layers, 2, heads, tokens, width / heads].
using TurnState = torch::Tensor;

struct LayerImpl : torch::nn::Module {
  LayerImpl()
      : qkv(kWidth, 3 * kWidth), mix(kWidth, kWidth), up(kWidth, 4 * kWidth),
        down(4 * kWidth, kWidth), norm(torch::nn::LayerNormOptions({kWidth})) {
    register_module("qkv", qkv);
    register_module("mix", mix);
    register_module("up", up);
    register_module("down", down);
    register_module("norm", norm);
  }

  torch::Tensor forward(const torch::Tensor &x, const torch::Tensor &earlier,
                        std::vector<torch::Tensor> &made) {
    const int64_t depth = kWidth / kHeads;
    const torch::Tensor split =
        qkv(norm(x)).view({x.size(0), 3, kHeads, depth}).permute({1, 2, 0, 3});
    const torch::Tensor own = split.narrow(0, 1, 2);
    const torch::Tensor all =
        earlier.defined() ? torch::cat({earlier, own}, 2) : own;
    const torch::Tensor weight =
        torch::softmax(split[0].matmul(all[0].transpose(1, 2)) /
                           std::sqrt(static_cast<double>(depth)),
                       -1);
    const torch::Tensor seen =
        weight.matmul(all[1]).transpose(0, 1).reshape({x.size(0), kWidth});
    made.push_back(own);
    const torch::Tensor y = x + mix(seen);
    return y + down(torch::gelu(up(y)));
  }

  torch::nn::Linear qkv, mix, up, down;
  torch::nn::LayerNorm norm;
};
TORCH_MODULE(Layer);

struct DialogueModelImpl : torch::nn::Module {
  DialogueModelImpl() : words(kVocabulary, kWidth), out(kWidth, kVocabulary) {
    register_module("words", words);
    register_module("out", out);
    for (int i = 0; i < kLayers; ++i)
      layers.push_back(register_module("layer" + std::to_string(i), Layer()));
  }

  // Scores of the next token, and the state of this turn.
  std::pair<torch::Tensor, TurnState> forward(const torch::Tensor &tokens,
                                              const TurnState &earlier) {
    torch::Tensor x = words(tokens);
    std::vector<torch::Tensor> made;
    for (int i = 0; i < kLayers; ++i)
      x = layers[i]->forward(
          x, earlier.defined() ? earlier[i] : torch::Tensor(), made);
    return {out(x[-1]), torch::stack(made)};
  }

  torch::nn::Embedding words;
  torch::nn::Linear out;
  std::vector<Layer> layers;
};
TORCH_MODULE(DialogueModel);

struct Request {
  std::string session;
  int64_t turn = 0;
  torch::Tensor tokens;
  std::promise<int64_t> answer;
};

// States of finished turns, shared by the workers.
class TurnCache {
public:
  TurnState find(const std::string &session, int64_t turn) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = states_.find(key(session, turn));
    if (found == states_.end()) {
      ++misses_;
      return {};
    }
    ++hits_;
    return found->second;
  }

  void store(const std::string &session, int64_t turn, TurnState state) {
    std::lock_guard<std::mutex> lock(mutex_);
    states_.insert_or_assign(key(session, turn), std::move(state));
  }

  int64_t hits() const { return hits_; }
  int64_t misses() const { return misses_; }

private:
  static std::string key(const std::string &session, int64_t turn) {
#ifdef MENDED
    // Only the latest turn of a session is ever asked for.
    static_cast<void>(turn);
    return session;
#else
    return session + "/" + std::to_string(turn);
#endif
  }

  std::mutex mutex_;
  std::unordered_map<std::string, TurnState> states_;
  int64_t hits_ = 0;
  int64_t misses_ = 0;
};

class Server {
public:
  explicit Server(DialogueModel model) : model_(std::move(model)) {
    for (int i = 0; i < kWorkers; ++i)
      workers_.emplace_back([this] { serve(); });
  }

  ~Server() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread &worker : workers_)
      worker.join();
  }

  std::future<int64_t> submit(Request request) {
    std::future<int64_t> answer = request.answer.get_future();
    {
      std::lock_guard<std::mutex> lock(mutex_);
      waiting_.push(std::move(request));
    }
    wake_.notify_one();
    return answer;
  }

  const TurnCache &cache() const { return cache_; }

private:
  void serve() {
    torch::NoGradGuard guard;
    while (true) {
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty())
        return;
      Request request = std::move(waiting_.front());
      waiting_.pop();
      lock.unlock();

      TurnState earlier = cache_.find(request.session, request.turn - 1);
      auto [scores, state] = model_->forward(request.tokens, earlier);
      cache_.store(request.session, request.turn, std::move(state));
      request.answer.set_value(scores.argmax().item<int64_t>());
    }
  }

  DialogueModel model_;
  TurnCache cache_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::queue<Request> waiting_;
  std::vector<std::thread> workers_;
  bool stopping_ = false;
};

} // namespace

int main(int argc, char **argv) {
  int64_t iterations = 400;
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], "--iterations") == 0)
      iterations = std::atoll(argv[i + 1]);

  torch::manual_seed(37);
  DialogueModel model;
  model->eval();
  Server server(model);

  std::vector<int64_t> last(kSessions, 0);
  double mean_token = 0.0;
  for (int64_t round = 1; round <= iterations; ++round) {
    std::vector<std::future<int64_t>> answers;
    for (int client = 0; client < kSessions; ++client) {
      Request request;
      request.session = "client-" + std::to_string(client);
      request.turn = round;
      request.tokens = torch::randint(kVocabulary, {kTokens}, torch::kLong);
      request.tokens[0] = last[client];
      answers.push_back(server.submit(std::move(request)));
    }
    for (int client = 0; client < kSessions; ++client) {
      last[client] = answers[client].get();
      mean_token += static_cast<double>(last[client]) / kSessions;
    }
    if (round % 80 == 0)
      std::printf("round %4lld  mean token %.2f  hits %lld  misses %lld\n",
                  static_cast<long long>(round), mean_token / round,
                  static_cast<long long>(server.cache().hits()),
                  static_cast<long long>(server.cache().misses()));
  }
  return 0;
}
