// Translates regular English numerals ("fourty two") into German ones with a small transformer.
//
//   numerals [--epochs N] [--beam N] [--prompt] [--cpu] [WORDS...]

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace nn = torch::nn;
namespace F = torch::nn::functional;
using torch::Tensor;

constexpr int64_t kPad = 0, kBegin = 1, kEnd = 2;
constexpr int64_t kSource = 4, kTarget = 6;  // longest sentences, the German one with its end mark
constexpr int64_t kWidth = 32, kHeads = 4, kLayers = 2;
using Words = std::vector<std::string>;

class Vocabulary {
public:
    int64_t add(const std::string& word) {
        const auto [place, fresh] = ids_.emplace(word, size());
        if (fresh) words_.push_back(word);
        return place->second;
    }
    std::optional<int64_t> find(const std::string& word) const {
        const auto place = ids_.find(word);
        if (place == ids_.end()) return std::nullopt;
        return place->second;
    }
    const std::string& word(int64_t id) const { return words_.at(id); }
    int64_t size() const { return static_cast<int64_t>(words_.size()); }

private:
    Words words_{"<pad>", "<s>", "</s>"};
    std::unordered_map<std::string, int64_t> ids_;
};

const char* const kEnglish[] = {"", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"};
const char* const kGerman[] = {"", "ein", "zwei", "drei", "vier", "fuenf", "sechs", "sieben", "acht", "neun"};

std::pair<Words, Words> numeral(int n) {
    const int hundreds = n / 100, tens = n / 10 % 10, ones = n % 10;
    Words english, german;
    if (hundreds) english = {kEnglish[hundreds], "hundred"}, german = {kGerman[hundreds], "hundert"};
    if (tens) english.push_back(std::string(kEnglish[tens]) + "ty");
    if (ones) english.push_back(kEnglish[ones]);
    if (ones) german.push_back(kGerman[ones]);
    if (ones && tens) german.push_back("und");
    if (tens) german.push_back(std::string(kGerman[tens]) + "zig");
    return {english, german};
}

struct Corpus {
    Tensor source;  // [N, kSource]
    Tensor input;   // [N, kTarget], begins with kBegin
    Tensor target;  // [N, kTarget], ends with kEnd

    Corpus rows(const Tensor& index) const {
        return {source.index_select(0, index), input.index_select(0, index), target.index_select(0, index)};
    }
    Tensor lengths() const { return target.ne(kPad).sum(1) - 1; }
};

Corpus build(int first, int last, int stride, Vocabulary& english, Vocabulary& german, torch::Device device) {
    std::vector<int64_t> source, input, target;
    size_t n = 0;
    for (int number = first; number <= last; number += stride) {
        const auto [from, into] = numeral(number);
        ++n;
        for (const auto& word : from) source.push_back(english.add(word));
        source.resize(n * kSource, kPad);
        input.push_back(kBegin);
        for (const auto& word : into) input.push_back(german.add(word)), target.push_back(input.back());
        target.push_back(kEnd);
        input.resize(n * kTarget, kPad);
        target.resize(n * kTarget, kPad);
    }
    const auto long_on_device = torch::dtype(torch::kLong).device(device);
    return {torch::tensor(source, long_on_device).view({-1, kSource}),  // RIGHT: torch-allocate-on-device (made from a list of the host)
            torch::tensor(input, long_on_device).view({-1, kTarget}),
            torch::tensor(target, long_on_device).view({-1, kTarget})};
}

struct EncoderImpl : nn::Module {
    explicit EncoderImpl(int64_t words)
        : table(register_module("table", nn::Embedding(words, kWidth))),
          place(register_parameter("place", torch::randn({kSource, 1, kWidth}) * 0.02)),
          layer(register_module("layer", nn::TransformerEncoderLayer(
              nn::TransformerEncoderLayerOptions(kWidth, kHeads).dim_feedforward(64).dropout(0.1)))) {}

    Tensor forward(const Tensor& source) {
        return layer->forward(table->forward(source.t()) + place, {}, source.eq(kPad));
    }

    nn::Embedding table;
    Tensor place;
    nn::TransformerEncoderLayer layer;
};
TORCH_MODULE(Encoder);

struct DecoderImpl : nn::Module {
    explicit DecoderImpl(int64_t words)
        : table(register_module("table", nn::Embedding(words, kWidth))),
          place(register_parameter("place", torch::randn({kTarget, 1, kWidth}) * 0.02)),
          layers(register_module("layers", nn::ModuleList())),
          out(register_module("out", nn::Linear(kWidth, words))) {
        const auto options = nn::TransformerDecoderLayerOptions(kWidth, kHeads).dim_feedforward(64).dropout(0.1);
        for (int64_t i = 0; i < kLayers; ++i) {
            layers->push_back(nn::TransformerDecoderLayer(options));  // RIGHT: torch-unregistered-module (the list is registered)
            adapters.push_back(nn::Linear(kWidth, kWidth));  // EXPECT: torch-unregistered-module
        }
    }

    Tensor forward(const Tensor& input, const Tensor& memory, const Tensor& hidden, const Tensor& mask) {
        auto x = table->forward(input.t()) + place.slice(0, 0, input.size(1));
        for (int64_t i = 0; i < kLayers; ++i) {
            x = layers->at<nn::TransformerDecoderLayerImpl>(i).forward(x, memory, mask, {}, {}, hidden);
            x = x + torch::relu(adapters[i]->forward(x));
        }
        return out->forward(x).transpose(0, 1);
    }

    nn::Embedding table;
    Tensor place;
    nn::ModuleList layers;
    std::vector<nn::Linear> adapters;
    nn::Linear out;
};
TORCH_MODULE(Decoder);

// How many words the translation will have, as a distribution.
struct LengthHeadImpl : nn::Module {
    LengthHeadImpl() : out(register_module("out", nn::Linear(kWidth, kTarget))) {}
    Tensor forward(const Tensor& memory) { return torch::softmax(out->forward(memory.mean(0)), 1); }
    nn::Linear out;
};
TORCH_MODULE(LengthHead);

struct Model {
    Encoder encoder;
    Decoder decoder;
    LengthHead length;

    void train(bool on) { encoder->train(on), decoder->train(on); }
    void to(torch::Device device) { encoder->to(device), decoder->to(device), length->to(device); }
    std::vector<Tensor> parameters() const {
        auto all = encoder->parameters();
        for (const auto& more : {decoder->parameters(), length->parameters()}) all.insert(all.end(), more.begin(), more.end());
        return all;
    }
};

struct EvalScope {
    explicit EvalScope(Model& m) : model(m) { model.train(false); }  // RIGHT: torch-eval-mode-not-restored (the destructor restores it)
    ~EvalScope() { model.train(true); }
    Model& model;
};

template <typename Step>
void each_batch(const Corpus& corpus, int64_t size, Step&& step) {
    const auto order = torch::randperm(corpus.source.size(0), torch::dtype(torch::kLong).device(corpus.source.device()));
    for (const auto& index : order.split(size)) step(corpus.rows(index));
}

Tensor causal_mask(int64_t length, torch::Device device) {
    return torch::full({length, length}, -std::numeric_limits<float>::infinity(), device).triu_(1);
}

Tensor translation_loss(const Tensor& logits, const Tensor& target) {
    const auto scores = torch::log(torch::softmax(logits, -1));  // EXPECT: torch-unfused-operation
    return F::nll_loss(scores.flatten(0, 1), target.flatten(), F::NLLLossFuncOptions().ignore_index(kPad));  // RIGHT: torch-loss-input (these are logarithms)
}

struct Losses { Tensor words, length; };

Losses losses(Model& model, const Corpus& batch, const Tensor& mask) {
    const auto memory = model.encoder->forward(batch.source);
    const auto logits = model.decoder->forward(batch.input, memory, batch.source.eq(kPad), mask);
    const auto length = model.length->forward(memory);
    return {translation_loss(logits, batch.target),
            torch::cross_entropy_loss(length, batch.lengths())};  // EXPECT: torch-loss-input
}

// The weight at which the loss of the length pulls a third as hard at the embedding.
double balance(Model& model, const Corpus& batch) {
    const auto both = losses(model, batch, causal_mask(kTarget, batch.source.device()));
    const std::vector<Tensor> shared{model.encoder->table->weight};
    const auto words = torch::autograd::grad({both.words}, shared, {}, /*retain_graph=*/true);  // RIGHT: torch-retain-graph-in-loop (the next line needs it)
    const auto length = torch::autograd::grad({both.length}, shared);
    return std::min(1.0, (words[0].norm() / (3.0 * length[0].norm())).item<double>());
}

void train(Model& model, const Corpus& corpus, int64_t epochs) {
    torch::optim::Adam optimizer(model.parameters(), torch::optim::AdamOptions(3e-3));
    const double weight = balance(model, corpus.rows(torch::arange(64, corpus.source.device())));
    for (int64_t epoch = 0; epoch < epochs; ++epoch) {
        auto total = torch::zeros({}, corpus.source.device());  // RIGHT: torch-allocation-in-loop (a fresh sum, once per epoch)
        each_batch(corpus, 64, [&](const Corpus& batch) {
            const auto mask = causal_mask(kTarget, batch.source.device());  // EXPECT: torch-allocation-in-loop
            const auto both = losses(model, batch, mask);
            optimizer.zero_grad();
            (both.words + weight * both.length).backward({}, /*retain_graph=*/true);  // EXPECT: torch-retain-graph-in-loop
            optimizer.step();
            total += both.words.detach();  // RIGHT: torch-retained-graph (only the number is kept)
        });
        std::printf("epoch %lld  loss %.3f\n", static_cast<long long>(epoch), total.item<double>());
    }
}

double perplexity(Model& model, const Corpus& corpus) {
    EvalScope scope(model);
    const auto mask = causal_mask(kTarget, corpus.source.device());
    auto total = torch::zeros({}, corpus.source.device());
    int64_t batches = 0;
    each_batch(corpus, 64, [&](const Corpus& batch) {
        total += losses(model, batch, mask).words.detach();  // EXPECT: torch-missing-no-grad
        ++batches;
    });
    return std::exp(total.item<double>() / batches);
}

Tensor encode_only(Model& model, const Tensor& source) {
    torch::NoGradGuard no_grad;
    return model.encoder->forward(source);
}

// Goes on with the decoder alone, on the numerals of another domain.
void adapt(Model& model, const Corpus& corpus) {
    const auto mask = causal_mask(kTarget, corpus.source.device());
    torch::optim::SGD optimizer(model.decoder->parameters(), 0.01);
    model.encoder->eval();  // RIGHT: torch-partial-eval-mode (only the decoder trains here)
    each_batch(corpus, 32, [&](const Corpus& batch) {
        const auto memory = encode_only(model, batch.source);
        optimizer.zero_grad();
        translation_loss(model.decoder->forward(batch.input, memory, batch.source.eq(kPad), mask), batch.target).backward();
        optimizer.step();
    });
    model.encoder->train();
}

// Learns two words that no sentence has and that stand before each of them.
Tensor tune_prompt(Model& model, const Corpus& corpus) {
    const auto mask = causal_mask(kTarget, corpus.source.device());
    auto prompt = torch::randn({2, 1, kWidth}, corpus.source.options().dtype(torch::kFloat32).requires_grad(true)).mul(0.02);
    torch::optim::Adam optimizer({prompt}, torch::optim::AdamOptions(1e-2));  // EXPECT: torch-non-leaf-parameter
    for (auto& p : model.parameters()) p.requires_grad_(false);
    each_batch(corpus, 64, [&](const Corpus& batch) {
        const auto lead = prompt.expand({-1, batch.source.size(0), -1});
        const auto memory = torch::cat({lead, model.encoder->forward(batch.source)});
        const auto hidden = F::pad(batch.source.eq(kPad), F::PadFuncOptions({2, 0}));
        optimizer.zero_grad();
        translation_loss(model.decoder->forward(batch.input, memory, hidden, mask), batch.target).backward();  // RIGHT: torch-unused-gradients (the model is frozen, the prompt learns)
        optimizer.step();
    });
    for (auto& p : model.parameters()) p.requires_grad_(true);
    return prompt;
}

struct Greedy {};
struct Beam { int64_t width; };
using Strategy = std::variant<Greedy, Beam>;

class Interpreter {
public:
    Interpreter(Model model, torch::Device device)
        : model_(std::move(model)), device_(device), mask_(causal_mask(kTarget, device)) {
        model_.encoder->eval();  // EXPECT: torch-partial-eval-mode
    }

    std::vector<int64_t> translate(const Tensor& source, const Strategy& strategy) {
        torch::NoGradGuard no_grad;
        const auto memory = model_.encoder->forward(source);
        const auto hidden = source.eq(kPad);
        if (const auto* beam = std::get_if<Beam>(&strategy)) return search(memory, hidden, beam->width);
        return follow(memory, hidden);
    }

private:
    std::vector<int64_t> follow(const Tensor& memory, const Tensor& hidden) {
        std::vector<int64_t> words{kBegin};
        for (int64_t t = 1; t <= kTarget && words.back() != kEnd; ++t) {
            const auto prefix = torch::tensor(words, device_).view({1, t});  // EXPECT: torch-varying-shapes
            const auto mask = mask_.slice(0, 0, t).slice(1, 0, t);
            const auto logits = model_.decoder->forward(prefix, memory, hidden, mask);
            words.push_back(logits.select(1, -1).argmax(-1).item<int64_t>());  // RIGHT: torch-sync-in-loop (the word decides whether to go on)
        }
        return words;
    }

    std::vector<int64_t> search(const Tensor& memory, const Tensor& hidden, int64_t width) {
        const float never = -std::numeric_limits<float>::infinity();
        const auto wide_memory = memory.expand({-1, width, -1}), wide_hidden = hidden.expand({width, -1});
        auto words = torch::full({width, kTarget + 1}, kPad, torch::dtype(torch::kLong).device(device_));
        words.select(1, 0).fill_(kBegin);
        auto scores = torch::full({width, 1}, never, device_);
        scores[0].zero_();
        for (int64_t t = 0; t < kTarget; ++t) {
            const auto logits = model_.decoder->forward(words.slice(1, 0, kTarget), wide_memory, wide_hidden, mask_);  // RIGHT: torch-varying-shapes (always the full length)
            auto step = torch::log_softmax(logits.select(1, t), -1);
            const auto over = words.select(1, t).eq(kEnd).logical_or(words.select(1, t).eq(kPad));
            step.masked_fill_(over.unsqueeze(1), never);
            step.select(1, kPad).masked_fill_(over, 0.0).masked_fill_(over.logical_not(), never);
            const auto best = (scores + step).flatten().topk(width);
            scores = std::get<0>(best).unsqueeze(1);
            words = words.index_select(0, std::get<1>(best).floor_divide(step.size(1)));
            words.select(1, t + 1).copy_(std::get<1>(best).remainder(step.size(1)));
        }
        const auto lengths = words.ne(kPad).sum(1).sub(2).clamp(0, kTarget - 1);
        const auto likely = model_.length->forward(memory)[0].index_select(0, lengths);
        const auto row = words[(scores.squeeze(1) + likely).argmax().item<int64_t>()].cpu();
        return {row.data_ptr<int64_t>(), row.data_ptr<int64_t>() + row.numel()};
    }

    Model model_;
    torch::Device device_;
    Tensor mask_;
};

int main(int argc, char** argv) {
    torch::Device device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
    int64_t epochs = 6, width = 3;
    bool prompt = false;
    Words sentence;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--cpu") device = torch::kCPU;
        else if (word == "--prompt") prompt = true;
        else if (word == "--epochs") epochs = std::stoll(argv[++i]);
        else if (word == "--beam") width = std::stoll(argv[++i]);
        else sentence.push_back(word);
    }
    if (sentence.empty()) sentence = {"three", "hundred", "fourty", "two"};
    torch::set_num_threads(1);
    torch::manual_seed(3);
    Vocabulary english, german;
    const Corpus corpus = build(1, 999, 4, english, german, device);
    const Corpus small = build(21, 99, 1, english, german, device);

    Model model{Encoder(english.size()), Decoder(german.size()), LengthHead()};
    model.to(device);
    train(model, corpus, epochs);
    adapt(model, small);
    if (prompt) tune_prompt(model, small);
    std::printf("perplexity %.3f\n", perplexity(model, small));

    std::vector<int64_t> ids;
    for (const auto& word : sentence)
        if (const auto id = english.find(word)) ids.push_back(*id);
    ids.resize(kSource, kPad);
    const auto source = torch::tensor(ids, device).view({1, kSource});
    Interpreter interpreter(model, device);
    for (const Strategy& strategy : {Strategy(Greedy{}), Strategy(Beam{width})}) {
        for (int64_t id : interpreter.translate(source, strategy))
            if (id > kEnd) std::printf("%s ", german.word(id).c_str());
        std::printf("\n");
    }
    return 0;
}
