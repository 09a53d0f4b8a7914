// A library that is opened while the program runs.
#include <vector>

static std::vector<int> Kept;

struct AtStart {
  AtStart() {
    Kept.push_back(1); // plugin start
  }
} Start;

extern "C" int pluginRun(int Each) {
  Kept.push_back(Each); // plugin
  if (Each < 0)
    Kept.push_back(0); // plugin never
  return int(Kept.size());
}
