#include "rules/Places.h"
#include "rules/Verdict.h"
#include <algorithm>
#include <map>

namespace torchtidy::confirm {
namespace {

bool isSameLine(const SourceLine &A, const SourceLine &B) {
  return A.Line == B.Line && A.File == B.File;
}

std::string textOf(const SourceLine *Begin, const SourceLine *End) {
  std::string Result;
  for (; Begin != End; ++Begin)
    Result += Begin->File + ':' + std::to_string(Begin->Line) + '\n';
  return Result;
}

/// How often a place ran, by the sites below it.
///
/// One line may hold several operations, and call functions that loop; so what
/// counts are the operations that are fewest calls away from it, and of these
/// the most frequent number of hits (the least of several).
void count(CallPath &Path) {
  // Two calls of one operation in one line are two sites: by line they are one.
  std::map<std::string, std::pair<size_t, const Site *>> ByLine;
  size_t Nearest = SIZE_MAX;
  for (const Site *S : Path.Sites) {
    const size_t Depth = S->Stack.size() - Path.Callers.size();
    Nearest = std::min(Nearest, Depth);
    const std::string Key =
        S->Operation + '\n' +
        textOf(S->Stack.data(), S->Stack.data() + S->Stack.size());
    auto [It, IsNew] = ByLine.try_emplace(Key, Depth, S);
    if (!IsNew && S->Hits > It->second.second->Hits)
      It->second.second = S;
  }
  std::map<uint64_t, size_t> Votes;
  for (const auto &[Key, Each] : ByLine)
    if (Each.first == Nearest)
      ++Votes[Each.second->Hits];
  size_t Most = 0;
  for (const auto &[Hits, Number] : Votes)
    if (Number > Most) {
      Most = Number;
      Path.Iterations = Hits;
    }
  for (const auto &[Key, Each] : ByLine)
    if (Each.first == Nearest && Each.second->Hits == Path.Iterations &&
        (!Path.Clock || Each.second->Series.size() > Path.Clock->Series.size()))
      Path.Clock = Each.second;
}

} // namespace

bool isAt(const SourceLine &Line, const LineRange &Range) {
  return Range.isKnown() && Line.Line >= Range.First &&
         Line.Line <= std::max(Range.First, Range.Last) &&
         Line.File == Range.File;
}

bool startsWith(const std::string &Text, const char *Prefix) {
  return Text.rfind(Prefix, 0) == 0;
}

Places::Places(const DiagnosedFinding &Finding, const Recording &Run,
               const SourceMatch &Sources)
    : Finding(Finding), Run(Run), Sources(Sources),
      LoopRange(known(Finding.Loop)), StatementRange(known(Finding.Statement)) {
  for (const LineHits &Each : Run.Lines)
    IsFileKnown |=
        Each.File == StatementRange.File &&
        (Each.State == LineState::Ran || Each.State == LineState::MayHaveRun);
  for (const Site &S : Run.Sites) {
    IsFileKnown |=
        std::any_of(S.Stack.begin(), S.Stack.end(), [&](const SourceLine &L) {
          return L.File == StatementRange.File;
        });
    if (std::any_of(S.Stack.begin(), S.Stack.end(),
                    [&](const SourceLine &L) { return isAt(L, LoopRange); }))
      Loop.push_back(&S);
  }
  Statement = paths(StatementRange);
  IterationSite = paths(known(Finding.IterationSite));
}

bool Places::isAmongLinesThatRan() const {
  const LineRange Range = known(Finding.Statement);
  const SourceLine *Before = nullptr, *Behind = nullptr;
  for (const Site &S : Run.Sites)
    for (const SourceLine &Line : S.Stack) {
      if (Line.File != Range.File)
        continue;
      if (Line.Line < Range.First && (!Before || Line.Line > Before->Line))
        Before = &Line;
      if (Line.Line > Range.Last && (!Behind || Line.Line < Behind->Line))
        Behind = &Line;
    }
  return Range.isKnown() && Before && Behind && !Before->Function.empty() &&
         Before->Function == Behind->Function;
}

LineRange Places::known(LineRange Range) const {
  const auto File = Sources.find(Range.File);
  if (!Range.isKnown() || !File)
    return {};
  Range.File = *File;
  return Range;
}

std::vector<CallPath> Places::paths(const LineRange &Range) const {
  std::map<std::string, CallPath> ByCallers;
  bool IsAnyInLoop = false;
  std::map<std::string, bool> InLoop;
  for (const Site &S : Run.Sites) {
    auto It = std::find_if(S.Stack.begin(), S.Stack.end(),
                           [&](const SourceLine &L) { return isAt(L, Range); });
    // A mark covers what runs below it; it is not an operation.
    if (It == S.Stack.end() || startsWith(S.Operation, "mark:"))
      continue;
    // The lines of a statement are one place.
    const std::string Key = textOf(&*It + 1, S.Stack.data() + S.Stack.size());
    CallPath &Path = ByCallers[Key];
    if (Path.Callers.empty())
      Path.Callers.assign(It, S.Stack.end());
    Path.Sites.push_back(&S);
    const bool IsIn = std::any_of(It, S.Stack.end(), [&](const SourceLine &L) {
      return isAt(L, LoopRange);
    });
    InLoop[Key] = InLoop[Key] || IsIn;
    IsAnyInLoop |= IsIn;
  }
  std::vector<CallPath> Result;
  for (auto &[Key, Path] : ByCallers) {
    if (IsAnyInLoop && !InLoop[Key])
      continue;
    count(Path);
    Result.push_back(std::move(Path));
  }
  std::stable_sort(Result.begin(), Result.end(),
                   [](const CallPath &A, const CallPath &B) {
                     return A.Iterations > B.Iterations;
                   });
  return Result;
}

uint64_t Places::iterations() const {
  if (!Statement.empty())
    return iterationsOf(Statement);
  if (!IterationSite.empty())
    return iterationsOf(IterationSite);
  uint64_t Most = 0;
  for (const Site *S : Loop)
    Most = std::max(Most, S->Hits);
  return Most;
}

std::string Places::reachedText() const {
  if (!IterationSite.empty())
    return "line " + std::to_string(Finding.IterationSite.First) + " ran " +
           countText(double(iterations()), "time");
  return "the loop around it ran operations up to " +
         countText(double(iterations()), "time");
}

std::string Places::unseenText() const {
  const bool Ran = ran().State == LineState::Ran;
  return (Ran ? "the line ran, but no operation of it was seen: "
              : "no operation of this line was seen, though ") +
         reachedText();
}

std::string Places::unseenAloneText() const {
  return ran().State == LineState::Ran
             ? "the line ran, but no operation of it was seen"
             : "no operation of this line was seen, and it may have none";
}

LinesRan Places::ran() const {
  LinesRan Result;
  bool IsAny = false;
  // One that ran is enough, and one that is not known leaves all open.
  auto Order = [](LineState State) {
    switch (State) {
    case LineState::Ran:
      return 3;
    case LineState::MayHaveRun:
      return 2;
    case LineState::Unknown:
      return 1;
    case LineState::DidNotRun:
      break;
    }
    return 0;
  };
  for (const LineHits &Each : Run.Lines) {
    if (!isAt({Each.File, Each.Line, ""}, StatementRange))
      continue;
    Result.Places += Each.Places;
    if (IsAny && Order(Each.State) <= Order(Result.State))
      continue;
    IsAny = true;
    Result.State = Each.State;
    Result.Reason = Each.Reason;
  }
  if (IsAny)
    return Result;
  auto Known = Run.Capabilities.find("line-hits");
  if (Known != Run.Capabilities.end())
    Result.Reason = Known->second.IsAvailable
                        ? "the program has no code of its own for it, which "
                          "was optimised away or is in nothing that it uses"
                        : Known->second.Reason;
  return Result;
}

std::vector<const Site *> sitesOf(const std::vector<CallPath> &Paths) {
  std::vector<const Site *> Result;
  for (const CallPath &Path : Paths)
    Result.insert(Result.end(), Path.Sites.begin(), Path.Sites.end());
  return Result;
}

uint64_t iterationsOf(const std::vector<CallPath> &Paths) {
  uint64_t Result = 0;
  for (const CallPath &Path : Paths)
    Result += Path.Iterations;
  return Result;
}

std::string placeText(const char *What, const std::vector<SourceLine> &Stack,
                      const std::string &File) {
  if (Stack.empty())
    return "";
  // A helper's own line says less than that of a file of the finding.
  const auto Own =
      std::find_if(Stack.begin(), Stack.end(),
                   [&](const SourceLine &Line) { return Line.File == File; });
  const SourceLine &Line = Own == Stack.end() ? Stack.front() : *Own;
  const std::string Name =
      Line.File == File ? "line "
                        : Line.File.substr(Line.File.rfind('/') + 1) + ":";
  return std::string(What) + Name + std::to_string(Line.Line);
}

std::optional<size_t> distanceToShared(const CallPath &Path,
                                       const Site &Other) {
  // From the outermost call on: the callers that both have, and then two lines
  // of one function.
  size_t A = Path.Callers.size(), B = Other.Stack.size();
  while (A > 0 && B > 0 &&
         isSameLine(Path.Callers[A - 1], Other.Stack[B - 1])) {
    --A;
    --B;
  }
  const bool IsAny = A != Path.Callers.size();
  if (A == 0 || B == 0)
    return IsAny ? std::optional<size_t>(A) : std::nullopt;
  const std::string &Function = Path.Callers[A - 1].Function;
  if (!Function.empty() && Function == Other.Stack[B - 1].Function)
    return A - 1;
  return IsAny ? std::optional<size_t>(A) : std::nullopt;
}

uint64_t backwardsNear(const CallPath &Path, const Recording &Run) {
  uint64_t Hits = 0;
  size_t Nearest = SIZE_MAX;
  for (const Site &S : Run.Sites) {
    if (S.Operation != "backward")
      continue;
    const auto Distance = distanceToShared(Path, S);
    if (!Distance || *Distance > Nearest)
      continue;
    if (*Distance < Nearest)
      Hits = 0;
    Nearest = *Distance;
    Hits += S.Hits;
  }
  return Hits;
}

} // namespace torchtidy::confirm
