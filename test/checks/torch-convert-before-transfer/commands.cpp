// RUN: %check_torch %s torch-convert-before-transfer %t
//
// A table of commands, of which one is looked up: what it runs is known with the
// object as its constructor has made it.

#include <torch/torch.h>

#include <functional>
#include <unordered_map>

using torch::Tensor;

class Station {
public:
  explicit Station(torch::Device device)
      : device_(device), counts_(torch::randint(1000, {64, 4096}, torch::kShort)), rates_(torch::rand({64, 4096})) {
    actions_["spectrum"] = [this] { spectrum(); };
    actions_["level"] = [this] { level(); };
    reports_ = {{1, [this](int row) { line(row); }}, {2, [this](int row) { wide(row); }}};
  }

  bool act(const std::string &name) {
    auto action = actions_.find(name);
    if (action == actions_.end())
      return false;
    action->second();
    return true;
  }
  void report(int row) {
    for (auto &[number, print] : reports_)
      print(row);
  }

private:
  void spectrum() {
    for (int i = 0; i < 64; ++i)
      std::cout << counts_[i].to(torch::kFloat).to(device_).sum() << '\n';
    // CHECK-MESSAGES: :[[@LINE-1]]:49: warning: this tensor is converted to a wider type on the host and moved then
  }
  // Of this type already.
  void level() {
    for (int i = 0; i < 64; ++i)
      std::cout << rates_[i].to(torch::kFloat).to(device_).mean() << '\n';
  }
  // Narrower on the way.
  void line(int row) { std::cout << rates_[row].to(torch::kHalf).to(device_).sum() << '\n'; }
  void wide(int row) {
    std::cout << counts_[row].to(torch::kDouble).to(device_).sum() << '\n';
    // CHECK-MESSAGES: :[[@LINE-1]]:50: warning: this tensor is converted to a wider type on the host and moved then
  }

  torch::Device device_;
  Tensor counts_, rates_;
  std::unordered_map<std::string, std::function<void()>> actions_;
  std::map<int, std::function<void(int)>> reports_;
};

// Moved by the one command, it lies on the device when the other runs, or not:
// each of them may be the first.
class Unsure {
public:
  Unsure() : bytes_(torch::randint(256, {1 << 16}, torch::kByte)) {
    run_ = {{'m', [this] { bytes_ = bytes_.to(torch::kCUDA); }}, {'c', [this] { convert(); }}};
  }
  void operator()(const std::string &keys) {
    for (char key : keys)
      if (const auto found = run_.find(key); found != run_.end())
        found->second();
  }

private:
  void convert() { std::cout << bytes_.to(torch::kFloat).to(torch::kCUDA).sum() << '\n'; }
  Tensor bytes_;
  std::map<char, std::function<void()>> run_;
};

int main(int argc, char **argv) {
  Station station(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  station.act(argv[1]);
  for (int row = 0; row < 64; ++row)
    station.report(row);
  Unsure unsure;
  unsure(argv[2]);
}
