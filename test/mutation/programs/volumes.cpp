/* Scans: a network marks voxels, windows are put together, and the marked parts are
 * counted as connected regions. */
#include <torch/torch.h>

#include <cstdint>
#include <cstdio>
#include <stack>
#include <tuple>
#include <vector>

typedef torch::Tensor tensor;

static tensor weight_of_window(int64_t n, torch::Device dev)
{
  auto opt = torch::TensorOptions().dtype(torch::kFloat32).device(dev);
  tensor w = torch::ones({n, n, n}, opt);
  tensor edge = torch::linspace(0.1, 1.0, n, opt);
  return w * edge.view({n, 1, 1}) * edge.view({1, n, 1}) * edge.view({1, 1, n});
}

static tensor mark(torch::nn::Conv3d& net, const tensor& scan, int64_t window, torch::Device dev)
{
  torch::NoGradGuard ng;
  tensor sum = torch::zeros(scan.sizes(), torch::device(dev));
  tensor weights = torch::zeros(scan.sizes(), torch::device(dev));
  tensor w = weight_of_window(window, dev);
  int64_t step = window / 2;
  for (int64_t z = 0; z + window <= scan.size(0); z += step)
    for (int64_t y = 0; y + window <= scan.size(1); y += step) {
      tensor cut = scan.narrow(0, z, window).narrow(1, y, window).narrow(2, 0, window);
      tensor in = cut.to(dev);
      tensor out = net->forward(in.unsqueeze(0).unsqueeze(0)).squeeze(0).squeeze(0);
      sum.narrow(0, z, window).narrow(1, y, window).narrow(2, 0, window) += out * w;
      weights.narrow(0, z, window).narrow(1, y, window).narrow(2, 0, window) += w;
    }
  return sum / weights.clamp_min(1e-6);
}

/* Gives each connected region a number. */
static int32_t regions(const tensor& marked, tensor& numbers)
{
  auto m = marked.accessor<float, 3>();
  auto n = numbers.accessor<int32_t, 3>();
  int32_t count = 0;
  std::stack<std::tuple<int64_t, int64_t, int64_t>> open;
  for (int64_t z = 0; z < m.size(0); ++z)
    for (int64_t y = 0; y < m.size(1); ++y)
      for (int64_t x = 0; x < m.size(2); ++x) {
        if (m[z][y][x] <= 0.0f || n[z][y][x] != 0)
          continue;
        n[z][y][x] = ++count;
        open.push({z, y, x});
        while (!open.empty()) {
          auto [a, b, c] = open.top();
          open.pop();
          const int64_t next[3][3] = {{a + 1, b, c}, {a, b + 1, c}, {a, b, c + 1}};
          for (auto& p : next) {
            if (p[0] >= m.size(0) || p[1] >= m.size(1) || p[2] >= m.size(2))
              continue;
            if (m[p[0]][p[1]][p[2]] > 0.0f && n[p[0]][p[1]][p[2]] == 0) {
              n[p[0]][p[1]][p[2]] = count;
              open.push({p[0], p[1], p[2]});
            }
          }
        }
      }
  return count;
}

static std::vector<int64_t> sizes(const tensor& numbers, int32_t count)
{
  std::vector<int64_t> result(count + 1);
  tensor flat = numbers.flatten();
  auto f = flat.accessor<int32_t, 1>();
  for (int64_t i = 0; i < f.size(0); i++)
    result[f[i]]++;
  return result;
}

/* The largest value of each slice, and where it is. */
static tensor profile(const tensor& marked)
{
  tensor result = torch::zeros({marked.size(0)});
  auto r = result.accessor<float, 1>();
  auto m = marked.accessor<float, 3>();
  for (int64_t z = 0; z < marked.size(0); ++z) {
    auto slice = m[z];
    float most = slice[0][0];
    for (int64_t y = 0; y < slice.size(0); ++y) {
      auto line = slice[y];
      for (int64_t x = 0; x < line.size(0); ++x)
        if (line[x] > most)
          most = line[x];
    }
    r[z] = most;
  }
  return result;
}

/* Where a box of voxels is cleared by hand. */
static void clear_border(tensor& marked, int64_t width)
{
  auto v = marked.accessor<float, 3>();
  for (int64_t z = 0; z < v.size(0); ++z)
    for (int64_t y = 0; y < v.size(1); ++y)
      for (int64_t x = 0; x < width; ++x)
        v[z][y][x] = 0;
}

int main()
{
  torch::manual_seed(2);
  torch::Device dev = torch::cuda::is_available() ? torch::Device("cuda:0") : torch::Device("cpu");
  torch::nn::Conv3d net(torch::nn::Conv3dOptions(1, 1, 3).padding(1));
  net->to(dev);
  net->eval();
  std::vector<tensor> profiles;
  for (int patient = 0; patient < 3; ++patient) {
    tensor scan = torch::randn({16, 16, 8});
    tensor marked = mark(net, scan, 8, dev).to(torch::kCPU);
    clear_border(marked, 1);
    tensor numbers = torch::zeros({16, 16, 8}, torch::kInt32);
    int32_t count = regions(marked, numbers);
    std::vector<int64_t> all = sizes(numbers, count);
    profiles.push_back(profile(marked));
    std::printf("patient %d: %d regions, the first of %lld voxels\n", patient, count,
                count > 0 ? static_cast<long long>(all[1]) : 0LL);
  }
  tensor together = torch::stack(profiles);
  std::printf("mean of the profiles %f\n", together.mean().item<double>());
}
