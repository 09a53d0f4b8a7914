// live-bytes-per-iteration: memory that an operation takes in each iteration,
// and that stays.
//
// The bytes of the whole process tell that something in a loop is kept, but not
// what. So only the memory counts that the line itself takes which makes it:
// how much of it is alive at once, or at the end.
#include "rules/Operations.h"
#include "rules/Rule.h"
#include <algorithm>
#include <list>

namespace torchtidy::confirm {
namespace {

/// Memory of so many iterations, alive at once, is kept; of so few it is what a
/// loop has at any time.
constexpr double IterationsThatAreKept = 10;
constexpr double IterationsThatAreUsual = 3;
/// Beyond these, this share of all iterations or less is a window.
constexpr double ShareThatIsKept = 0.05;

struct Taken {
  const CallPath *Path = nullptr;
  const Site *By = nullptr;
  /// Of one iteration, as far as it is there when the next begins or is taken;
  /// of all, alive at the end; and the most at once.
  double Bytes = 0, AtEnd = 0, Most = 0;

  double iterationsKept() const { return Bytes > 0 ? Most / Bytes : 0; }
};

Taken takenBy(const CallPath &Path, const Site &S) {
  Taken Result;
  Result.Path = &Path;
  Result.By = &S;
  const double PerHit = double(S.AllocatedBytes + S.CudaAllocatedBytes) /
                        double(std::max<uint64_t>(S.Hits, 1));
  // What an operation only works in is gone when it ends.
  Result.Bytes = S.OwnAtSecond > 0 ? double(S.OwnAtSecond) : PerHit;
  Result.AtEnd = double(std::max<int64_t>(S.LiveBytes, 0));
  Result.Most = double(std::max(S.MostOwnAtHit, S.LiveBytes));
  return Result;
}

/// The operation whose memory stays longest, on whichever way of calls.
std::optional<Taken> longestTaken(const std::vector<CallPath> &Paths) {
  std::optional<Taken> Result;
  for (const CallPath &Path : Paths)
    for (const Site *S : Path.Sites) {
      const Taken Each = takenBy(Path, *S);
      if (Each.Bytes > 0 &&
          (!Result || Each.iterationsKept() > Result->iterationsKept()))
        Result = Each;
    }
  return Result;
}

class LiveBytes : public Rule {
public:
  std::string evidence() const override { return "live-bytes-per-iteration"; }
  std::vector<std::string> needs() const override {
    return {"operations", "cpu-memory"};
  }

  Verdict judge(const Places &Where) const override {
    if (Where.Finding.Kind == FindingKind::ViewSaved)
      return needsFile(Where);
    std::list<std::vector<CallPath>> Noted;
    std::optional<Taken> Here = longestTaken(Where.Statement);
    if (Here && Where.Finding.Kind == FindingKind::ViewKept &&
        isCopy(*Here->By))
      return ofCopy(Where);
    if (!Here)
      Here = longestTaken(Where.IterationSite);
    for (const FindingNote &Note : Where.Finding.Notes)
      if (!Here && Note.Role == NoteRole::Made)
        Here = longestTaken(
            Noted.emplace_back(Where.paths(Where.known(Note.Place))));
    Verdict V;
    V.Iterations = Here ? Here->Path->Iterations : Where.iterations();
    V.Rule = "bytes that stay of those that each iteration takes";
    V.Unit = "bytes per iteration";
    if (!Here) {
      V.Sentence = "no operation was seen that takes the memory";
      return V;
    }
    if (Where.Finding.Kind == FindingKind::ViewKept && isHeldWhole(*Here->By))
      return ofWhole(std::move(V), *Here->By);
    const double Iterations = double(V.Iterations);
    const std::string During = ", " + countText(Iterations, "iteration");
    if (Here->AtEnd >= IterationsThatAreKept * Here->Bytes)
      return confirmed(
          std::move(V), Here->AtEnd / Iterations, Iterations,
          bytesText(Here->AtEnd) +
              " are alive at the end, of what this line has taken" + During);
    if (isNeverFreed(Where.Finding.Kind))
      return ofFreed(std::move(V), *Here, During);
    const double Kept = Here->iterationsKept();
    V.Number = 0;
    V.Sentence = bytesText(Here->Most) + " of this line's are alive at once, " +
                 bytesText(Here->Bytes) + " are taken by each iteration" +
                 During;
    if (Kept >= IterationsThatAreKept && Kept > ShareThatIsKept * Iterations)
      return confirmed(std::move(V), Here->Most / Iterations, Iterations,
                       bytesText(Here->Most) +
                           " are alive at once, of what this line has taken" +
                           During);
    if (Iterations < double(FewestForTrend)) {
      V.Number.reset();
      V.Sentence = "too few iterations: " + numberText(Iterations);
      return V;
    }
    if (Kept <= IterationsThatAreUsual || Kept <= ShareThatIsKept * Iterations)
      V.Result = Outcome::Refuted;
    return V;
  }

private:
  static bool isCopy(const Site &S) {
    return isOneOf(S, {"aten::contiguous", "aten::clone"}) ||
           (isTransfer(S) && !S.Copies.empty());
  }

  /// So many of the blocks of a line are given to operations as a whole when it
  /// has taken the next.
  static bool isHeldWhole(const Site &S) {
    constexpr double ShareOfHits = 0.25;
    return S.WholeLater && double(S.WholeLater) >= ShareOfHits * double(S.Hits);
  }

  static Verdict ofWhole(Verdict V, const Site &S) {
    V.Rule = "tensors over all of the memory";
    V.Number = double(S.WholeLater);
    V.Sentence = "operations are given all of the memory of earlier iterations "
                 "as well, about " +
                 countText(double(S.WholeLater), "time") +
                 ": the view alone does not keep it, " +
                 countText(double(V.Iterations), "iteration");
    return V;
  }

  /// The line copies what it keeps: that has memory of its own.
  static Verdict ofCopy(const Places &Where) {
    Verdict V;
    V.Result = Outcome::Refuted;
    V.Rule = "copies at the line";
    V.Iterations = Where.iterations();
    V.Sentence = "what the line keeps is a copy, whose memory is as large as "
                 "it is, " +
                 countText(double(V.Iterations), "iteration");
    return V;
  }

  /// Objects that keep each other alive are there when the program ends,
  /// whoever else has let go of them.
  static bool isNeverFreed(std::optional<FindingKind> Kind) {
    return Kind == FindingKind::CycleThroughHook ||
           Kind == FindingKind::CycleThroughCallback ||
           Kind == FindingKind::CycleThroughPart ||
           Kind == FindingKind::OutputInSavedData;
  }

  static Verdict ofFreed(Verdict V, const Taken &Here,
                         const std::string &During) {
    V.Rule = "bytes that are alive at the end";
    V.Number = Here.AtEnd;
    V.Sentence =
        (Here.AtEnd ? bytesText(Here.AtEnd) + " of up to " : "none of up to ") +
        bytesText(Here.Most) +
        " that this line has taken are alive at the end: what held "
        "them has let go" +
        During;
    if (double(V.Iterations) >= double(FewestForTrend))
      V.Result = Outcome::Refuted;
    return V;
  }

  static Verdict confirmed(Verdict V, double Number, double Iterations,
                           std::string Sentence) {
    V.Result = Outcome::Confirmed;
    V.Number = Number;
    V.Sentence = std::move(Sentence);
    V.Cost = CostKind::Growth;
    V.CostAmount = Number * Iterations;
    V.CostText = bytesText(V.CostAmount) + " in this run";
    return V;
  }

  static Verdict needsFile(const Places &Where) {
    Verdict V;
    V.Iterations = Where.iterations();
    V.Rule = "needs the file";
    V.Sentence = "how large the file is shows only beside one of a copy, as in "
                 "'torch-confirm scenarios --check " +
                 Where.Finding.Check + "'";
    return V;
  }
};

const RegisterRule<LiveBytes> RegisterLiveBytes;

} // namespace
} // namespace torchtidy::confirm
