// A GRU learns to write, window by window of a text that a grammar makes; the
// state at the end of a window is the one at the beginning of the next. Then an
// LSTM cell writes a text of its own.
// --size: that many times as many windows and characters.
//
// MEASURE process windows_lost factor=10 grows=linear
// MEASURE retained nodes-per-iteration factor=10 grows=constant
// MEASURE retained bytes-per-iteration factor=10 grows=constant
// MEASURE retained nodes-kept factor=10 grows=linear
// MEASURE retained bytes-kept factor=10 grows=linear
// MEASURE retained milliseconds report
// MEASURE writing nodes-per-iteration factor=10 grows=constant
// MEASURE writing bytes-per-iteration factor=10 grows=constant
#include "measure.h"

#include <random>
#include <set>

namespace {

constexpr int64_t length = 16; // Characters in a window.
constexpr int64_t columns = 8; // Places of the text that are read side by side.
constexpr int64_t letters = 27; // a to z, and the space.
constexpr int64_t hidden = 32;

// Sentences of a small grammar, as numbers of letters.
std::vector<int64_t> write_text(size_t characters) {
  const std::vector<std::string> subjects = {"the cat", "a dog", "the old owl"};
  const std::vector<std::string> verbs = {"sees", "follows", "likes"};
  std::mt19937 random(1);
  std::string text;
  while (text.size() < characters)
    text += subjects[random() % 3] + ' ' + verbs[random() % 3] + ' ' +
            subjects[random() % 3] + ' ';
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < characters; ++i)
    numbers.push_back(text[i] == ' ' ? 0 : text[i] - 'a' + 1);
  return numbers;
}

struct WriterImpl : torch::nn::Module {
  WriterImpl() {
    register_module("embedding", embedding);
    register_module("gru", gru);
    register_module("head", head);
  }

  std::tuple<torch::Tensor, torch::Tensor> forward(const torch::Tensor &window,
                                                   const torch::Tensor &state) {
    const auto [output, last] = gru->forward(embedding->forward(window), state);
    return {head->forward(output), last};
  }

  torch::nn::Embedding embedding{letters, 16};
  torch::nn::GRU gru{16, hidden};
  torch::nn::Linear head{hidden, letters};
};
TORCH_MODULE(Writer);

struct Training {
  explicit Training(torch::Device device) : windows(30 * measure::size()) {
    const int64_t rows = windows * length + 1;
    const auto numbers = write_text(columns * rows);
    text = torch::tensor(numbers).view({columns, rows}).t().to(device);
    model->to(device);
  }

  torch::Tensor window(int64_t i) const {
    return text.narrow(0, i * length, length);
  }
  torch::Tensor loss(const torch::Tensor &output, int64_t i) const {
    const auto next = text.narrow(0, i * length + 1, length);
    return torch::cross_entropy_loss(output.flatten(0, 1), next.flatten());
  }
  torch::Tensor initial() const {
    return torch::zeros({1, columns, hidden}, text.device());
  }

  int64_t windows;
  torch::Tensor text;
  Writer model;
  torch::optim::SGD optimizer{model->parameters(), 0.5};
};

// How many windows are not learned because an exception ends it.
int64_t windows_lost(Training &training) {
  int64_t learned = 0;
  try {
    torch::Tensor output, state = training.initial();
    for (int64_t i = 0; i < training.windows; ++i) {
      training.optimizer.zero_grad();
      std::tie(output, state) = // BAD
          training.model->forward(training.window(i), state);
      const auto loss = training.loss(output, i);
      loss.backward();
      training.optimizer.step();
      ++learned;
    }
  } catch (const c10::Error &) {
  }
  return training.windows - learned;
}

// The graph is retained, so nothing is thrown.
double loss_of_last(Training &training) {
  torch::Tensor output, state = training.initial();
  double last = 0;
  measure::Loop loop("retained");
  for (int64_t i = 0; i < training.windows; ++i) {
    training.optimizer.zero_grad();
    std::tie(output, state) = // BAD
        training.model->forward(training.window(i), state);
    const auto loss = training.loss(output, i);
    // Needed as long as the state is not detached.
    loss.backward({}, /*retain_graph=*/true); // NOLINT(torch-retain-graph-in-loop)
    training.optimizer.step();
    last = loss.item<double>();
    loop.iteration();
  }
  return last;
}

// An LSTM cell that was trained elsewhere.
struct Cell {
  explicit Cell(torch::Device device)
      : input((torch::randn({4 * hidden, letters}, device)).requires_grad_()),
        recurrent((torch::randn({4 * hidden, hidden}, device) * 0.2)
                      .requires_grad_()),
        head(torch::randn({letters, hidden}, device)) {}

  std::tuple<torch::Tensor, torch::Tensor>
  next(const torch::Tensor &letter,
       const std::tuple<torch::Tensor, torch::Tensor> &state) const {
    return torch::lstm_cell(letter, {std::get<0>(state), std::get<1>(state)},
                            input, recurrent);
  }

  torch::Tensor input, recurrent, head;
};

// Writes letter by letter without a guard: how many different letters.
size_t letters_written(torch::Device device) {
  const Cell cell(device);
  const auto alphabet = torch::eye(letters, device);
  auto state = std::make_tuple(torch::zeros({1, hidden}, device),
                               torch::zeros({1, hidden}, device));
  int64_t letter = 0;
  std::set<int64_t> written;
  measure::Loop loop("writing");
  for (int64_t i = 0; i < 200 * measure::size(); ++i) {
    state = cell.next(alphabet[letter].unsqueeze(0), state); // BAD
    const auto scores = std::get<0>(state).mm(cell.head.t());
    letter = scores.argmax(1).item<int64_t>();
    written.insert(letter);
    loop.iteration();
  }
  return written.size();
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  Training training(device);
  const int64_t lost = windows_lost(training);
  const double loss = loss_of_last(training);
  const size_t written = letters_written(device);
  measure::value("windows_lost", static_cast<double>(lost));
  measure::value("loss_of_last", loss);
  measure::value("letters_written", static_cast<double>(written));
  return measure::finish();
}
