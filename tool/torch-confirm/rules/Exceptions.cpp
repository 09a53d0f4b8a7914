// exception: an operation of LibTorch that throws. It does so at the flagged
// line, or at one that a note of the finding names: a parameter that is no leaf
// is made here, and the optimizer that throws is made there.
#include "rules/Messages.h"
#include "rules/Rule.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

struct Thrown {
  uint64_t Number = 0, Hits = 0;
  const Site *Where = nullptr;
  /// One that says something else than what the finding speaks of.
  const ThrownCount *Other = nullptr;
};

/// What a leaf forbids is thrown by the operation at the flagged line, and by
/// none of a function that it calls.
bool isOfItsOwnLine(std::optional<FindingKind> Kind) {
  return Kind == FindingKind::LeafIsWritten ||
         Kind == FindingKind::LeafIsWrittenThroughView ||
         Kind == FindingKind::LeafIsResized;
}

Thrown thrownOn(const std::vector<CallPath> &Paths,
                std::optional<FindingKind> Kind,
                const LineRange *Own = nullptr) {
  Thrown Result;
  uint64_t Most = 0;
  for (const Site *S : sitesOf(Paths)) {
    for (const ThrownCount &Each : S->Thrown)
      if (!isMeant(Kind, Each.Message))
        Result.Other = &Each;
    const uint64_t Here = countMeant(Kind, *S);
    if (!Here)
      continue;
    if (Own && Own->isKnown() &&
        (S->Stack.empty() || !isAt(S->Stack.front(), *Own))) {
      Result.Other = &S->Thrown.front();
      continue;
    }
    Result.Number += Here;
    Result.Hits += S->Hits;
    if (Here > Most) {
      Most = Here;
      Result.Where = S;
    }
  }
  return Result;
}

bool isOfWeights(std::optional<FindingKind> Kind) {
  return Kind == FindingKind::StaleThrows || Kind == FindingKind::StaleUnknown;
}

bool isOfSaved(std::optional<FindingKind> Kind) {
  return Kind == FindingKind::SavedResultIsWritten ||
         Kind == FindingKind::SavedOperandIsWritten;
}

template <typename Number>
uint64_t sum(const std::vector<CallPath> &Paths, Number Site::*Of) {
  uint64_t Result = 0;
  for (const Site *S : sitesOf(Paths))
    Result += S->*Of;
  return Result;
}

/// The message is that of the mistake, and is about another tensor than the one
/// that the finding speaks of. Empty where it is not.
std::string otherTensor(const Thrown &Seen, const Places &Where) {
  const auto &Kind = Where.Finding.Kind;
  if (isOfWeights(Kind) && !Seen.Where->StaleLeaves)
    return "what was written is no weight that this backward() comes to";
  if (isOfSaved(Kind) && !sum(Where.Statement, &Site::SavedWrites))
    return "that the line has written the tensor of which it speaks is not "
           "known: other operations may have";
  if (Kind == FindingKind::HalfOperand && !Seen.Where->HalvesOfAutocast)
    return "none of its operands in half precision was made under autocast, "
           "as far as that is known";
  return "";
}

bool isOfGradMode(std::optional<FindingKind> Kind) {
  return Kind == FindingKind::GradModeNotRestored ||
         Kind == FindingKind::GradModeGuardLasts;
}

/// A mode that nobody switches on again is off in all passes from then on.
constexpr double ShareOfModeThatIsOff = 0.5;

uint64_t hitsOf(const std::vector<CallPath> &Paths) {
  uint64_t Result = 0;
  for (const Site *S : sitesOf(Paths))
    Result = std::max(Result, S->Hits);
  return Result;
}

Verdict ofSomeOnly(const Thrown &Seen, uint64_t Hits, unsigned Line) {
  Verdict V;
  V.Rule = "passes that throw";
  V.Unit = "exceptions";
  V.Iterations = Hits;
  V.Number = double(Seen.Number);
  V.Sentence = "line " + std::to_string(Line) + " threw " +
               numberText(double(Seen.Number)) + " of " +
               countText(double(Hits), "time") +
               ": with grad mode off for good all of them would";
  return V;
}

/// Of mistakes that change the result without an error: what it is that only a
/// run without the mistake shows. Empty for others.
std::string silentEffect(const DiagnosedFinding &Finding) {
  if (Finding.Kind == FindingKind::NonLeafIgnored ||
      Finding.Kind == FindingKind::NonLeafRebound ||
      Finding.Kind == FindingKind::InferenceTrained)
    return "that step() changes nothing";
  if (Finding.Kind == FindingKind::StaleSilent ||
      Finding.Kind == FindingKind::StaleUnknown)
    return "that gradients are computed with other weights";
  return "";
}

/// Tensors on two devices, of which the run had one.
bool needsDevice(const Places &Where) {
  const auto &Kind = Where.Finding.Kind;
  return Where.Run.CudaDevice.empty() &&
         (Kind == FindingKind::MismatchInput ||
          Kind == FindingKind::MismatchOperands ||
          Kind == FindingKind::MismatchModule);
}

class ExceptionRule : public Rule {
public:
  std::string evidence() const override { return "exception"; }
  std::vector<std::string> needs() const override {
    return {"operations", "exceptions"};
  }

  Verdict judge(const Places &Where) const override {
    const auto &Kind = Where.Finding.Kind;
    const LineRange Own = Where.known(Where.Finding.Statement);
    const Thrown Here =
        thrownOn(Where.Statement, Kind, isOfItsOwnLine(Kind) ? &Own : nullptr);
    if (Here.Number)
      return ofThrown(Here, Where);
    bool AllNotesRan = true;
    for (const FindingNote &Note : Where.Finding.Notes) {
      const std::vector<CallPath> Paths = Where.paths(Where.known(Note.Place));
      if (const Thrown There = thrownOn(Paths, Kind); There.Number) {
        if (const uint64_t Hits = isOfGradMode(Kind) ? hitsOf(Paths) : 0;
            double(There.Number) < ShareOfModeThatIsOff * double(Hits))
          return ofSomeOnly(There, Hits, Note.Place.First);
        return ofThrown(There, Where, Note.Place.First);
      }
      AllNotesRan &= !Paths.empty();
    }
    Verdict V;
    V.Iterations = Where.iterations();
    V.Number = 0;
    V.Unit = "exceptions";
    V.Rule = "no exception";
    if (Where.Statement.empty() &&
        (Where.Finding.Notes.empty() || !AllNotesRan)) {
      // A guard or an assignment runs no operation.
      V.Number.reset();
      V.Sentence = Where.unseenText();
    } else if (const std::string Effect = silentEffect(Where.Finding);
               !Effect.empty()) {
      V.Number.reset();
      V.Sentence =
          (Here.Other ? "what was thrown at this line is something else: \"" +
                            Here.Other->Message + "\"; "
                      : "the line ran and nothing was thrown, as the finding "
                        "says; ") +
          Effect + " shows only beside a run without the mistake";
      V.Rule = "needs a run without the mistake";
    } else if (needsDevice(Where)) {
      V.Number.reset();
      V.Result = Outcome::NotMeasurable;
      V.Sentence =
          "the line ran on the CPU alone, where all tensors are on one "
          "device";
      V.Rule = "needs a device";
    } else if (!AllNotesRan) {
      V.Sentence = "nothing was thrown at this line, " +
                   countText(double(V.Iterations), "iteration") +
                   "; of another place that the finding names nothing was seen";
    } else {
      V.Result = Outcome::Refuted;
      V.Sentence = Here.Other ? "what was thrown there is something else: \"" +
                                    Here.Other->Message + "\", "
                   : Where.Statement.empty()
                       ? "the places that the finding names ran and nothing "
                         "was thrown, "
                       : "the line ran and nothing was thrown, ";
      V.Sentence += countText(double(V.Iterations), "iteration");
    }
    return V;
  }

  /// Where modules are registered and optimizers made no operation runs; but
  /// what is thrown there is seen.
  std::optional<Verdict> judgeUnseen(const Places &Where) const override {
    for (const FindingNote &Note : Where.Finding.Notes) {
      const auto There =
          thrownOn(Where.paths(Where.known(Note.Place)), Where.Finding.Kind);
      if (There.Number)
        return ofThrown(There, Where, Note.Place.First);
    }
    if (!Where.isFileKnown())
      return std::nullopt;
    Verdict V;
    V.Rule = "no exception";
    V.Sentence =
        Where.ran().State == LineState::Ran
            ? "the line ran and nothing was thrown at it, but no operation of "
              "it was seen that could have"
            : "nothing was thrown at this line, and no operation of it was "
              "seen: whether it ran is not known";
    return V;
  }

private:
  static Verdict ofThrown(const Thrown &Seen, const Places &Where,
                          unsigned Line = 0) {
    Verdict V = confirmed(Seen, Where.Finding, Line);
    const std::string Other = otherTensor(Seen, Where);
    if (Other.empty())
      return V;
    Verdict Open;
    Open.Rule = "the tensor that an exception is about";
    Open.Iterations = V.Iterations;
    Open.Number = V.Number;
    Open.Unit = V.Unit;
    Open.Sentence = V.Sentence + "; " + Other;
    return Open;
  }

  static Verdict confirmed(const Thrown &Seen, const DiagnosedFinding &Finding,
                           unsigned Line = 0) {
    Line = Line ? Line : Finding.Line;
    Verdict V;
    V.Result = Outcome::Confirmed;
    V.Rule = "exceptions that leave LibTorch";
    V.Number = double(Seen.Number);
    V.Unit = "exceptions";
    V.Iterations = Seen.Hits;
    const bool IsOperation = Seen.Where->Operation != "throw";
    V.Sentence = (IsOperation ? Seen.Where->Operation + " threw "
                              : std::string("LibTorch threw ")) +
                 countText(double(Seen.Number), "exception") + " at line " +
                 std::to_string(Line);
    if (IsOperation)
      V.Sentence += " in " + countText(double(Seen.Hits), "call");
    for (const ThrownCount &Each : Seen.Where->Thrown) {
      if (!isMeant(Finding.Kind, Each.Message))
        continue;
      V.Sentence += ": " + Each.Type;
      if (!Each.Message.empty())
        V.Sentence += ", \"" + Each.Message + "\"";
      break;
    }
    V.Cost = CostKind::WrongResult;
    V.CostAmount = double(Seen.Number);
    V.CostText = "what the operation was to do is not done";
    return V;
  }
};

const RegisterRule<ExceptionRule> RegisterExceptionRule;

} // namespace
} // namespace torchtidy::confirm
