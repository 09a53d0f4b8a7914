// What the harness has to know of a finding and a diagnostic does not say: of
// which kind it is and what its notes are about, beside the words; which loop
// repeats the flagged statement, and an operation that runs once in each of its
// iterations, since a statement without an operation leaves no trace at run
// time.
#ifndef TORCHTIDY_TOOL_RUN_EVIDENCE_H
#define TORCHTIDY_TOOL_RUN_EVIDENCE_H

#include "FindingListener.h"
#include "clang/Tooling/Core/Diagnostic.h"
#include <string>
#include <vector>

namespace torchtidy::tool {

struct NoteEvidence {
  std::string FilePath;
  unsigned FileOffset = 0;
  /// As in FindingKinds.def.
  std::string Role;
};

struct Evidence {
  // The finding that it belongs to. A header may be analysed several times, and
  // a finding in it differ: the message tells which this is.
  std::string Check, FilePath, Message;
  /// What relative paths are relative to.
  std::string Folder;
  unsigned FileOffset = 0;

  /// As in FindingKinds.def; empty where the check has none.
  std::string Kind;
  /// In the order of the diagnostic's notes, which has notes of Clang's own
  /// between them ("expanded from macro").
  std::vector<NoteEvidence> Notes;
  /// An empty path: there is none.
  clang::tooling::FileByteRange Loop;
  /// Its length is 0.
  clang::tooling::FileByteRange IterationSite;
};

/// A function of which not all was analysed.
struct Shortfall {
  /// "file:line".
  std::string Place;
  std::string Name;
  model::Shortfall::Kind Left = model::Shortfall::All;
  /// Nothing in the file instantiates it, and Clang makes no control flow graph
  /// of what depends on its arguments. Otherwise it is too large.
  bool IsTemplate = false;
};

/// What decides whether a comment that silences has anything to silence.
struct Silenceable {
  /// Each finding at all lines where a comment would silence it: of one in the
  /// expansion of a macro also the line of the macro's text.
  struct Place {
    std::string Check, FilePath;
    unsigned Line = 0;
  };
  std::vector<Place> Places;
  /// Not all calls were followed, from wherever.
  bool IsTooLarge = false;
};

class EvidenceCollector : public FindingListener {
public:
  void found(const model::Finding &Finding,
             const clang::SourceManager &SM) override;
  void leftOut(const model::Shortfall &Of) override;
  std::vector<Evidence> take() { return std::move(All); }
  std::vector<Shortfall> takeShortfalls() { return std::move(Shortfalls); }
  const Silenceable &silenceable() const { return OfComments; }

private:
  std::vector<Evidence> All;
  std::vector<Shortfall> Shortfalls;
  Silenceable OfComments;
};

} // namespace torchtidy::tool

#endif
