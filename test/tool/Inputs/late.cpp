#include <cassert>
#include <cmath>
#include <cstdarg>
#include <immintrin.h>
#include <limits.h>
#include <functional>
#include <string>

// Declarations before LibTorch's headers, which have no name for them.
using namespace std;
struct Word {
  string text;
  int64_t index;
};
bool operator<(const Word &a, const Word &b) { return a.text < b.text; }
template <> struct std::hash<Word> {
  size_t operator()(const Word &word) const { return hash<string>()(word.text); }
};
namespace words {
void print(const Word &word);
enum Kind { noun, verb };
} // namespace words
using namespace words;

#include <set>
#include <torch/torch.h>
#include <unordered_set>

template <class T> class Meter {
public:
  void add(T value) {
    assert(!std::isnan(value));
    sum += value;
  }
  void reset() { sum = 0; }

private:
  T sum = 0;
};

void train(torch::nn::Linear net, torch::optim::SGD &optimizer, torch::Tensor input) {
  Meter<double> meter;
  for (int i = 0; i < 10; ++i) {
    torch::Tensor loss = net->forward(input).sum();
    loss.backward();
    optimizer.step();
    meter.add(loss.item<double>());
  }
}

// Templates that only the standard library calls, with nothing of LibTorch's, beside a
// tensor.
struct BySecond {
  template <class T> bool operator()(const T &a, const T &b) const {
    return a.second < b.second;
  }
};
template <class T> struct Window {
  T *first = nullptr;
  Window &operator=(const Window &other) {
    first = other.first;
    return *this;
  }
};
struct Vocabulary {
  set<pair<string, int64_t>, BySecond> counts;
  unordered_set<Word> words;
  vector<Window<int>> windows;
  torch::Tensor weights;
};
vector<Vocabulary> read(const vector<pair<string, int64_t>> &counted) {
  vector<Vocabulary> result(1);
  result[0].counts.insert(counted.begin(), counted.end());
  result[0].windows.resize(2);
  auto longest = [](const auto &a, const auto &b) { return a.first < b.first; };
  auto copy = counted;
  sort(copy.begin(), copy.end(), longest);
  return result;
}
