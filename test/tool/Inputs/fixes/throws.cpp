#include <vector>
int main() {
  std::vector<int> one(1);
  return one.at(0); // FAKE: at(0) => at(1)
}
