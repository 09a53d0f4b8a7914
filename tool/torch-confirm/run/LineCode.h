// The code of lines in a program or a library.
#ifndef TORCHTIDY_CONFIRM_RUN_LINECODE_H
#define TORCHTIDY_CONFIRM_RUN_LINECODE_H

#include "run/LineTable.h"

namespace torchtidy::confirm {

/// The code of a line in one program or library.
struct LineCode {
  /// As the symbolizer has it.
  std::string File;
  unsigned Line = 0;
  /// In order; each begins an instruction.
  std::vector<LineRow> Rows;
  /// Why there may be more of it; empty where this is all.
  std::string Missing;
};

/// Asks objdump, and the symbolizer whether it says the same. Both for the
/// files' paths and since breakpoints go there: an address of which the two do
/// not say the same line is left out. Throws UserError that says why where they
/// cannot be asked.
std::vector<LineCode> codeOf(const std::string &Module,
                             const WantedLines &Wanted);

} // namespace torchtidy::confirm

#endif
