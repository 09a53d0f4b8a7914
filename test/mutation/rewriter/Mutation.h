// What the rewriter changes, and where a check is expected to speak afterwards.
#ifndef TORCH_TIDY_MUTATION_MUTATION_H
#define TORCH_TIDY_MUTATION_MUTATION_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace torchtidy::mutation {

/// A part of a file, in bytes.
struct Piece {
  std::string File;
  unsigned Offset = 0;
  unsigned Length = 0;

  unsigned end() const { return Offset + Length; }
  bool operator==(const Piece &Other) const {
    return File == Other.File && Offset == Other.Offset &&
           Length == Other.Length;
  }
};

struct Edit {
  Piece Where;
  std::string Text;
  /// The check is to speak in what is inserted here.
  bool Expected = false;
};

/// One mistake: the edits that make it, and the checks of which one is to speak
/// in one of the regions. The first check is the one the mutant counts for.
struct Mutation {
  std::string Operator;
  std::vector<std::string> Checks;
  Piece Point;
  std::string What;
  std::vector<Edit> Edits;
  std::vector<Piece> Expected;

  /// Two that change the same bytes alike are one: instantiations of a
  /// template.
  std::string key() const;
};

/// The text of each file of the program.
using Files = std::map<std::string, std::string>;

/// The files that change, and as JSON what the mutant is: `expected` are lines
/// of the mutant, `before` the same lines of the program. An error where edits
/// overlap.
struct Mutant {
  Files Changed;
  llvm::json::Object Description;
};
llvm::Expected<Mutant> apply(const Mutation &What, const Files &Sources);

} // namespace torchtidy::mutation

#endif
