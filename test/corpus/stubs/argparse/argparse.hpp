#pragma once
#include <iostream>
#include <string>
namespace argparse {
struct Argument {
  Argument &help(std::string) { return *this; }
  template <class T> Argument &default_value(T &&) { return *this; }
  template <char c, class T> Argument &scan() { return *this; }
  template <class F> Argument &action(F &&) { return *this; }
};
struct ArgumentParser {
  explicit ArgumentParser(std::string) {}
  template <class... A> Argument &add_argument(A &&...) {
    static Argument a;
    return a;
  }
  void parse_args(int, const char *const *) {}
  template <class T> T get(std::string) { return T(); }
};
inline std::ostream &operator<<(std::ostream &o, const ArgumentParser &) {
  return o;
}
} // namespace argparse
