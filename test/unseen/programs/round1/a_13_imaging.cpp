// ---- imaging.h ---------------------------------------------------------------------------
#include <torch/torch.h>
#include <cstring>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

namespace imaging {

struct Image {
    int width = 0, height = 0;
    std::vector<float> pixels;
};

Image gradient(int width, int height, float slope);
torch::Tensor view(Image &image);
torch::Tensor tensor(Image image);
torch::Tensor gray(int width, int height);
torch::Tensor adopt(Image image);
float brightest(const float *p, size_t n);

}  // namespace imaging

// ---- imaging.cpp -------------------------------------------------------------------------
namespace imaging {

Image gradient(int width, int height, float slope)
{
    Image im{width, height, std::vector<float>(static_cast<size_t>(width) * height)};
    for (size_t i = 0; i < im.pixels.size(); ++i)
        im.pixels[i] = slope * static_cast<float>(i % width);
    return im;
}

torch::Tensor view(Image &image)
{
    return torch::from_blob(image.pixels.data(), {image.height, image.width});   // RIGHT: torch-blob-lifetime (the caller's image lives on)
}

torch::Tensor tensor(Image image)
{
    auto t = torch::from_blob(image.pixels.data(), {image.height, image.width}, torch::kFloat32);   // EXPECT: torch-blob-lifetime
    return t.unsqueeze(0).contiguous();
}

torch::Tensor gray(int width, int height)
{
    std::vector<unsigned char> bytes(static_cast<size_t>(width) * height);
    std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
    auto raw = torch::from_blob(bytes.data(), {height, width}, torch::kUInt8);   // RIGHT: torch-blob-lifetime (the conversion below copies)
    return raw.to(torch::kFloat32).div(255);
}

torch::Tensor adopt(Image image)
{
    auto *owner = new std::vector<float>(std::move(image.pixels));
    return torch::from_blob(owner->data(), {image.height, image.width}, [owner](void *) { delete owner; });   // RIGHT: torch-blob-lifetime (the deleter owns it)
}

float brightest(const float *p, size_t n)
{
    float best = p[0];
    for (size_t i = 1; i < n; ++i)
        best = std::max(best, p[i]);
    return best;
}

}  // namespace imaging

// ---- main.cpp ----------------------------------------------------------------------------
static torch::Tensor loadAll(std::vector<imaging::Image> &images, torch::Device device)
{
    std::vector<torch::Tensor> parts;
    parts.reserve(images.size());
    for (auto &im : images)
        parts.push_back(imaging::view(im).to(device));   // EXPECT: torch-repeated-transfer
    return torch::stack(parts);
}

static void legacy()
{
    auto t = imaging::tensor(imaging::gradient(64, 64, 0.1f));
    std::cout << "legacy mean " << t.mean().item<float>() << "\n";

    std::vector<torch::Tensor> frames;
    for (int i = 0; i < 4; ++i) {
        auto frame = imaging::gradient(32, 32, static_cast<float>(i));
        frames.push_back(torch::from_blob(frame.pixels.data(), {32, 32}));   // EXPECT: torch-blob-lifetime
    }
    std::cout << torch::stack(frames).mean().item<float>() << "\n";

    const float *p = (t - t.mean()).contiguous().data_ptr<float>();   // EXPECT: torch-dangling-data
    std::cout << imaging::brightest(p, 64 * 64) << "\n";
    at::IntArrayRef shape = {1, 1, 64, 64};   // EXPECT: torch-dangling-data
    std::cout << t.view(shape).sizes() << "\n";
}

int main(int argc, char **argv)
{
    const torch::Device device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
    if (argc > 1 && std::strcmp(argv[1], "--legacy") == 0)
        legacy();

    std::vector<imaging::Image> images;
    for (int i = 0; i < 5; ++i)
        images.push_back(imaging::gradient(48, 48, 0.1f * static_cast<float>(i)));
    auto all = loadAll(images, device);
    std::cout << "mean " << all.mean().item<float>() << "\n";

    auto centred = (all - all.mean()).cpu().contiguous();
    const float *q = centred.view({-1}).data_ptr<float>();   // RIGHT: torch-dangling-data (the memory is that of 'centred')
    std::cout << "brightest " << imaging::brightest(q, static_cast<size_t>(centred.numel())) << "\n";
    const auto height = centred.sizes()[1];   // RIGHT: torch-dangling-data (the number is copied)
    std::cout << imaging::brightest((centred + 1).data_ptr<float>(), height)   // RIGHT: torch-dangling-data (used within the statement)
              << " " << imaging::gray(16, 16).mean().item<float>() << " "
              << imaging::adopt(images.back()).mean().item<float>() << "\n";
    return 0;
}
