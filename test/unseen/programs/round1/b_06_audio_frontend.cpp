#include <torch/torch.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <vector>

/* Audio front end: PCM from a ring buffer, framing, window, log power spectrum and
 * a small recurrent noise estimator which runs on the frames as they come. */

namespace audio
{

constexpr int kRate = 16000;
constexpr int kFrame = 2048;
constexpr int kHop = 1024;

std::vector<int16_t> synthesise(double seconds, double hz)
{
    std::vector<int16_t> pcm(static_cast<size_t>(seconds * kRate));
    for (size_t i = 0; i < pcm.size(); ++i)
        pcm[i] = static_cast<int16_t>(8000 * std::sin(2 * M_PI * hz * i / kRate) + (i * 7919) % 601);
    return pcm;
}

torch::Tensor toFloat(const std::vector<int16_t> &pcm)
{
    auto raw = torch::from_blob(const_cast<int16_t *>(pcm.data()), {static_cast<int64_t>(pcm.size())}, torch::kInt16);  // RIGHT: torch-blob-dtype (16 bit integers read as such)
    return raw.to(torch::kFloat32) / 32768.0;  // RIGHT: torch-blob-lifetime (the conversion to another type copies)
}

// Perceptual weights, computed in double precision.
torch::Tensor weighting(int64_t bins)
{
    std::vector<double> gain(bins);
    for (int64_t k = 0; k < bins; ++k)
    {
        double f = 1.0 + double(k) * kRate / kFrame;
        gain[k] = 1.0 / (1.0 + std::exp(-(f - 500.0) / 200.0));
    }
    return torch::from_blob(gain.data(), {bins}).clone();  // EXPECT: torch-blob-dtype
}

torch::Tensor clickTrack(int period)
{
    std::vector<float> click(kRate, 0.f);
    for (int i = 0; i < kRate; i += period)
        click[i] = 1.f;
    auto track = torch::from_blob(click.data(), {kRate});  // EXPECT: torch-blob-lifetime
    return track.view({-1, 1000});
}

torch::Tensor spectrogram(const torch::Tensor &signal)
{
    std::vector<torch::Tensor> columns;
    for (int64_t at = 0; at + kFrame <= signal.size(0); at += kHop)
    {
        auto window = torch::hann_window(kFrame);  // EXPECT: torch-allocation-in-loop
        auto spectrum = torch::fft::rfft(signal.slice(0, at, at + kFrame) * window);
        columns.push_back(torch::log1p(torch::abs(spectrum)));
    }
    return torch::stack(columns);
}

class NoiseEstimatorImpl : public torch::nn::Module
{
public:
    explicit NoiseEstimatorImpl(int64_t bins)
    {
        rnn = register_module("rnn", torch::nn::GRU(torch::nn::GRUOptions(bins, 64)));
        mask = register_module("mask", torch::nn::Linear(64, bins));
    }

    torch::Tensor forward(const torch::Tensor &frame)
    {
        torch::Tensor y;
        std::tie(y, state) = rnn->forward(frame.view({1, 1, -1}), state);  // EXPECT: torch-undetached-hidden-state
        return torch::sigmoid(mask->forward(y)).view({-1});
    }

private:
    torch::nn::GRU rnn{nullptr};
    torch::nn::Linear mask{nullptr};
    torch::Tensor state = torch::zeros({1, 1, 64});
};
TORCH_MODULE(NoiseEstimator);

}  // namespace audio

int main(int argc, char **argv)
{
    torch::manual_seed(3);
    auto pcm = audio::synthesise(4.0, 440.0);
    auto signal = audio::toFloat(pcm);
    auto spec = audio::spectrogram(signal);
    spec = spec * audio::weighting(spec.size(1)).nan_to_num(0, 1, 0).clamp(0, 1);

    audio::NoiseEstimator estimator(spec.size(1));
    estimator->eval();
    double kept = 0;
    for (int64_t i = 0; i < spec.size(0); ++i)
    {
        auto m = estimator->forward(spec[i]);  // EXPECT: torch-missing-no-grad
        kept += (m * spec[i]).sum().item<double>() / (spec[i].sum().item<double>() + 1e-6);
    }
    std::cout << spec.sizes() << " kept " << kept / spec.size(0) << '\n';

    if (argc > 1 && !std::strcmp(argv[1], "--clicks"))
        std::cout << audio::clickTrack(400).sum(1) << '\n';
    return 0;
}
