// Runs operations of LibTorch.
float work();

// In headers: a template and an inlined function, with code in several places.
#include <vector>

template <typename T> struct Keeper {
  std::vector<T> Kept;
  void keep(T Each) {
    Kept.push_back(Each); // template
  }
  void keepMore(T Each) {
    Kept.push_back(Each); // template never
  }
};

inline void keepInlined(std::vector<int> &Into, int Each) {
  Into.push_back(Each); // inlined
}
