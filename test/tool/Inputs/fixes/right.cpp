// The mistake throws, and the fix mends it.
#include <vector>
int main() {
  std::vector<int> one(1);
  return one.at(1); // FAKE: at(1) => at(0)
}
