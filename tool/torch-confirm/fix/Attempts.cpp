#include "fix/Attempts.h"
#include "fix/FixReport.h"
#include "report/Report.h"
#include "support/Errors.h"
#include <algorithm>
#include <iostream>
#include <map>

namespace torchtidy::confirm::fix {
namespace {

std::string named(const DiagnosedFinding &Finding) {
  return "[" + Finding.Check + "] at " + placeOf(Finding);
}

/// Chooses those that go together, and says of the others why not.
std::vector<FixableFinding *>
compatible(std::vector<FixableFinding> &Findings) {
  std::vector<FixableFinding *> Result;
  for (FixableFinding &Each : Findings) {
    for (const FixableFinding *Other : Result)
      for (const Edit &Mine : Each.Own)
        for (const Edit &Theirs : Other->Own)
          if (overlap(Mine, Theirs))
            Each.Obstacle = "its fix and that of " + named(Other->Original) +
                            " change the same text; --each tries it by itself";
    if (Each.Obstacle.empty())
      Result.push_back(&Each);
  }
  return Result;
}

Edits editsOf(const std::vector<FixableFinding *> &Findings) {
  Edits Result;
  for (const FixableFinding *Each : Findings)
    Result.insert(Result.end(), Each->Own.begin(), Each->Own.end());
  return Result;
}

void sort(std::vector<FixedFinding> &Findings) {
  std::stable_sort(Findings.begin(), Findings.end(),
                   [](const FixedFinding &A, const FixedFinding &B) {
                     return A.Result.Result < B.Result.Result;
                   });
}

/// Throws UserError where the copy does not build with these.
void build(FixRuns &Runs, const std::vector<FixableFinding *> &Applied) {
  std::cerr << "torch-confirm: building it with " << fixes(Applied.size())
            << '\n';
  const std::string Error = Runs.build(editsOf(Applied));
  if (Error.empty())
    return;
  throw UserError(
      "the program does NOT BUILD with " +
      (Applied.size() == 1 ? "the fix of " + named(Applied[0]->Original)
                           : fixes(Applied.size())) +
      ", though it does without: " + Error +
      (Applied.size() == 1 ? "" : "\n--each tells whose fix breaks it"));
}

/// Fixes of wrong results change what is printed. Where these were applied with
/// others, the others are judged beside the program with these alone.
class Mended {
public:
  Mended(FixRuns &Runs, const std::vector<FixableFinding *> &Applied,
         const std::map<const FixableFinding *, FixVerdict> &Verdicts)
      : Runs(Runs) {
    for (FixableFinding *Each : Applied) {
      const FixVerdict &V = Verdicts.at(Each);
      if (V.Result == FixOutcome::Confirmed && isOfResults(V.Before))
        OfResults.push_back(Each);
      IsNeeded |= V.Result == FixOutcome::OutputChanged;
    }
    IsNeeded &= !OfResults.empty();
  }

  bool isNeeded() const { return IsNeeded; }
  size_t count() const { return OfResults.size(); }
  void run() {
    std::cerr << "torch-confirm: what it prints may differ by the fixes of "
                 "wrong results only\n";
    build(Runs, OfResults);
    Before = Runs.run("mended");
  }
  const ProgramRun &before() const { return Before; }
  DiagnosedFinding follow(const FixableFinding &Which) const {
    return Runs.follow(Which, editsOf(OfResults));
  }

private:
  FixRuns &Runs;
  std::vector<FixableFinding *> OfResults;
  bool IsNeeded = false;
  ProgramRun Before;
};

} // namespace

FixReport tryTogether(FixRuns &Runs, std::vector<FixableFinding> &Findings,
                      ProgramRun &After) {
  const std::vector<FixableFinding *> Applied = compatible(Findings);
  if (Applied.empty())
    throw UserError("no fix can be applied: " + Findings.front().Obstacle);
  const Edits All = editsOf(Applied);
  const ProgramRun &Before = Runs.asItIs();
  build(Runs, Applied);
  FixReport Result;
  Result.Before = &Before.What;
  Result.Together = Runs.runBeside(Before, "fixed", After);
  Result.After = &After.What;
  Result.Applied = Applied.size();

  std::map<const FixableFinding *, FixVerdict> Verdicts;
  std::map<const FixableFinding *, DiagnosedFinding> Now;
  for (const FixableFinding *Each : Applied) {
    Now[Each] = Runs.follow(*Each, All);
    Verdicts[Each] = decide({Each->Copied, Before}, {Now[Each], After},
                            *Result.Together, Applied.size() - 1);
  }
  if (Mended Base(Runs, Applied, Verdicts); Base.isNeeded()) {
    Base.run();
    const Comparison Beside = Runs.beside(Base.before(), "fixed", After);
    for (auto &[Each, V] : Verdicts)
      if (V.Result == FixOutcome::OutputChanged)
        V = decide({Base.follow(*Each), Base.before()}, {Now[Each], After},
                   Beside, Applied.size() - Base.count() - 1);
    Result.Mended = Base.count();
  }

  std::vector<Followed> Growing;
  for (const FixableFinding &Each : Findings) {
    FixedFinding New{Each.Original, {}, {}, {}};
    if (Each.Obstacle.empty()) {
      New.Result = Verdicts.at(&Each);
      Growing.push_back({&Each.Copied, &Now.at(&Each)});
    } else {
      New.Result.Result = FixOutcome::NotApplied;
      New.Result.Before = verdictOf(Each.Copied, Before.What);
      New.Result.Sentence = Each.Obstacle;
    }
    Result.Findings.push_back(std::move(New));
  }
  Result.Totals = compareTotals(Before.What, After.What, Growing);
  sort(Result.Findings);
  return Result;
}

FixReport tryEach(FixRuns &Runs, const std::vector<FixableFinding> &Findings) {
  const ProgramRun &Before = Runs.asItIs();
  FixReport Result;
  Result.Before = &Before.What;
  size_t Number = 0;
  for (const FixableFinding &Each : Findings) {
    FixedFinding New{Each.Original, {}, {}, {}};
    FixVerdict &V = New.Result;
    V.Before = verdictOf(Each.Copied, Before.What);
    std::cerr << "torch-confirm: " << ++Number << " of " << Findings.size()
              << ", " << named(Each.Original);
    if (!Each.Obstacle.empty()) {
      std::cerr << '\n';
      V.Result = FixOutcome::NotApplied;
      V.Sentence = Each.Obstacle;
    } else if (V.Before.Result != Outcome::Confirmed) {
      std::cerr << ": no effect to try it on\n";
      V.Result = withoutEffect(V.Before.Result);
    } else {
      std::cerr << ": building\n";
      if (const std::string Error = Runs.build(Each.Own); !Error.empty()) {
        V.Result = FixOutcome::DoesNotBuild;
        V.Sentence = "with this fix the program does not build: " + Error;
      } else {
        ProgramRun After;
        New.Alone = Runs.runBeside(Before, "fixed", After);
        V = decide({Each.Copied, Before}, {Runs.follow(Each, Each.Own), After},
                   *New.Alone, 0);
        New.AloneRun = std::move(After.What);
      }
    }
    Result.Findings.push_back(std::move(New));
  }
  sort(Result.Findings);
  return Result;
}

} // namespace torchtidy::confirm::fix
