// Contact map prediction for protein chains.
//
// Trains a small convolutional network on pair features of synthesised chains
// and reports the precision of the predicted contacts.

#include <torch/torch.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int64_t kAlphabet = 21;
constexpr int64_t kStructureStates = 3;

struct Config {
    int64_t trainChains = 20, valChains = 10;
    int64_t minLength = 24, maxLength = 40;
    int64_t embedding = 8, channels = 16, recycles = 2;
    int64_t epochs = 3, pretrainSteps = 40;
    int64_t decoys = 5, minSeparation = 6;
    double learningRate = 2e-3, structureWeight = 0.1, cutoff = 8.0;
    bool learnPrior = false;
    torch::Device device = torch::kCPU;
};

struct Chain {
    std::string id;
    std::vector<int32_t> residues, depth;
    torch::Tensor coords;
};

struct Sample {
    std::string id;
    torch::Tensor residues, onehot, contacts, weights, structure;
    double contactOrder = 0.0;
};

struct ContactNet {
    torch::nn::Linear embed{nullptr};
    torch::nn::Sequential trunk{nullptr};
    torch::nn::Conv2d out{nullptr};
    torch::nn::Linear structure{nullptr};
};

struct Metrics {
    double precision = 0.0;
    int64_t longRange = 0;
};

Chain synthesiseChain(const Config& cfg, int64_t index, std::mt19937& rng) {
    std::uniform_int_distribution<int64_t> lengths(cfg.minLength, cfg.maxLength);
    std::uniform_int_distribution<int32_t> letters(0, static_cast<int32_t>(kAlphabet) - 1);
    std::poisson_distribution<int32_t> depths(120.0);

    Chain chain;
    chain.id = "chain" + std::to_string(index);
    const int64_t length = lengths(rng);
    for (int64_t i = 0; i < length; ++i) {
        chain.residues.push_back(letters(rng));
        chain.depth.push_back(depths(rng));
    }
    chain.coords = torch::randn({length, 3}).mul_(2.2).cumsum(0);
    return chain;
}

torch::Tensor residueTensor(const std::vector<int32_t>& residues) {
    const auto n = static_cast<int64_t>(residues.size());
    auto* memory = const_cast<int32_t*>(residues.data());
    return torch::from_blob(memory, {n}, torch::kInt32).to(torch::kLong);  // RIGHT: torch-blob-lifetime
}

// Per residue weight from the depth of the alignment column.
torch::Tensor columnWeights(const std::vector<int32_t>& depth) {
    const auto n = static_cast<int64_t>(depth.size());
    auto* memory = const_cast<int32_t*>(depth.data());
    torch::Tensor counts = torch::from_blob(memory, {n}).clone();  // EXPECT: torch-blob-dtype
    return torch::log1p(counts).add_(0.5);
}

// Sequence of hydropathy values, widened for the correlation below.
torch::Tensor hydropathy(const std::vector<int32_t>& residues) {
    static const double kScale[] = {1.8, -4.5, -3.5, -3.5, 2.5, -3.5, -3.5, -0.4, -3.2, 4.5, 3.8,
                                    -3.9, 1.9, 2.8, -1.6, -0.8, -0.7, -0.9, -1.3, 4.2, 0.0};
    std::vector<double> values;
    for (int32_t r : residues) {
        values.push_back(kScale[r]);
    }
    const auto n = static_cast<int64_t>(values.size());
    return torch::from_blob(values.data(), {n}, torch::kFloat64).to(torch::kFloat);  // RIGHT: torch-blob-dtype
}

torch::Tensor separation(int64_t length) {
    torch::Tensor position = torch::arange(length);
    torch::Tensor signedGap = position.unsqueeze(0).repeat({length, 1}) - position.unsqueeze(1);  // EXPECT: torch-repeat-for-broadcast
    return signedGap.abs();
}

// Soft contact labels: the fraction of perturbed decoys that keep a contact.
torch::Tensor softContacts(const torch::Tensor& coords, const Config& cfg) {
    const int64_t length = coords.size(0);
    const int64_t loop = length / 4;
    torch::Tensor decoys = coords.unsqueeze(0).repeat({cfg.decoys, 1, 1});  // RIGHT: torch-repeat-for-broadcast
    torch::Tensor flexible = decoys.slice(1, loop, 2 * loop);
    flexible.add_(torch::randn({cfg.decoys, loop, 3}).mul_(0.8));
    torch::Tensor distance = torch::cdist(decoys, decoys);
    return distance.lt(cfg.cutoff).to(torch::kFloat).mean(0);
}

// Mean sequence separation of the contacts, normalised by the length.
double contactOrder(const torch::Tensor& contacts) {
    const int64_t length = contacts.size(0);
    const auto values = contacts.accessor<float, 2>();
    double sum = 0.0, count = 0.0;
    for (int64_t i = 0; i < length; ++i) {
        for (int64_t j = i + 3; j < length; ++j) {
            if (values[i][j] > 0.5f) {  // RIGHT: torch-element-access-in-loop
                sum += static_cast<double>(j - i);
                count += 1.0;
            }
        }
    }
    return sum / (std::max(count, 1.0) * static_cast<double>(length));
}

Sample makeSample(const Chain& chain, const Config& cfg) {
    Sample sample;
    sample.id = chain.id;
    torch::Tensor residues = residueTensor(chain.residues);
    torch::Tensor contacts = softContacts(chain.coords, cfg);
    sample.contactOrder = contactOrder(contacts);

    torch::Tensor column = columnWeights(chain.depth);
    torch::Tensor weights = torch::outer(column, column);
    weights.masked_fill_(separation(residues.size(0)).lt(3), 0.0);

    torch::Tensor bins = hydropathy(chain.residues).unsqueeze(1);
    static const torch::Tensor centres = torch::tensor({-3.0f, 0.0f, 3.0f});
    sample.structure = torch::softmax(bins.sub(centres).abs_().neg_(), 1).to(cfg.device);

    sample.residues = residues.to(cfg.device);
    sample.onehot = torch::one_hot(sample.residues, kAlphabet).to(torch::kFloat);
    sample.contacts = contacts.to(cfg.device);
    sample.weights = weights.to(cfg.device);
    return sample;
}

std::vector<Sample> makeSamples(const Config& cfg, int64_t count, std::mt19937& rng) {
    std::vector<Sample> samples;
    for (int64_t i = 0; i < count; ++i) {
        samples.push_back(makeSample(synthesiseChain(cfg, i, rng), cfg));
    }
    return samples;
}

ContactNet makeNet(const Config& cfg, torch::nn::Linear embed) {
    ContactNet net;
    net.embed = std::move(embed);
    const int64_t in = 2 * cfg.embedding + 1;
    net.trunk = torch::nn::Sequential(
        torch::nn::Conv2d(torch::nn::Conv2dOptions(in, cfg.channels, 5).padding(2)),
        torch::nn::ReLU(), torch::nn::Dropout(0.15),
        torch::nn::Conv2d(torch::nn::Conv2dOptions(cfg.channels, cfg.channels, 3).padding(2).dilation(2)),
        torch::nn::ReLU(), torch::nn::Dropout(0.15));
    net.out = torch::nn::Conv2d(torch::nn::Conv2dOptions(cfg.channels, 1, 1));
    net.structure = torch::nn::Linear(cfg.embedding, kStructureStates);
    net.trunk->to(cfg.device);
    net.out->to(cfg.device);
    net.structure->to(cfg.device);
    return net;
}

std::vector<torch::Tensor> parameters(const ContactNet& net) {
    std::vector<torch::Tensor> all = net.embed->parameters();
    for (const auto& group : {net.trunk->parameters(), net.out->parameters(), net.structure->parameters()}) {
        all.insert(all.end(), group.begin(), group.end());
    }
    return all;
}

void setTraining(ContactNet& net, bool on) {
    net.embed->train(on);
    net.trunk->train(on);
    net.out->train(on);
    net.structure->train(on);
}

torch::Tensor pairFeatures(const torch::Tensor& single) {
    const int64_t length = single.size(0), width = single.size(1);
    torch::Tensor byChannel = single.t();
    torch::Tensor rows = byChannel.unsqueeze(2).expand({width, length, length});
    torch::Tensor cols = byChannel.unsqueeze(1).expand({width, length, length});
    return torch::cat({rows, cols}, 0).unsqueeze(0);
}

torch::Tensor contactProbabilities(ContactNet& net, const torch::Tensor& onehot, const Config& cfg) {
    const int64_t length = onehot.size(0);
    torch::Tensor pair = pairFeatures(net.embed->forward(onehot));
    torch::Tensor map = torch::zeros({1, 1, length, length}, pair.options());
    for (int64_t r = 0; r < cfg.recycles; ++r) {
        torch::Tensor input = torch::cat({pair, map}, 1);  // RIGHT: torch-cat-in-loop
        torch::Tensor raw = net.out->forward(net.trunk->forward(input));
        map = raw + raw.transpose(2, 3);
    }
    return torch::sigmoid(map).squeeze(0).squeeze(0);
}

torch::Tensor sampleLoss(ContactNet& net, const Sample& s, const Config& cfg) {
    torch::Tensor predicted = contactProbabilities(net, s.onehot, cfg);
    torch::Tensor contact = torch::binary_cross_entropy_with_logits(predicted, s.contacts, s.weights);  // EXPECT: torch-loss-input
    torch::Tensor states = torch::log_softmax(net.structure->forward(net.embed->forward(s.onehot)), 1);
    torch::Tensor state = torch::kl_div(states, s.structure, at::Reduction::Sum);  // RIGHT: torch-loss-input
    return contact + cfg.structureWeight * state / s.onehot.size(0);
}

// Trains the residue embedding to predict the next residue; several seeds,
// the best one is kept.
torch::nn::Linear pretrainEmbedding(const std::vector<Sample>& samples, const Config& cfg) {
    std::vector<torch::Tensor> before, after;
    for (const Sample& s : samples) {
        before.push_back(s.onehot.slice(0, 0, -1));
        after.push_back(s.residues.slice(0, 1));
    }
    torch::Tensor inputs = torch::cat(before), targets = torch::cat(after);

    torch::nn::Linear best{nullptr};
    double bestLoss = 0.0;
    for (uint64_t seed = 0; seed < 2; ++seed) {
        torch::manual_seed(seed);
        torch::nn::Linear embed(kAlphabet, cfg.embedding);
        torch::nn::Sequential model(embed, torch::nn::ReLU(), torch::nn::Linear(cfg.embedding, kAlphabet));
        model->to(cfg.device);
        torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(1e-2));  // RIGHT: torch-optimizer-in-loop
        torch::Tensor loss;
        for (int64_t step = 0; step < cfg.pretrainSteps; ++step) {
            optimizer.zero_grad();
            loss = torch::cross_entropy_loss(model->forward(inputs), targets);
            loss.backward();
            optimizer.step();
        }
        const double value = loss.item<double>();
        if (best.is_empty() || value < bestLoss) {
            best = embed;
            bestLoss = value;
        }
    }
    return best;
}

void applyUpdate(ContactNet& net, const torch::Tensor& loss, const Config& cfg) {
    torch::optim::Adam optimizer(parameters(net), torch::optim::AdamOptions(cfg.learningRate));  // EXPECT: torch-optimizer-in-loop
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
}

double trainEpoch(ContactNet& net, const std::vector<Sample>& samples, const Config& cfg) {
    std::vector<torch::Tensor> losses;
    for (const Sample& s : samples) {
        torch::Tensor loss = sampleLoss(net, s, cfg);
        applyUpdate(net, loss, cfg);
        losses.push_back(loss.detach());  // RIGHT: torch-retained-graph
    }
    return torch::stack(losses).mean().item<double>();
}

int64_t countLongRange(const torch::Tensor& map, int64_t minSeparation) {
    int64_t count = 0;
    for (int64_t i = 0; i < map.size(0); ++i) {
        for (int64_t j = i + minSeparation; j < map.size(1); ++j) {
            count += map[i][j].item<float>() > 0.5f;  // EXPECT: torch-element-access-in-loop
        }
    }
    return count;
}

// Mean absolute error on the training chains, without dropout.
double trainingError(ContactNet& net, const std::vector<Sample>& samples, const Config& cfg) {
    setTraining(net, false);
    std::vector<torch::Tensor> errors;
    for (const Sample& s : samples) {
        torch::Tensor map = contactProbabilities(net, s.onehot, cfg);  // EXPECT: torch-missing-no-grad
        errors.push_back(torch::l1_loss(map, s.contacts).detach());
    }
    setTraining(net, true);
    return torch::stack(errors).mean().item<double>();
}

Metrics evaluate(ContactNet& net, const std::vector<Sample>& samples, const Config& cfg) {
    torch::NoGradGuard guard;
    setTraining(net, false);  // EXPECT: torch-eval-mode-not-restored
    Metrics metrics;
    torch::Tensor pooled = torch::empty({2, 0}, cfg.device);
    for (const Sample& s : samples) {
        torch::Tensor map = contactProbabilities(net, s.onehot, cfg);
        metrics.longRange += countLongRange(map, cfg.minSeparation);
        torch::Tensor pair = torch::stack({map.flatten(), s.contacts.flatten()});
        pooled = torch::cat({pooled, pair}, 1);  // EXPECT: torch-cat-in-loop
    }
    const int64_t top = std::max<int64_t>(1, pooled.size(1) / 20);
    torch::Tensor chosen = std::get<1>(pooled.select(0, 0).topk(top));
    metrics.precision = pooled.select(0, 1).index_select(0, chosen).mean().item<double>();
    return metrics;
}

// Fits a distance independent background of the contact frequency.
torch::Tensor fitPrior(const std::vector<Sample>& samples, const Config& cfg) {
    auto options = torch::TensorOptions().device(cfg.device).requires_grad(true);
    torch::Tensor prior = torch::randn({cfg.minLength, cfg.minLength}, options) * 0.01;
    torch::optim::SGD optimizer({prior}, torch::optim::SGDOptions(0.5));  // EXPECT: torch-non-leaf-parameter
    for (const Sample& s : samples) {
        optimizer.zero_grad();
        torch::Tensor target = s.contacts.slice(0, 0, cfg.minLength).slice(1, 0, cfg.minLength);
        torch::binary_cross_entropy_with_logits(prior, target).backward();
        optimizer.step();
    }
    return prior.detach();
}

// Gradient of the contact score with respect to the sequence.
torch::Tensor saliency(ContactNet& net, const Sample& s, const Config& cfg) {
    setTraining(net, false);  // RIGHT: torch-eval-mode-not-restored
    torch::Tensor input = s.onehot.detach().set_requires_grad(true);
    torch::Tensor score = contactProbabilities(net, input, cfg).sum();  // RIGHT: torch-missing-no-grad
    return torch::autograd::grad({score}, {input})[0].abs().sum(1);
}

Config parseArguments(int argc, char** argv) {
    Config cfg;
    for (int i = 1; i < argc; ++i) {
        const std::string arg = argv[i];
        cfg.learnPrior = cfg.learnPrior || arg == "--learn-prior";
        if (arg == "--epochs" && i + 1 < argc) cfg.epochs = std::atoll(argv[++i]);
    }
    cfg.device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
    return cfg;
}

}  // namespace

int main(int argc, char** argv) {
    const Config cfg = parseArguments(argc, argv);
    torch::manual_seed(11);
    torch::set_num_threads(1);
    std::mt19937 rng(5);

    const std::vector<Sample> train = makeSamples(cfg, cfg.trainChains, rng);
    const std::vector<Sample> val = makeSamples(cfg, cfg.valChains, rng);
    ContactNet net = makeNet(cfg, pretrainEmbedding(train, cfg));

    if (cfg.learnPrior) std::cout << "prior " << fitPrior(train, cfg).mean().item<double>() << "\n";

    setTraining(net, true);
    for (int64_t epoch = 0; epoch < cfg.epochs; ++epoch) {
        const double loss = trainEpoch(net, train, cfg);
        const double error = trainingError(net, train, cfg);
        const Metrics metrics = evaluate(net, val, cfg);
        std::cout << "epoch " << epoch << " loss " << loss
                  << " error " << error << " precision " << metrics.precision
                  << " long range " << metrics.longRange << "\n";
    }

    torch::Tensor importance = saliency(net, val.front(), cfg);
    std::cout << val.front().id << " contact order " << val.front().contactOrder << " top residue " << importance.argmax().item<int64_t>() << "\n";
    return 0;
}
