// A small network learns from a large one, which was trained before: soft targets, a hook that
// scales the gradient of the shared embedding, a check of both after each epoch, and a server
// with two threads that answers from the small one.
#include <torch/torch.h>

#include <cstdio>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <vector>

using torch::Tensor;
namespace F = torch::nn::functional;

struct TextNetImpl : torch::nn::Module {
  TextNetImpl(int64_t words, int64_t width, int64_t classes)
      : embedding(register_module("embedding", torch::nn::Embedding(words, width))),
        drop(register_module("drop", torch::nn::Dropout(0.1))),
        hidden(register_module("hidden", torch::nn::Linear(width, width))),
        out(register_module("out", torch::nn::Linear(width, classes))) {}

  Tensor forward(const Tensor &ids) {
    return out(drop(torch::relu(hidden(embedding(ids).mean(1)))));
  }

  torch::nn::Embedding embedding;
  torch::nn::Dropout drop;
  torch::nn::Linear hidden, out;
};
TORCH_MODULE(TextNet);

struct Corpus {
  Tensor ids, classes;
  static Corpus make(int64_t count) {
    auto classes = torch::randint(0, 4, {count}, torch::kLong);
    auto ids = torch::randint(0, 25, {count, 12}, torch::kLong) + classes.unsqueeze(1) * 25;
    return {ids, classes};
  }
};

class Distiller {
public:
  Distiller(TextNet teacher, TextNet student)
      : teacher(std::move(teacher)), student(std::move(student)),
        optimizer(this->student->parameters(), torch::optim::AdamWOptions(2e-3)) {
    this->student->embedding->weight.register_hook([](Tensor grad) { return grad * 0.5; });
  }

  double run(const Corpus &corpus, double temperature) {
    teacher->eval();
    student->train();
    double sum = 0;
    int64_t batches = 0;
    auto ids = corpus.ids.split(64);
    auto classes = corpus.classes.split(64);
    for (size_t i = 0; i < ids.size(); ++i) {
      Tensor soft;
      {
        torch::NoGradGuard no_grad;
        soft = torch::softmax(teacher(ids[i]) / temperature, 1);
      }
      auto logits = student(ids[i]);
      auto loss = F::kl_div(torch::log_softmax(logits / temperature, 1), soft,
                            F::KLDivFuncOptions().reduction(torch::kBatchMean)) *
                      temperature * temperature +
                  0.5 * F::cross_entropy(logits, classes[i]);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
      ++batches;
    }
    return sum / batches;
  }

private:
  TextNet teacher, student;
  torch::optim::AdamW optimizer;
};

double right(TextNet &net, const Corpus &corpus) {
  torch::InferenceMode guard;
  net->eval();
  double result = net(corpus.ids).argmax(1).eq(corpus.classes).to(torch::kFloat).mean().item<double>();
  net->train();
  return result;
}

void teach(TextNet &net, const Corpus &corpus, int epochs) {
  torch::optim::Adam adam(net->parameters(), torch::optim::AdamOptions(1e-3));
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (const auto &order : torch::randperm(corpus.ids.size(0), torch::kLong).split(64)) {
      adam.zero_grad();
      F::cross_entropy(net(corpus.ids.index_select(0, order)),
                       corpus.classes.index_select(0, order))
          .backward();
      adam.step();
    }
    std::printf("teacher %d: %.3f\n", epoch, right(net, corpus));
  }
}

std::vector<int64_t> serve(TextNet &net, const Corpus &requests) {
  net->eval();
  std::vector<std::future<Tensor>> answers;
  for (const auto &part : requests.ids.chunk(2))
    answers.push_back(std::async(std::launch::async, [&net, part] {
      torch::NoGradGuard no_grad;
      return net(part).argmax(1);
    }));
  std::vector<int64_t> result;
  for (auto &answer : answers) {
    Tensor classes = answer.get();
    result.insert(result.end(), classes.data_ptr<int64_t>(),
                  classes.data_ptr<int64_t>() + classes.numel());
  }
  return result;
}

int main() {
  torch::manual_seed(5);
  Corpus training = Corpus::make(2048), held_out = Corpus::make(512);
  TextNet teacher(100, 128, 4), student(100, 16, 4);
  teach(teacher, training, 3);
  Distiller distiller(teacher, student);
  for (int epoch = 0; epoch < 5; ++epoch) {
    double loss = distiller.run(training, 2.0);
    std::printf("student %d: %.4f, right %.3f\n", epoch, loss, right(student, held_out));
  }
  auto classes = serve(student, held_out);
  int64_t agreed = 0;
  auto wanted = held_out.classes.accessor<int64_t, 1>();
  for (size_t i = 0; i < classes.size(); ++i)
    agreed += classes[i] == wanted[static_cast<int64_t>(i)];
  std::printf("served %zu, right %lld\n", classes.size(), static_cast<long long>(agreed));
  return agreed * 2 > static_cast<int64_t>(classes.size()) ? 0 : 1;
}
