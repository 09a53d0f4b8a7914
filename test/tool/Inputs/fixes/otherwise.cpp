// It fails before and after, in two ways.
#include <stdexcept>
int main() {
  throw std::logic_error("one"); // FAKE: logic_error => range_error
}
