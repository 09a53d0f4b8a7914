// sanitizer: memory that is gone, or never was there, as AddressSanitizer
// reports it. A report is about a finding where one of its stacks has a frame
// at the flagged statement, or at a place that a note of the finding names: the
// memory of a vector is freed at the end of its block, and read elsewhere. Of
// tensors over memory of the program's an ordinary run tells it, too
// (Lifetimes.h).
#include "rules/Lifetimes.h"
#include "rules/Rule.h"
#include <algorithm>

namespace torchtidy::confirm {
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

  static bool hasFrameAt(const std::vector<SourceLine> &Stack,
                         const LineRange &Range) {
    return std::any_of(Stack.begin(), Stack.end(), [&](const SourceLine &Line) {
      return isAt(Line, Range);
    });
  }

  static bool isAbout(const SanitizerReport &Report, const Places &Where) {
    std::vector<LineRange> Ranges{Where.known(Where.Finding.Statement)};
    for (const FindingNote &Note : Where.Finding.Notes)
      Ranges.push_back(Where.known(Note.Place));
    return std::any_of(Ranges.begin(), Ranges.end(), [&](const LineRange &R) {
      return hasFrameAt(Report.Use, R) || hasFrameAt(Report.Freed, R) ||
             hasFrameAt(Report.Allocated, R);
    });
  }

  static std::optional<Verdict> ofReports(const Places &Where) {
    if (!Where.Run.has("sanitizer"))
      return std::nullopt;
    const std::vector<SanitizerReport> &All = Where.Run.SanitizerReports;
    const SanitizerReport *First = nullptr;
    uint64_t Number = 0;
    for (const SanitizerReport &Each : All)
      if (isAbout(Each, Where)) {
        First = First ? First : &Each;
        ++Number;
      }
    Verdict V;
    V.Rule = "reports of AddressSanitizer";
    if (!First) {
      V.Sentence = "AddressSanitizer reported nothing about this line";
      if (!All.empty())
        V.Sentence +=
            " (and " + countText(double(All.size()), "report") + " elsewhere)";
      V.Sentence += "; it does not see what LibTorch itself reads, nor whether "
                    "the line ran";
      return V;
    }
    const std::string File = Where.known(Where.Finding.Statement).File;
    V.Result = Outcome::Confirmed;
    V.Number = double(Number);
    V.Unit = "reports";
    V.Sentence = "AddressSanitizer: " + First->Kind;
    if (!First->Access.empty())
      V.Sentence += ", " + First->Access;
    V.Sentence += placeText(" at ", First->Use, File) +
                  placeText(", memory freed at ", First->Freed, File) +
                  placeText(", allocated at ", First->Allocated, File);
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
