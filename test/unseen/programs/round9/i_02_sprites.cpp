// Class-conditional sprite generator with an adversarial critic, and a probe
// that measures how much of the class the critic's encoder has picked up.
#include <torch/torch.h>

#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

using torch::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

static const int64_t SIDE = 16, LATENT = 24, KINDS = 5, WIDTH = 16;

// ------------------------------------------------------------------ networks

struct ResBlockImpl : nn::Module {
    ResBlockImpl(int64_t in, int64_t out, bool down)
        : down_(down) {
        conv1 = register_module("conv1", nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1)));
        conv2 = register_module("conv2", nn::Conv2d(nn::Conv2dOptions(out, out, 3).padding(1)));
        if (in != out) {
            proj = nn::Conv2d(nn::Conv2dOptions(in, out, 1).bias(false));  // EXPECT: torch-unregistered-module
        }
    }
    Tensor forward(const Tensor& x) {
        auto h = conv2(torch::relu(conv1(torch::relu(x))));
        auto s = proj.is_empty() ? x : proj(x);
        auto y = h + s;
        return down_ ? torch::avg_pool2d(y, 2) : y;
    }
    nn::Conv2d conv1{nullptr}, conv2{nullptr}, proj{nullptr};
    bool down_;
};
TORCH_MODULE(ResBlock);

struct EncoderImpl : nn::Module {
    EncoderImpl() {
        blocks->push_back(ResBlock(3, WIDTH, true));  // RIGHT: torch-unregistered-module
        blocks->push_back(ResBlock(WIDTH, WIDTH, true));
        norm = nn::BatchNorm2d(WIDTH);
        register_module("blocks", blocks);
        register_module("norm", norm);
    }
    Tensor forward(Tensor x) {
        for (auto& b : *blocks) x = b->as<ResBlock>()->forward(x);
        return norm(x).mean({2, 3});
    }
    nn::ModuleList blocks;
    nn::BatchNorm2d norm{nullptr};
};
TORCH_MODULE(Encoder);

struct GeneratorImpl : nn::Module {
    explicit GeneratorImpl(int depth) {
        fc = register_module("fc", nn::Linear(LATENT + KINDS, WIDTH * 4 * 4));
        for (int i = 0; i < depth; ++i) stage(i);
        rgb = register_module("rgb", nn::Conv2d(nn::Conv2dOptions(WIDTH, 3, 3).padding(1)));
    }
    Tensor forward(const Tensor& z, const Tensor& onehot) {
        auto h = fc(torch::cat({z, onehot}, 1)).view({-1, WIDTH, 4, 4});
        for (size_t i = 0; i < convs.size(); ++i) {
            h = torch::upsample_nearest2d(h, {h.size(2) * 2, h.size(3) * 2});
            h = torch::relu(norms[i](convs[i](h)));
        }
        return torch::tanh(rgb(h));
    }
    nn::Linear fc{nullptr};
    nn::Conv2d rgb{nullptr};
    std::vector<nn::Conv2d> convs;
    std::vector<nn::BatchNorm2d> norms;

private:
    void stage(int i) {
        nn::Conv2d c(nn::Conv2dOptions(WIDTH, WIDTH, 3).padding(1));
        nn::BatchNorm2d b(WIDTH);
        convs.push_back(c);  // RIGHT: torch-unregistered-module
        norms.push_back(b);
        register_module("conv" + std::to_string(i), std::move(c));
        register_module("norm" + std::to_string(i), std::move(b));
    }
};
TORCH_MODULE(Generator);

struct CriticImpl : nn::Module {
    CriticImpl() {
        enc = register_module("enc", Encoder());
        out = register_module("out", nn::Linear(WIDTH, 1));
        embed = register_module("embed", nn::Embedding(KINDS, WIDTH));
    }
    Tensor forward(const Tensor& x, const Tensor& kind) {
        auto f = enc(x);
        return out(f).squeeze(1) + (f * embed(kind)).sum(1);
    }
    Encoder enc{nullptr};
    nn::Linear out{nullptr};
    nn::Embedding embed{nullptr};
};
TORCH_MODULE(Critic);

struct ProbeImpl : nn::Module {
    ProbeImpl() {
        body = register_module("body", nn::Sequential(nn::Linear(WIDTH, 32), nn::ReLU(), nn::Dropout(0.4), nn::Linear(32, KINDS)));
    }
    Tensor forward(const Tensor& f) { return body->forward(f); }
    nn::Sequential body{nullptr};
};
TORCH_MODULE(Probe);

// ---------------------------------------------------------------------- data

struct Sprites {
    Tensor img, kind;
};

Sprites paint(int64_t n, torch::Device dev) {
    auto kind = torch::randint(0, KINDS, {n}, torch::TensorOptions(torch::kLong).device(dev));
    auto base = torch::linspace(-1, 1, SIDE, torch::TensorOptions().device(dev)).view({1, 1, 1, SIDE});
    auto img = torch::sin(base * (kind.to(torch::kFloat) + 1).view({n, 1, 1, 1}) * 3);
    img = img.expand({n, 3, SIDE, SIDE}) + 0.1 * torch::randn({n, 3, SIDE, SIDE}, base.options());
    return {img.clamp_(-1, 1), kind};
}

// Darkens the border, as the editor that draws the sprites does.
Tensor vignette(const Tensor& img, const Tensor& falloff) {
    auto m = falloff.view({1, 1, SIDE, SIDE}).repeat({img.size(0), img.size(1), 1, 1});  // EXPECT: torch-repeat-for-broadcast
    return img * m;
}

Tensor contact_sheet(const Tensor& tile, int64_t rows, int64_t cols) {
    auto sheet = tile.repeat({1, rows, cols});  // RIGHT: torch-repeat-for-broadcast
    for (int64_t r = 0; r < rows; ++r)
        sheet.slice(1, r * SIDE, r * SIDE + 1).fill_(1.f);
    return sheet;
}

class ModeGuard {
public:
    ModeGuard(nn::Module& m, bool train) : m_(m), was_(m.is_training()) { m_.train(train); }
    ~ModeGuard() { m_.train(was_); }

private:
    nn::Module& m_;
    bool was_;
};

// Keeps a running feature sum for every kind of sprite.
struct KindMeans {
    KindMeans(int64_t kinds, torch::TensorOptions o)
        : sum(kinds, torch::zeros({WIDTH}, o)),  // EXPECT: torch-fill-alias
          last(kinds, torch::zeros({WIDTH}, o)),  // RIGHT: torch-fill-alias
          count(kinds, 0) {}
    void add(int64_t k, const Tensor& f) {
        sum[k].add_(f.sum(0));
        last[k] = f.mean(0);
        count[k] += f.size(0);
    }
    Tensor spread() const {
        std::vector<Tensor> m;
        for (size_t k = 0; k < sum.size(); ++k) m.push_back(sum[k] / std::max<int64_t>(count[k], 1));
        return torch::stack(m).std(0).mean();
    }
    std::vector<Tensor> sum, last;
    std::vector<int64_t> count;
};

// ------------------------------------------------------------------ training

struct Record {
    int64_t step;
    Tensor g, d;
};

struct Trainer {
    Generator gen;
    Critic critic;
    torch::Device dev;
    Sprites data;
    Tensor falloff;
    torch::optim::Adam og, od;
    std::vector<Record> run;

    Trainer(Generator g, Critic c, Sprites s, torch::Device d)
        : gen(g), critic(c), dev(d), data(std::move(s)),
          og(gen->parameters(), torch::optim::AdamOptions(2e-4).betas({0.0, 0.9})),
          od(critic->parameters(), torch::optim::AdamOptions(2e-4).betas({0.0, 0.9})) {
        falloff = torch::hann_window(SIDE, torch::TensorOptions().device(dev)).outer(
            torch::hann_window(SIDE, torch::TensorOptions().device(dev)));
        for (auto& p : critic->parameters())
            p.register_hook([](Tensor g) { return g.clamp(-1.0, 1.0); });  // RIGHT: torch-hook-in-loop
    }

    std::pair<Tensor, Tensor> sample(int64_t n) {
        auto kind = torch::randint(0, KINDS, {n}, torch::TensorOptions(torch::kLong).device(dev));
        auto z = torch::randn({n, LATENT}, torch::TensorOptions().device(dev));
        auto img = gen(z, torch::one_hot(kind, KINDS).to(torch::kFloat));
        return {vignette(img, falloff), kind};
    }

    Tensor critic_step(const Tensor& real, const Tensor& kind) {
        auto [fake, fk] = sample(real.size(0));
        od.zero_grad();
        auto on_real = critic(real, kind);
        auto on_fake = critic(fake, fk);  // EXPECT: torch-undetached-generator-output
        auto loss = torch::relu(1 - on_real).mean() + torch::relu(1 + on_fake).mean();
        loss.backward();
        od.step();
        return loss.detach();
    }

    // One more pass of the critic, on blends of real and generated sprites.
    void critic_polish(const Tensor& real, const Tensor& kind) {
        auto fake = sample(real.size(0)).first;
        auto mix = torch::lerp(real, fake.detach(), 0.3);
        od.zero_grad();
        torch::relu(0.5 - critic(mix, kind)).mean().backward();  // RIGHT: torch-undetached-generator-output
        od.step();
    }

    Tensor generator_step(int64_t n) {
        auto [fake, fk] = sample(n);
        og.zero_grad();
        std::vector<Tensor> terms;
        for (int s = 1; s <= 2; ++s) {
            auto shifted = torch::roll(fake, s, 3);
            shifted.register_hook([](Tensor g) { return g / 2; });  // RIGHT: torch-hook-in-loop
            terms.push_back(-critic(shifted, fk).mean());  // RIGHT: torch-retained-graph
        }
        auto loss = torch::stack(terms).mean();
        loss.backward();
        og.step();
        return loss;
    }

    void preview(const std::string& path, int64_t step) {
        torch::NoGradGuard ng;
        gen->eval();  // EXPECT: torch-eval-mode-not-restored
        auto img = sample(1).first[0].cpu();
        std::ofstream os(path, std::ios::app);
        auto sheet = contact_sheet(img, 2, 2);
        os << step << ' ' << sheet.sizes() << '\n';
    }

    double critic_gap() {
        torch::NoGradGuard ng;
        ModeGuard mg(*critic, false);  // RIGHT: torch-eval-mode-not-restored
        auto [fake, fk] = sample(32);
        return (critic(data.img, data.kind).mean() - critic(fake, fk).mean()).item<double>();
    }

    void train(int epochs, int64_t batch) {
        gen->train();
        critic->train();
        int64_t step = 0;
        for (int e = 0; e < epochs; ++e) {
            for (auto& p : gen->parameters())
                p.register_hook([](Tensor g) { return g * 0.9; });  // EXPECT: torch-hook-in-loop
            for (int64_t b = 0; b + batch <= data.img.size(0); b += batch, ++step) {
                auto real = data.img.slice(0, b, b + batch);
                auto kind = data.kind.slice(0, b, b + batch);
                auto d = critic_step(real, kind);
                if (step % 4 == 0) critic_polish(real, kind);
                auto g = generator_step(batch);
                run.push_back({step, g, d});  // EXPECT: torch-retained-graph
            }
            preview("/dev/null", step);
            if (e + 1 == epochs) std::cout << "gap " << critic_gap() << "\n";
        }
    }
};

// --------------------------------------------------------------------- probe

void fit_probe(Encoder enc, Probe probe, const Sprites& s, int epochs, std::ostream& csv) {
    std::vector<Tensor> ps = enc->parameters();
    for (auto& p : probe->parameters()) ps.push_back(p);
    torch::optim::AdamW opt(ps, torch::optim::AdamWOptions(1e-3));
    enc->train();
    probe->train();
    int64_t it = 0;
    for (int e = 0; e < epochs; ++e) {
        for (int64_t b = 0; b < s.img.size(0); b += 32, ++it) {
            auto loss = F::cross_entropy(probe(enc(s.img.slice(0, b, b + 32))), s.kind.slice(0, b, b + 32));
            opt.zero_grad();
            loss.backward();
            opt.step();
            csv << it << ',' << loss.item<float>() << '\n';  // EXPECT: torch-sync-in-loop
        }
    }
}

void polish_probe(Encoder enc, Probe probe, const Sprites& s, int steps) {
    torch::optim::SGD opt(probe->parameters(), torch::optim::SGDOptions(1e-2));
    enc->eval();
    probe->train();
    Tensor f;
    {
        torch::NoGradGuard ng;
        f = enc(s.img);
    }
    auto total = torch::zeros({}, f.options());
    for (int i = 0; i < steps; ++i) {
        opt.zero_grad();
        auto loss = F::cross_entropy(probe(f), s.kind);
        loss.backward();
        opt.step();
        total += loss.detach();  // RIGHT: torch-retained-graph
        if (i % 50 == 49) std::cout << "probe " << i << ' ' << total.item<float>() / (i + 1) << '\n';  // RIGHT: torch-sync-in-loop
    }
    enc->train();
}

double probe_accuracy(Encoder enc, Probe probe, const Sprites& s) {
    torch::NoGradGuard ng;
    enc->eval();  // EXPECT: torch-partial-eval-mode
    auto hit = probe(enc(s.img)).argmax(1).eq(s.kind).to(torch::kFloat).mean();
    enc->train();
    return hit.item<double>();
}

double margin(Encoder enc, Probe probe, const Sprites& s) {
    torch::NoGradGuard ng;
    for (nn::Module* m : std::initializer_list<nn::Module*>{enc.get(), probe.get()}) m->eval();  // RIGHT: torch-partial-eval-mode
    auto top = std::get<0>(probe(enc(s.img)).topk(2, 1));
    enc->train();
    probe->train();
    return (top.select(1, 0) - top.select(1, 1)).mean().item<double>();
}

int main() {
    torch::set_num_threads(1);
    torch::manual_seed(11);
    torch::Device dev = torch::cuda::is_available() ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);
    Generator gen(2);
    Critic critic;
    gen->to(dev);
    critic->to(dev);
    auto data = paint(96, dev);
    Trainer t(gen, critic, data, dev);
    t.train(2, 32);
    std::cout << t.run.size() << " steps\n";

    Probe probe;
    probe->to(dev);
    std::ofstream csv("/dev/null");
    fit_probe(critic->enc, probe, data, 3, csv);
    polish_probe(critic->enc, probe, data, 100);
    std::cout << "accuracy " << probe_accuracy(critic->enc, probe, data) << " margin " << margin(critic->enc, probe, data) << "\n";

    torch::NoGradGuard ng;
    KindMeans means(KINDS, torch::TensorOptions().device(dev));
    auto f = critic->enc(data.img);
    for (int64_t k = 0; k < KINDS; ++k) {
        auto rows = f.index({data.kind == k});
        if (rows.size(0) > 0) means.add(k, rows);
    }
    std::cout << "spread " << means.spread().item<double>() << "\n";
    return 0;
}
