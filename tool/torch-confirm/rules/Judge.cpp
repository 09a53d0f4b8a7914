#include "rules/Judge.h"
#include "rules/Rule.h"
#include "rules/Shares.h"
#include "support/Errors.h"
#include <algorithm>
#include <set>
#include <tuple>

namespace torchtidy::confirm {
namespace {

std::vector<const Rule *> &rules() {
  static std::vector<const Rule *> All;
  return All;
}

/// Why a quantity is not there.
std::string reasonOf(const Recording &Run, const std::string &Quantity) {
  auto It = Run.Capabilities.find(Quantity);
  if (It == Run.Capabilities.end() || It->second.Reason.empty())
    return "'" + Quantity + "' was not measured";
  return It->second.Reason;
}

std::string shapesText(const Site &S) {
  std::string Result;
  for (const ShapeCount &Each : S.Shapes)
    Result += (Result.empty() ? "" : "; ") +
              (Each.Text.empty() ? "unknown" : Each.Text);
  if (S.Shapes.size() > 1)
    Result = "varies: " + Result;
  return S.OtherShapes ? Result + "; and others" : Result;
}

std::vector<SeenOperation> seenAt(const Places &Where) {
  constexpr size_t Most = 3;
  std::vector<const Site *> Sites = sitesOf(Where.Statement);
  Sites.erase(std::remove_if(Sites.begin(), Sites.end(),
                             [](const Site *S) { return S->Shapes.empty(); }),
              Sites.end());
  std::stable_sort(
      Sites.begin(), Sites.end(),
      [](const Site *A, const Site *B) { return A->Hits > B->Hits; });
  std::vector<SeenOperation> Result;
  for (size_t I = 0; I < std::min(Most, Sites.size()); ++I)
    Result.push_back(
        {Sites[I]->Operation, Sites[I]->Hits, shapesText(*Sites[I])});
  return Result;
}

/// The rule's verdict, and what is known of the line itself: whether it ran is
/// seen also where it runs no operation.
Verdict byHits(Verdict V, const Places &Where) {
  if (!Where.Statement.empty())
    return V;
  const LinesRan Line = Where.ran();
  switch (Line.State) {
  case LineState::DidNotRun:
    V = verdict(Outcome::NotReached, "the line did not run: ");
    V.Sentence += !Line.Reason.empty() ? Line.Reason
                  : Line.Places == 1
                      ? "the place in the code where it begins was not reached"
                      : "none of the " + numberText(double(Line.Places)) +
                            " places in the code where it begins was reached";
    V.Rule = "hits of the line";
    return V;
  case LineState::Ran:
    if (V.Result != Outcome::NotReached)
      return V;
    V.Result = Outcome::NotMeasurable;
    if (!startsWith(V.Sentence, "the line ran"))
      V.Sentence = "the line ran, but no operation of it was seen";
    return V;
  case LineState::MayHaveRun:
    if (V.Result != Outcome::NotReached)
      return V;
    V.Result = Outcome::NotMeasurable;
    V.Sentence = "whether the line ran is not known: the code is optimised, "
                 "and of the line only instructions ran that may have been "
                 "moved; " +
                 V.Sentence;
    return V;
  case LineState::Unknown:
    break;
  }
  if (V.Result != Outcome::NotReached || Line.Reason.empty() ||
      !Where.isInProgram())
    return V;
  if (Where.Run.has("line-hits")) {
    V.Result = Outcome::NotMeasurable;
    V.Sentence =
        "whether the line ran is not known: " + Line.Reason + "; " + V.Sentence;
  } else {
    V.Sentence += "; whether it ran without one is not known: " + Line.Reason;
  }
  return V;
}

Verdict judgeOfKind(const Places &Where) {
  const DiagnosedFinding &Finding = Where.Finding;
  const Recording &Run = Where.Run;
  const Rule *Rule = findRule(Finding.Evidence);
  if (!Rule)
    return verdict(Outcome::NotMeasurable,
                   "torch-confirm has no rule for '" + Finding.Evidence + "'");
  auto Named = [&](Verdict V) {
    V.Rule = Rule->evidence() + (V.Rule.empty() ? "" : ": " + V.Rule);
    return V;
  };
  std::vector<std::string> Needs = Rule->needs();
  if (Rule->needsStacks())
    Needs.insert(Needs.begin(), {"call-stacks", "line-numbers"});
  for (const std::string &Quantity : Needs)
    if (!Run.has(Quantity))
      return Named(verdict(Outcome::NotMeasurable, reasonOf(Run, Quantity)));

  if (Where.isReached())
    return Named(byHits(Rule->judge(Where), Where));
  if (auto Unseen = Rule->judgeUnseen(Where))
    return Named(byHits(*std::move(Unseen), Where));
  if (Run.UnattributedEvents)
    return Named(
        byHits(verdict(Outcome::NotMeasurable,
                       "the table of places was full; " +
                           countText(double(Run.UnattributedEvents), "event") +
                           " had no room in it"),
               Where));
  return Named(byHits(verdict(Outcome::NotReached,
                              Where.isFileKnown()
                                  ? "no operation of this line or its loop ran"
                                  : "no operation of this file ran"),
                      Where));
}

struct OfKind {
  std::string_view Name;
  Verdict Result;
};

/// "REFUTED as 'grows' or 'chains' (the graph ...), CONFIRMED as 'overwrites'
/// (...)"
std::string alternatives(const std::vector<OfKind> &All) {
  std::string Result;
  std::set<Outcome> Told;
  for (const OfKind &First : All) {
    if (!Told.insert(First.Result.Result).second)
      continue;
    std::string Names;
    for (const OfKind &Each : All)
      if (Each.Result.Result == First.Result.Result)
        Names += (Names.empty() ? "'" : " or '") + std::string(Each.Name) + "'";
    Result += (Result.empty() ? "" : ", ") + nameOf(First.Result.Result) +
              " as " + Names + " (" + First.Result.Sentence + ")";
  }
  return Result;
}

/// What holds of whichever kind the finding is, where its file does not say: a
/// text, a file of --export-fixes, SARIF of an older torch-tidy.
Verdict inCommon(const std::vector<OfKind> &All, const std::string &Evidence) {
  Verdict Result = All.front().Result;
  bool IsSame = true, IsSameSentence = true;
  for (const OfKind &Each : All) {
    IsSame &= Each.Result.Result == Result.Result;
    IsSameSentence &= Each.Result.Sentence == Result.Sentence;
  }
  if (IsSame && IsSameSentence)
    return Result;
  if (IsSame) {
    Result.Sentence += "; the file does not say of which kind the finding is, "
                       "and this holds for each";
    return Result;
  }
  Verdict Open = verdict(
      Outcome::NotMeasurable,
      "the file does not say of which kind the finding is (torch-tidy's SARIF "
      "does), and that decides: " +
          alternatives(All));
  Open.Iterations = Result.Iterations;
  Open.Rule = Evidence + ": needs the kind of the finding";
  return Open;
}

Verdict judgeOfAnyKind(DiagnosedFinding Finding, const Recording &Run,
                       const SourceMatch &Sources) {
  std::vector<OfKind> All;
  for (const FindingKindInfo &Each : FindingKinds)
    if (Each.Check == Finding.Check) {
      Finding.Kind = Each.Kind;
      All.push_back({Each.Name, judgeOfKind(Places(Finding, Run, Sources))});
    }
  // Of a check that is not ours.
  if (All.empty())
    return judgeOfKind(Places(Finding, Run, Sources));
  return inCommon(All, Finding.Evidence);
}

/// Refuted before what is not known: it is something to look at.
int orderOf(Outcome Result) {
  switch (Result) {
  case Outcome::Confirmed:
    return 0;
  case Outcome::Refuted:
    return 1;
  case Outcome::NotMeasurable:
    return 2;
  case Outcome::NotReached:
    break;
  }
  return 3;
}

auto keyOf(const JudgedFinding &Each) {
  const Verdict &V = Each.Result;
  return std::make_tuple(orderOf(V.Result), -int(V.Cost), -V.CostAmount,
                         Each.Finding.Statement.File,
                         Each.Finding.Statement.First);
}

} // namespace

const Rule *findRule(const std::string &Evidence) {
  for (const Rule *Each : rules())
    if (Each->evidence() == Evidence)
      return Each;
  return nullptr;
}

void registerRule(const Rule *Each) { rules().push_back(Each); }

void requireCommonFile(const std::vector<DiagnosedFinding> &Findings,
                       const Recording &Run) {
  if (Findings.empty() || !Run.has("line-numbers"))
    return;
  const SourceMatch Sources(Run);
  for (const DiagnosedFinding &Finding : Findings)
    for (const LineRange *Place :
         {&Finding.Statement, &Finding.Loop, &Finding.IterationSite})
      if (Sources.find(Place->File))
        return;
  std::string Example;
  for (const Site &S : Run.Sites)
    if (!S.Stack.empty() && Example.empty())
      Example = S.Stack.back().File;
  throw UserError(
      "these findings are about other sources: the program ran code "
      "of '" +
      Example + "' and others, and none of a file of the findings ('" +
      Findings.front().Statement.File + "')");
}

std::vector<JudgedFinding> judge(const std::vector<DiagnosedFinding> &Findings,
                                 const Recording &Run) {
  const SourceMatch Sources(Run);
  std::vector<JudgedFinding> Result;
  for (const DiagnosedFinding &Finding : Findings) {
    const Places Where(Finding, Run, Sources);
    Result.push_back({Finding,
                      Finding.Kind ? judgeOfKind(Where)
                                   : judgeOfAnyKind(Finding, Run, Sources),
                      seenAt(Where),
                      {}});
  }
  splitShares(Result);
  sort(Result);
  return Result;
}

void sort(std::vector<JudgedFinding> &All) {
  std::stable_sort(All.begin(), All.end(),
                   [](const JudgedFinding &A, const JudgedFinding &B) {
                     return keyOf(A) < keyOf(B);
                   });
}

} // namespace torchtidy::confirm
