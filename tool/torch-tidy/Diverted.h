// What libraries print by themselves, held back to be put into our words.
#ifndef TORCHTIDY_TOOL_DIVERTED_H
#define TORCHTIDY_TOOL_DIVERTED_H

#include <string>

namespace torchtidy::tool {

/// While it lives, what goes to a descriptor goes to a file without a name.
class Diverted {
public:
  explicit Diverted(int Descriptor);
  ~Diverted() { end(); }
  Diverted(const Diverted &) = delete;
  Diverted &operator=(const Diverted &) = delete;

  /// What came.
  std::string end();

private:
  int Descriptor, Before, File;
};

} // namespace torchtidy::tool

#endif
