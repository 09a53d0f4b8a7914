// The edits of fixes: which of them go together, what they make of a file, and
// where a place is afterwards.
#ifndef TORCHTIDY_CONFIRM_FIX_EDITS_H
#define TORCHTIDY_CONFIRM_FIX_EDITS_H

#include "findings/Finding.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace torchtidy::confirm::fix {

/// Text in place of the bytes from Begin to End of a file.
struct Edit {
  std::string File;
  size_t Begin = 0, End = 0;
  std::string Text;

  bool operator==(const Edit &Other) const {
    return File == Other.File && Begin == Other.Begin && End == Other.End &&
           Text == Other.Text;
  }
};
using Edits = std::vector<Edit>;

/// The contents of files by their paths.
using Texts = std::map<std::string, std::string>;

/// The edits of a finding's fix, in a text. Throws UserError where a place is
/// beyond the end of its line or file: the findings are of another version.
Edits resolve(const DiagnosedFinding &Finding, const Texts &Files);

/// Whether two edits cannot both be made. Insertions at one place can, and the
/// same edit twice is one.
bool overlap(const Edit &A, const Edit &B);

/// The text of a file with the edits that are of it. At one place they come in
/// their order here.
std::string apply(const std::string &Text, const std::string &File,
                  const Edits &All);

/// Where lines of a file are when All is applied. Own: the edits of the finding
/// that the lines are of; what those of them that are applied take out and put
/// in elsewhere has moved.
/// Nothing where the lines are gone.
std::optional<LineRange> moved(const LineRange &Lines, const std::string &Text,
                               const Edits &All, const Edits &Own);

} // namespace torchtidy::confirm::fix

#endif
