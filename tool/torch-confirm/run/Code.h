// The code in an ELF file: where it is and what its bytes are.
#ifndef TORCHTIDY_CONFIRM_RUN_CODE_H
#define TORCHTIDY_CONFIRM_RUN_CODE_H

#include "run/Mapping.h"
#include <vector>

namespace torchtidy::confirm {

class Code {
public:
  /// Of a file that is no ELF file of 64 bits for this processor, nothing.
  explicit Code(const std::string &Path);

  /// Whether both addresses lie in one section of code; the second one may be
  /// its end.
  bool holds(uint64_t First, uint64_t Last) const;
  /// The bytes at an address, at most so many; fewer at the end of its section.
  std::string_view at(uint64_t Address, size_t Size) const;
  /// Not in digits; empty where the file has none.
  std::string_view buildId() const { return BuildId; }

private:
  struct Section {
    uint64_t Begin, End, Offset;
  };
  const Section *find(uint64_t Address) const;

  Mapping File;
  std::vector<Section> Sections;
  std::string_view BuildId;
};

} // namespace torchtidy::confirm

#endif
