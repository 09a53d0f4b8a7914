// A two-tower recommender for a synthetic book shop. The user tower averages
// what a reader picked lately, the item tower adds an identity embedding to
// what can be read from the cover. Covers are decoded on demand and kept in a
// cache with a bound; the item tower joins the training after a warm-up.
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <list>
#include <memory>
#include <random>
#include <unordered_map>
#include <vector>

namespace {

constexpr int64_t kBooks = 3000;
constexpr int64_t kReaders = 240;
constexpr int64_t kGenres = 12;
constexpr int64_t kCover = 3072;
constexpr int64_t kWidth = 64;
constexpr int64_t kBatch = 64;
constexpr size_t kLately = 6;
constexpr int64_t kWarmUp = 40;

class Shop {
public:
  explicit Shop(uint32_t seed) : random_(seed) {
    for (int64_t i = 0; i < kReaders; ++i)
      taste_.push_back(static_cast<int64_t>(random_() % kGenres));
  }

  int64_t reader() { return static_cast<int64_t>(random_() % kReaders); }

  // Popular books are picked more often; most picks are to the reader's taste.
  int64_t pick(int64_t reader) {
    const double u = std::uniform_real_distribution<double>(0.0, 1.0)(random_);
    int64_t book = static_cast<int64_t>(std::pow(u, 2.5) * kBooks);
    if (random_() % 10 < 8)
      book = book / kGenres * kGenres + taste_[static_cast<size_t>(reader)];
    return std::min(book, kBooks - 1);
  }

private:
  std::mt19937 random_;
  std::vector<int64_t> taste_;
};

// Decoded covers of the books used last.
class CoverCache {
public:
  explicit CoverCache(size_t limit) : limit_(limit) {}

  const torch::Tensor &cover(int64_t book) {
    const auto found = where_.find(book);
    if (found != where_.end()) {
      ++hits_;
      entries_.splice(entries_.begin(), entries_, found->second);
      return entries_.front().second;
    }
    ++misses_;
    entries_.emplace_front(book, decode(book));
    where_[book] = entries_.begin();
    if (entries_.size() > limit_) {
      where_.erase(entries_.back().first);
      entries_.pop_back();
    }
    return entries_.front().second;
  }

  double hitRate() const {
    return static_cast<double>(hits_) / static_cast<double>(hits_ + misses_);
  }

private:
  static torch::Tensor decode(int64_t book) {
    const torch::Tensor at = torch::arange(kCover, torch::kFloat);
    const double pitch = 0.002 * static_cast<double>(1 + book % kGenres);
    return torch::sin(at * pitch) +
           torch::cos(at * 0.37 + static_cast<double>(book)) * 0.5;
  }

  using Entries = std::list<std::pair<int64_t, torch::Tensor>>;
  size_t limit_;
  Entries entries_;
  std::unordered_map<int64_t, Entries::iterator> where_;
  int64_t hits_ = 0;
  int64_t misses_ = 0;
};

struct TowersImpl : torch::nn::Module {
  TowersImpl()
      : lately(
            torch::nn::EmbeddingBagOptions(kBooks, kWidth).mode(torch::kMean)),
        mix(kWidth, kWidth), identity(kBooks, kWidth), cover(kCover, 128),
        join(128, kWidth) {
    register_module("lately", lately);
    register_module("mix", mix);
    register_module("identity", identity);
    register_module("cover", cover);
    register_module("join", join);
  }

  torch::Tensor users(const torch::Tensor &books, const torch::Tensor &starts) {
    return torch::tanh(mix(lately(books, starts)));
  }

  torch::Tensor items(const torch::Tensor &books, const torch::Tensor &covers) {
    return identity(books) + join(torch::relu(cover(covers)));
  }

  std::vector<torch::Tensor> userParameters() const {
    return {lately->weight, mix->weight, mix->bias};
  }

  std::vector<torch::Tensor> itemParameters() const {
    return {identity->weight, cover->weight, cover->bias, join->weight,
            join->bias};
  }

  torch::nn::EmbeddingBag lately;
  torch::nn::Linear mix;
  torch::nn::Embedding identity;
  torch::nn::Linear cover, join;
};
TORCH_MODULE(Towers);

class Trainer {
public:
  Trainer()
      : shop_(8), covers_(1600), history_(kReaders),
        user_optimizer_(towers_->userParameters(),
                        torch::optim::AdamOptions(4e-3)),
        item_optimizer_(towers_->itemParameters(),
                        torch::optim::AdamOptions(1e-3)) {}

  void step() {
    ++steps_;
    const torch::Tensor scores = scoreBatch();
    const torch::Tensor loss = torch::nn::functional::cross_entropy(
        scores, torch::arange(kBatch, torch::kLong));
    user_optimizer_.zero_grad();
    item_optimizer_.zero_grad();
    loss.backward();
    user_optimizer_.step();
    if (steps_ > kWarmUp)
      item_optimizer_.step();
    losses_.push_back(loss.item<double>());
  }

  // Share of readers whose next book is among the five best of a batch.
  double recall() {
    torch::NoGradGuard guard;
    const torch::Tensor best = std::get<1>(scoreBatch().topk(5, 1));
    const torch::Tensor own = torch::arange(kBatch, torch::kLong).unsqueeze(1);
    recalls_.push_back(
        best.eq(own).any(1).to(torch::kFloat).mean().item<double>());
    return recalls_.back();
  }

  double meanLoss(size_t count) const {
    double sum = 0.0;
    for (size_t i = losses_.size() - count; i < losses_.size(); ++i)
      sum += losses_[i];
    return sum / static_cast<double>(count);
  }

  double hitRate() const { return covers_.hitRate(); }

private:
  // Scores of every reader of a new batch against every picked book.
  torch::Tensor scoreBatch() {
    std::vector<int64_t> books, starts, picks;
    std::vector<torch::Tensor> covers;
    for (int64_t i = 0; i < kBatch; ++i) {
      const int64_t reader = shop_.reader();
      std::deque<int64_t> &mine = history_[static_cast<size_t>(reader)];
      starts.push_back(static_cast<int64_t>(books.size()));
      books.insert(books.end(), mine.begin(), mine.end());
      picks.push_back(shop_.pick(reader));
      covers.push_back(covers_.cover(picks.back()));
      mine.push_back(picks.back());
      if (mine.size() > kLately)
        mine.pop_front();
    }
    const torch::Tensor book_list = torch::tensor(books, torch::kLong);
    const torch::Tensor users =
        towers_->users(book_list, torch::tensor(starts, torch::kLong));
    const torch::Tensor items = towers_->items(
        torch::tensor(picks, torch::kLong), torch::stack(covers));
    return users.matmul(items.t()) / std::sqrt(static_cast<double>(kWidth));
  }

  Shop shop_;
  CoverCache covers_;
  std::vector<std::deque<int64_t>> history_;
  Towers towers_;
  torch::optim::Adam user_optimizer_, item_optimizer_;
  std::vector<double> losses_, recalls_;
  int64_t steps_ = 0;
};

} // namespace

int main(int argc, char **argv) {
  int64_t iterations = 600;
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], "--iterations") == 0)
      iterations = std::atoll(argv[i + 1]);

  torch::manual_seed(29);
  Trainer trainer;
  for (int64_t step = 1; step <= iterations; ++step) {
    trainer.step();
    if (step % 60 == 0)
      std::printf("step %4lld  loss %.4f  recall %.3f  cache hits %.3f\n",
                  static_cast<long long>(step), trainer.meanLoss(60),
                  trainer.recall(), trainer.hitRate());
  }
  return 0;
}
