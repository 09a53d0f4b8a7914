// Stands in for p-ranav's argparse, as far as pytorch/examples uses it: the
// arguments have their defaults.
#pragma once

#include <any>
#include <map>
#include <ostream>
#include <string>

namespace argparse {

class Argument {
public:
  Argument &help(const std::string &) { return *this; }
  template <class T> Argument &default_value(T Value) {
    Default = Value;
    return *this;
  }
  template <char Shape, class T> Argument &scan() { return *this; }

  std::any Default;
};

class ArgumentParser {
public:
  explicit ArgumentParser(const std::string &) {}
  Argument &add_argument(const std::string &Name) { return Arguments[Name]; }
  void parse_args(int, const char *const *) {}
  template <class T> T get(const std::string &Name) {
    return std::any_cast<T>(Arguments.at(Name).Default);
  }
  friend std::ostream &operator<<(std::ostream &OS, const ArgumentParser &) {
    return OS;
  }

private:
  std::map<std::string, Argument> Arguments;
};

} // namespace argparse
