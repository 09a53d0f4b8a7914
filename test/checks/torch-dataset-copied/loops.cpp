// RUN: %check_torch %s torch-dataset-copied %t
//
// Loaders that each iteration makes: of one data set, which is copied, and of others.

#include <torch/torch.h>

#include <algorithm>
#include <memory>

using torch::data::DataLoaderOptions;
using torch::data::make_data_loader;
using torch::data::transforms::Stack;
using Example = torch::data::Example<>;

struct Songs : torch::data::datasets::Dataset<Songs> {
  Example get(size_t i) override { return {torch::tensor(songs[i]), torch::tensor(1)}; }
  torch::optional<size_t> size() const override { return songs.size(); }
  std::vector<std::vector<float>> songs;
};
struct Shared : torch::data::datasets::Dataset<Shared> {
  Example get(size_t i) override { return {torch::tensor((*songs)[i]), torch::tensor(1)}; }
  torch::optional<size_t> size() const override { return songs->size(); }
  std::shared_ptr<std::vector<std::vector<float>>> songs;
};

template <class Loader> void listen(Loader &loader) {
  for (auto &batch : *loader)
    std::cout << batch.data.sum();
}

// In a helper, of a member.
auto loaderOf(Songs &songs) {
  return make_data_loader(songs.map(Stack<>()), DataLoaderOptions(8));
  // CHECK-NOTES: :[[@LINE-1]]:27: warning: 'Songs' has 'songs' by value, and this copies all of it in every iteration; hold 'songs' in a 'std::shared_ptr', or make the loader once before the loop [torch-dataset-copied]
  // CHECK-NOTES: :[[@LINE+7]]:5: note: called in every iteration of this loop
  // CHECK-NOTES: :[[@LINE-18]]:35: note: this is what is copied
}
class Player {
public:
  explicit Player(Songs songs) : songs_(std::move(songs)) {}
  void play(int days) {
    for (int day = 0; day < days; ++day)
      playAll();
  }

private:
  void playAll() {
    auto loader = loaderOf(songs_);
    listen(loader);
  }
  Songs songs_;
};
void playThem(Songs songs, int days) { Player(std::move(songs)).play(days); }

// As it is.
void asItIs(int days) {
  Songs songs;
  auto mapped = Songs().map(Stack<>());
  for (int day = 0; day < days; ++day) {
    auto plain = make_data_loader(songs, 8);
    // CHECK-NOTES: :[[@LINE-1]]:18: warning: 'Songs' has 'songs' by value, and this copies all of it in every iteration
    // CHECK-NOTES: :[[@LINE-3]]:3: note: in every iteration of this loop
    // CHECK-NOTES: :[[@LINE-45]]:35: note: this is what is copied
    auto stacked = make_data_loader(mapped, 8);
    // CHECK-NOTES: :[[@LINE-1]]:20: warning: 'Songs' has 'songs' by value, and this copies all of it in every iteration
    // CHECK-NOTES: :[[@LINE-7]]:3: note: in every iteration of this loop
    // CHECK-NOTES: :[[@LINE-49]]:35: note: this is what is copied
    listen(stacked);
  }
}
// Of the workers, which have more copies, one finding.
void withWorkers(Songs &songs, int days) {
  for (int day = 0; day < days; ++day)
    make_data_loader(songs.map(Stack<>()), DataLoaderOptions(8).workers(2));
  // CHECK-NOTES: :[[@LINE-1]]:5: warning: 'Songs' has 'songs' by value, and each of the 2 workers of this data loader gets a copy of its own
  // CHECK-NOTES: :[[@LINE-58]]:35: note: this is what is copied
}

// Once; moved; another each time; handles; under a condition; behind a pointer, which may change.
void once(Songs &songs) {
  auto loader = make_data_loader(songs.map(Stack<>()), 8);
  for (int day = 0; day < 9; ++day)
    listen(loader);
}
void others(std::vector<Songs> &all, const Songs *kept, Shared &shared, int days) {
  for (int day = 0; day < days; ++day) {
    Songs today;
    auto first = make_data_loader(today.map(Stack<>()), 8);
    auto second = make_data_loader(std::move(today), 8);
    auto third = make_data_loader(all[day].map(Stack<>()), 8);
    auto fourth = make_data_loader(shared.map(Stack<>()), 8);
    auto fifth = make_data_loader(*kept, 8);
    auto sixth = make_data_loader(Songs().map(Stack<>()), 8);
  }
  for (Songs &each : all)
    loaderOf(each);
}
void ifNeeded(Songs &songs, int days) {
  for (int day = 0; day < days; ++day)
    if (day == 3)
      make_data_loader(songs.map(Stack<>()), 8);
}

// By value, to what only goes through it with a network.
double judge(torch::nn::Linear net, Songs songs) {
  // CHECK-NOTES: :[[@LINE-1]]:43: warning: 'Songs' has 'songs' by value, and a loop gives a copy of all of it to this parameter, which is only read; take it by reference to const [torch-dataset-copied]
  // CHECK-NOTES: :[[@LINE+38]]:3: note: in every iteration of this loop
  // CHECK-NOTES: :[[@LINE-90]]:35: note: this is what is copied
  torch::NoGradGuard no_grad;
  double sum = 0;
  for (size_t i = 0; i < *songs.size(); ++i)
    sum += net->forward(torch::ones({8, 8})).sum().item<double>();
  return sum;
}
double judgeLent(torch::nn::Linear net, const Songs &songs) {
  torch::NoGradGuard no_grad;
  double sum = 0;
  for (size_t i = 0; i < *songs.size(); ++i)
    sum += net->forward(torch::ones({8, 8})).sum().item<double>();
  return sum;
}
// It changes its own; it keeps it; it does not go through it.
double judgeShuffled(torch::nn::Linear net, Songs songs) {
  torch::NoGradGuard no_grad;
  std::reverse(songs.songs.begin(), songs.songs.end());
  double sum = 0;
  for (size_t i = 0; i < *songs.size(); ++i)
    sum += net->forward(torch::ones({8, 8})).sum().item<double>();
  return sum;
}
Songs judgeAndKeep(torch::nn::Linear net, Songs songs) {
  torch::NoGradGuard no_grad;
  for (size_t i = 0; i < *songs.size(); ++i)
    net->forward(torch::ones({8, 8})).sum().item<double>();
  Songs kept(std::move(songs));
  return kept;
}
size_t howMany(torch::nn::Linear net, Songs songs) {
  torch::NoGradGuard no_grad;
  net->forward(torch::ones({8, 8}));
  return *songs.size();
}
void judgeDaily(const Songs &songs, int days) {
  torch::nn::Linear net(8, 8);
  for (int day = 0; day < days; ++day) {
    std::cout << judge(net, songs) << judgeLent(net, songs) << judgeShuffled(net, songs) << howMany(net, songs);
    Songs kept = judgeAndKeep(net, songs);
    Songs today;
    std::cout << judgeLent(net, today) << judge(net, std::move(today));
  }
}
