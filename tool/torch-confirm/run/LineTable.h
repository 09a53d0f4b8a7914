// Where the code of source lines is: the line tables of the debug information,
// as binutils' objdump prints them.
//
// Measured for a program of LibTorch's with 43,000 rows: 0.03 s. Binutils are
// there wherever a compiler is, which the probe needs anyway, and read DWARF of
// all versions, compressed or not.
#ifndef TORCHTIDY_CONFIRM_RUN_LINETABLE_H
#define TORCHTIDY_CONFIRM_RUN_LINETABLE_H

#include "run/Code.h"
#include <istream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace torchtidy::confirm {

/// Lines of files, by the last part of their paths: with the folders the tables
/// are less sure.
using WantedLines = std::map<std::string, std::set<unsigned>>;

/// A row of the table for a line that is wanted.
struct LineRow {
  uint64_t Address = 0;
  /// A statement begins there (or a part of one), as the compiler says; else it
  /// is an instruction of one, which may have been moved.
  bool Begins = false;

  bool operator<(const LineRow &Other) const { return Address < Other.Address; }
};

/// A place in the code: the lines that the table has for its address, and
/// whether a statement of theirs begins. There may be several lines, where one
/// has no code of its own before the next one.
using LinesAt = std::map<std::pair<std::string, unsigned>, bool>;

struct LineTable {
  /// Places of lines that are wanted.
  std::map<uint64_t, LinesAt> At;
  /// Each address that has a row, in order, with the last one that it has:
  /// inlined code has the lines of its own source, and only the symbolizer says
  /// which line called it. Of the functions that have code of the files, or of
  /// all.
  std::vector<LineRow> Own, All;
};

/// Reads what 'objdump --dwarf=decodedline --wide' prints. Rows of functions
/// that the linker has thrown away are left out: their addresses are no code,
/// or that of others.
LineTable parseLineTable(std::istream &Text, const WantedLines &Wanted,
                         const Code &In);

/// One row for each address, in order: the last one.
void keepLast(std::vector<LineRow> &Rows);

/// "train.cpp" of "src/train.cpp".
std::string lastPart(const std::string &Path);

} // namespace torchtidy::confirm

#endif
