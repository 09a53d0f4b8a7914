// What a scenario program measures about itself. The numbers come from
// LibTorch's own observers, so a program only says where its loops and their
// iterations are; its tensors are never touched.
#ifndef TORCH_TIDY_SCENARIOS_MEASURE_H
#define TORCH_TIDY_SCENARIOS_MEASURE_H

#include <torch/torch.h>

#include <map>
#include <string>
#include <vector>

namespace measure {

// To be called first in main: reads `--device cpu|cuda` and starts to observe.
torch::Device start(int argc, char **argv);

// Prints all that was measured as one line of key=value; the exit code of main.
int finish();

// A number that the program reports on its own.
void value(const std::string &name, double number);

// A loop of the program. When it ends, these are measured, from the second half
// of the iterations where they are rates:
//   <name>.nodes_per_iteration   growth of the living graph nodes
//   <name>.bytes_per_iteration   growth of the living tensor bytes
//   <name>.new_nodes             graph nodes made in one iteration
//   <name>.peak_bytes            most tensor bytes above those before the loop
//   <name>.allocations           tensor allocations in one iteration
//   <name>.allocated_bytes       their bytes
//   <name>.copies                copies to another device or element type, in
//                                one iteration
//   <name>.copied_bytes          the bytes that they read
//   <name>.milliseconds          wall time of one iteration
class Loop {
public:
  explicit Loop(std::string name);
  ~Loop();
  Loop(const Loop &) = delete;
  Loop &operator=(const Loop &) = delete;

  // To be called at the end of each iteration.
  void iteration();

  // A number of this iteration; the mean over the second half is reported.
  void value(const std::string &key, double number);

private:
  void count();

  std::string name_;
  std::vector<double> nodes_, bytes_, made_, seconds_;
  std::vector<double> allocations_, allocated_, copies_, copied_;
  std::map<std::string, std::vector<double>> values_;
  double bytes_before_;
};

} // namespace measure

#endif
