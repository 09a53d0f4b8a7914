// sanitizer: memory that is gone, as AddressSanitizer reports it.
//
// A report is about a finding where one of its stacks has a frame at a place of
// the finding. That proves nothing yet: each caller of what goes wrong
// elsewhere has a frame, too. It proves the finding where
//
// - it is of a kind that such a mistake has: memory that was freed, or a
//   variable whose scope or function has ended. What lies beyond a block that
//   is there, or is freed twice, is another mistake;
// - the innermost of the user's frames that freed the memory is where the
//   finding says that it ends, and it is the memory that the finding is about:
//   see whyNoProof().
//
// Who uses the memory is told, and decides nothing: helpers of the user's read
// for others, and LibTorch is not built with the sanitizer.
//
// Of tensors over memory of the program's an ordinary run tells it, too
// (Lifetimes.h).
#include "rules/Lifetimes.h"
#include "rules/Rule.h"
#include <algorithm>

namespace torchtidy::confirm {

/// Where the memory of a finding is made and ends.
struct PlacesOfMemory {
  LineRange Statement;
  /// The memory may be that of a temporary of the statement.
  bool MayBeTemporary = true;
  /// The memory is of an owner that ends with its scope, or may be.
  bool MayEndWithScope = true;
  /// By the notes of the finding.
  std::vector<LineRange> Ends, Declared, Read;
  /// Notes of which the file does not say what role they have.
  std::vector<LineRange> Unknown;
};

static bool isStack(const SanitizerReport &Report) {
  return Report.Kind == "stack-use-after-return" ||
         Report.Kind == "stack-use-after-scope";
}

static PlacesOfMemory placesOf(const Places &Where) {
  using K = FindingKind;
  const DiagnosedFinding &Finding = Where.Finding;
  PlacesOfMemory Result;
  Result.Statement = Where.known(Finding.Statement);
  const auto IsOneOf = [&](std::initializer_list<K> Kinds) {
    return Finding.Kind &&
           std::find(Kinds.begin(), Kinds.end(), *Finding.Kind) != Kinds.end();
  };
  Result.MayBeTemporary =
      !IsOneOf({K::BlobOwnerLeavesScope, K::BlobOwnerIsDeleted,
                K::BlobOwnerReallocates});
  Result.MayEndWithScope =
      !IsOneOf({K::BlobOwnerIsTemporary, K::BlobOwnerIsDeleted,
                K::BlobOwnerReallocates});
  for (const FindingNote &Note : Finding.Notes) {
    const LineRange Place = Where.known(Note.Place);
    if (!Place.isKnown())
      continue;
    // What is before the statement does not read what it makes.
    const bool MayDeclare = Place.File == Result.Statement.File &&
                            Place.First <= Result.Statement.First;
    // That of a temporary is in the statement, and other temporaries with it.
    const bool IsInStatement =
        isAt({Place.File, Place.First, ""}, Result.Statement);
    if (!Note.Role && !IsInStatement)
      Result.Unknown.push_back(Place);
    if (Note.Role == NoteRole::MemoryEnds && !IsInStatement)
      Result.Ends.push_back(Place);
    if (Note.Role == NoteRole::Declared || (!Note.Role && MayDeclare))
      Result.Declared.push_back(Place);
    if (Note.Role == NoteRole::Read || !Note.Role)
      Result.Read.push_back(Place);
  }
  return Result;
}

static bool isAtAny(const SourceLine &Line,
                    const std::vector<LineRange> &Ranges) {
  return std::any_of(Ranges.begin(), Ranges.end(),
                     [&](const LineRange &R) { return isAt(Line, R); });
}

/// The first frame in one of the ranges; null where there is none.
static const SourceLine *frameAt(const std::vector<SourceLine> &Stack,
                                 const std::vector<LineRange> &Ranges) {
  const auto It =
      std::find_if(Stack.begin(), Stack.end(), [&](const SourceLine &Line) {
        return isAtAny(Line, Ranges);
      });
  return It == Stack.end() ? nullptr : &*It;
}

/// "load(long)" and "load" are one: runtimes give inlined functions no
/// parameters.
static bool isSameFunction(const SourceLine &A, const SourceLine &B) {
  const auto IsNameOf = [](const std::string &Short, const std::string &Long) {
    return Long == Short || startsWith(Long, (Short + "(").c_str());
  };
  return A.File == B.File && !A.Function.empty() && !B.Function.empty() &&
         (IsNameOf(A.Function, B.Function) || IsNameOf(B.Function, A.Function));
}

/// The innermost of the user's frames. A destructor is not asked for by its
/// name: its caller is where the object ends.
static const SourceLine *whereItEnds(const std::vector<SourceLine> &Freed) {
  const auto It =
      std::find_if(Freed.begin(), Freed.end(), [](const SourceLine &Line) {
        return Line.Function.find("::~") == std::string::npos;
      });
  return It == Freed.end() ? nullptr : &*It;
}

/// Whether the variable of a stack is that of the finding.
static std::string whyNotOnStack(const SanitizerReport &Report,
                                 const PlacesOfMemory &Of) {
  if (Report.Allocated.empty())
    return "the report does not say whose variable that is";
  const SourceLine &Variable = Report.Allocated.front();
  if (Of.MayEndWithScope && isAtAny(Variable, Of.Declared))
    return "";
  if (Of.MayBeTemporary && isAt(Variable, Of.Statement))
    return "";
  // Some runtimes know no line of an object without a name. It is one of this
  // function's, and is used where the finding says.
  if (Of.MayBeTemporary && Report.Allocated.size() == 1)
    if (const SourceLine *Use = frameAt(Report.Use, Of.Read);
        Use && Use == &Report.Use.front() && isSameFunction(*Use, Variable) &&
        Of.Statement.First >= Variable.Line)
      return "";
  return "it is of a variable that the finding does not name";
}

/// Notes without roles: one is where the memory ends, where another one is
/// where it is used since. One alone may be the place of a use, which frees
/// other memory.
static bool endsAtUnknown(const SourceLine &End, const SanitizerReport &Report,
                          const PlacesOfMemory &Of) {
  return std::any_of(Of.Unknown.begin(), Of.Unknown.end(),
                     [&](const LineRange &Note) {
                       if (!isAt(End, Note))
                         return false;
                       const SourceLine *Use = frameAt(Report.Use, Of.Unknown);
                       return Use && !isAt(*Use, Note);
                     });
}

/// Empty for a proof. Else what else the report may be of.
static std::string whyNoProof(const SanitizerReport &Report,
                              const PlacesOfMemory &Of) {
  if (isStack(Report))
    return Of.MayBeTemporary || Of.MayEndWithScope
               ? whyNotOnStack(Report, Of)
               : "the finding is about memory on the heap";
  if (Report.Kind != "heap-use-after-free")
    return "a mistake with memory that is gone is reported as use after free, "
           "after return or after scope";
  const SourceLine *End = whereItEnds(Report.Freed);
  if (!End)
    return "the report does not say where the memory was freed; run with "
           "ASAN_OPTIONS=fast_unwind_on_malloc=0";
  // The statement that ends this memory and no other.
  if (isAtAny(*End, Of.Ends) || endsAtUnknown(*End, Report, Of))
    return "";
  // A statement may also free what it gives another value: a temporary is made
  // there.
  if (Of.MayBeTemporary && isAt(*End, Of.Statement)) {
    if (frameAt(Report.Allocated, {Of.Statement}))
      return "";
    return Report.Allocated.empty()
               ? "the report does not say where the memory was allocated; run "
                 "with ASAN_OPTIONS=fast_unwind_on_malloc=0"
               : "the memory was not allocated in this statement, so it is no "
                 "temporary of it";
  }
  // Of an owner that ends with its scope no line is known where that is. It is
  // what its declaration has made, and what the function frees that has it.
  const SourceLine *Made = frameAt(Report.Allocated, Of.Declared);
  if (!Of.MayEndWithScope)
    return "the memory was not freed where that of the finding ends";
  if (!Made)
    return "the memory was not allocated where its owner is declared, so "
           "whether it is that owner's is not known";
  if (!isSameFunction(*Made, *End) ||
      (End->File == Of.Statement.File && End->Line < Of.Statement.First))
    return "the memory was not freed where the scope of its owner ends";
  return "";
}

/// ", freed at helper.h:3, below line 12": the innermost place, and by which
/// one of the finding's file it came there.
static std::string innermostText(const char *What,
                                 const std::vector<SourceLine> &Stack,
                                 const std::string &File) {
  if (Stack.empty())
    return "";
  std::string Result = placeText(What, {Stack.front()}, File);
  if (Stack.front().File != File)
    if (std::string Own = placeText(", below ", Stack, File);
        Own.find(", below line ") == 0)
      Result += Own;
  return Result;
}

static std::string textOf(const SanitizerReport &Report,
                          const std::string &File) {
  return Report.Kind + (Report.Access.empty() ? "" : ", " + Report.Access) +
         innermostText(" at ", Report.Use, File) +
         innermostText(", memory freed at ", Report.Freed, File) +
         innermostText(isStack(Report) ? ", of a variable at "
                                       : ", allocated at ",
                       Report.Allocated, File);
}

/// One of its stacks has a frame at a place of the finding.
static bool isAbout(const SanitizerReport &Report, const Places &Where) {
  std::vector<LineRange> Ranges{Where.known(Where.Finding.Statement)};
  for (const FindingNote &Note : Where.Finding.Notes)
    Ranges.push_back(Where.known(Note.Place));
  return frameAt(Report.Use, Ranges) || frameAt(Report.Freed, Ranges) ||
         frameAt(Report.Allocated, Ranges);
}

namespace {

class Sanitizer : public Rule {
public:
  std::string evidence() const override { return "sanitizer"; }
  std::vector<std::string> needs() const override { return {}; }
  /// Reports have stacks of their own.
  bool needsStacks() const override { return false; }

  Verdict judge(const Places &Where) const override {
    auto Reported = ofReports(Where);
    if (Reported && Reported->Result == Outcome::Confirmed)
      return *std::move(Reported);
    const std::optional<Verdict> Seen = judgeLifetime(Where);
    if (Seen && (Seen->Result == Outcome::Confirmed || !Reported))
      return *Seen;
    if (Reported)
      return *std::move(Reported);
    Verdict V;
    V.Iterations = Where.iterations();
    V.Sentence = "the line ran, " +
                 countText(double(V.Iterations), "iteration") + "; " + advice();
    V.Rule = "needs a report";
    return V;
  }

  std::optional<Verdict> judgeUnseen(const Places &Where) const override {
    if (auto V = ofReports(Where))
      return V;
    if (!Where.isFileKnown())
      return std::nullopt;
    Verdict V;
    V.Sentence = Where.unseenAloneText() + "; " + advice();
    V.Rule = "needs a report";
    return V;
  }

private:
  static std::string advice() {
    return "only a build with -fsanitize=address can tell: run that, or give "
           "its report with --sanitizer-report";
  }

  static std::optional<Verdict> ofReports(const Places &Where) {
    if (!Where.Run.has("sanitizer"))
      return std::nullopt;
    const std::vector<SanitizerReport> &All = Where.Run.SanitizerReports;
    const std::string File = Where.known(Where.Finding.Statement).File;
    const PlacesOfMemory Of = placesOf(Where);
    const SanitizerReport *First = nullptr, *Near = nullptr;
    uint64_t Number = 0;
    for (const SanitizerReport &Each : All) {
      if (whyNoProof(Each, Of).empty()) {
        First = First ? First : &Each;
        ++Number;
      } else if (isAbout(Each, Where)) {
        Near = Near ? Near : &Each;
      }
    }
    Verdict V;
    V.Rule = "reports of AddressSanitizer";
    if (!First && Near) {
      V.Sentence = "AddressSanitizer: " + textOf(*Near, File) +
                   "; no proof of this finding: " + whyNoProof(*Near, Of);
      return V;
    }
    if (!First) {
      V.Sentence = "AddressSanitizer reported nothing about this line";
      if (!All.empty())
        V.Sentence +=
            " (and " + countText(double(All.size()), "report") + " elsewhere)";
      V.Sentence += "; it does not see what LibTorch itself reads, nor whether "
                    "the line ran";
      return V;
    }
    V.Result = Outcome::Confirmed;
    V.Number = double(Number);
    V.Unit = "reports";
    V.Sentence = "AddressSanitizer: " + textOf(*First, File);
    if (Number > 1)
      V.Sentence += ", " + countText(double(Number), "report");
    V.Cost = CostKind::WrongResult;
    V.CostAmount = double(Number);
    V.CostText = "wrong results or a crash";
    return V;
  }
};

const RegisterRule<Sanitizer> RegisterSanitizer;

} // namespace
} // namespace torchtidy::confirm
