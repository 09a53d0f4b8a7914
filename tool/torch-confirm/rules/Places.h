// The places of a finding in a recording: what ran at the flagged statement, at
// the site of the iterations, in the loop.
#ifndef TORCHTIDY_CONFIRM_RULES_PLACES_H
#define TORCHTIDY_CONFIRM_RULES_PLACES_H

#include "findings/Finding.h"
#include "recording/Recording.h"
#include "rules/SourceMatch.h"

namespace torchtidy::confirm {

/// Operations below one line of the source, reached by one way of calls.
struct CallPath {
  /// The frame in the place, and its callers.
  std::vector<SourceLine> Callers;
  std::vector<const Site *> Sites;
  /// How often the place ran.
  uint64_t Iterations = 0;
  /// The site by whose hits that is counted, once per iteration.
  const Site *Clock = nullptr;
};

/// Whether lines ran, by their own hits.
struct LinesRan {
  LineState State = LineState::Unknown;
  /// Places in the code where they begin.
  uint64_t Places = 0;
  /// Of an unknown state: why; empty where nobody asked. Of lines that did not
  /// run: what else there is to say.
  std::string Reason;
};

class Places {
public:
  Places(const DiagnosedFinding &Finding, const Recording &Run,
         const SourceMatch &Sources);

  const DiagnosedFinding &Finding;
  const Recording &Run;

  /// Sites with a frame in the flagged statement, by the ways that lead there.
  /// Where the loop is known and one of them is below it, only those.
  std::vector<CallPath> Statement;
  /// The same of the site of the iterations.
  std::vector<CallPath> IterationSite;
  /// All sites below the loop.
  std::vector<const Site *> Loop;

  /// Whether the recording has any line of the file that ran, as far as that is
  /// known.
  bool isFileKnown() const { return IsFileKnown; }
  /// Whether the recording has the file at all.
  bool isInProgram() const { return StatementRange.isKnown(); }
  /// Whether anything of the finding ran.
  bool isReached() const {
    return !Statement.empty() || !IterationSite.empty() || !Loop.empty();
  }
  /// Iterations of the statement, else of the site of the iterations, else of
  /// the loop.
  uint64_t iterations() const;
  /// "its loop ran 80 times": for statements that nothing was seen of.
  std::string reachedText() const;
  /// What is said of such a statement.
  std::string unseenText() const;
  /// The same where nothing of the finding was seen.
  std::string unseenAloneText() const;
  /// Whether the flagged statement ran, operations or not.
  LinesRan ran() const;

  /// Whether lines of one function ran right before and behind the statement:
  /// it lies in code that ran, though nothing was seen of it.
  bool isAmongLinesThatRan() const;

  /// The same lines, by the name that the recording has for the file; unknown
  /// where it has none.
  LineRange known(LineRange Range) const;
  /// Sites with a frame in these lines, as Statement.
  std::vector<CallPath> paths(const LineRange &Range) const;

private:
  const SourceMatch &Sources;
  LineRange LoopRange, StatementRange;
  bool IsFileKnown = false;
};

/// All sites of these paths.
std::vector<const Site *> sitesOf(const std::vector<CallPath> &Paths);
uint64_t iterationsOf(const std::vector<CallPath> &Paths);

/// How far out the function is from which a path and another site (a backward,
/// say) were both called, directly or not, by one run of it: 0 is the function
/// of the place itself. Nothing where there is none.
std::optional<size_t> distanceToShared(const CallPath &Path, const Site &Other);
/// Hits of the backward passes that belong to a path: of those that share the
/// nearest function with it.
uint64_t backwardsNear(const CallPath &Path, const Recording &Run);

/// ", freed at line 12", or ", freed at store.h:12" for another file than that
/// of the finding; a line of that file goes before those of others. Empty for
/// an empty stack.
std::string placeText(const char *What, const std::vector<SourceLine> &Stack,
                      const std::string &File);

bool isAt(const SourceLine &Line, const LineRange &Range);
bool startsWith(const std::string &Text, const char *Prefix);

} // namespace torchtidy::confirm

#endif
