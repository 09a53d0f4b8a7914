#pragma once

#include <torch/torch.h>

#include <random>
#include <string>
#include <vector>

namespace charlm {

// A text over a small alphabet, cut into parallel streams of tokens.
class Corpus {
 public:
  struct Chunk {
    torch::Tensor input;   // [streams, time]
    torch::Tensor target;  // [streams, time], one character ahead
  };

  Corpus(const std::string& text, int64_t streams) {
    auto tokens = encode(text);
    const int64_t length = tokens.size(0) / streams;
    streams_ = tokens.narrow(0, 0, length * streams).view({streams, length});
  }

  // "the <animal> <verb> the <animal>. " over and over.
  static std::string generate(int sentences, unsigned seed) {
    static const std::vector<std::string> animals = {"cat", "dog", "owl", "fox"};
    static const std::vector<std::string> verbs = {"sees", "hears", "likes"};
    std::mt19937 random(seed);
    std::string text;
    for (int i = 0; i < sentences; ++i) {
      text += "the " + animals[random() % animals.size()] + " ";
      text += verbs[random() % verbs.size()] + " the ";
      text += animals[random() % animals.size()] + ". ";
    }
    return text;
  }

  static int64_t vocabulary() {
    return 28;
  }

  static int64_t index(char c) {
    if (c >= 'a' && c <= 'z') return c - 'a';
    return c == '.' ? 26 : 27;
  }

  static char character(int64_t index) {
    if (index < 26) return static_cast<char>('a' + index);
    return index == 26 ? '.' : ' ';
  }

  static torch::Tensor encode(const std::string& text) {
    std::vector<int64_t> tokens;
    tokens.reserve(text.size());
    for (char c : text) tokens.push_back(index(c));
    return torch::tensor(tokens, torch::kInt64);
  }

  // Consecutive chunks: the recurrent state runs on from one to the next.
  std::vector<Chunk> chunks(int64_t time) const {
    std::vector<Chunk> result;
    for (int64_t t = 0; t + time < streams_.size(1); t += time) {
      result.push_back(
          {streams_.narrow(1, t, time), streams_.narrow(1, t + 1, time)});
    }
    return result;
  }

  int64_t streams() const {
    return streams_.size(0);
  }

 private:
  torch::Tensor streams_;
};

}  // namespace charlm
