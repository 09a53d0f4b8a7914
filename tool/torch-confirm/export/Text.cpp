#include "export/Text.h"
#include "export/TextLayout.h"
#include "profile/Parts.h"
#include "report/Report.h"
#include "support/Numbers.h"

namespace torchtidy::confirm {
namespace {

constexpr size_t FewFrames = 4;

std::string signedText(int64_t Bytes) {
  return (Bytes > 0 ? "+" : "") + memoryText(double(Bytes));
}

/// Writes what comes before the tables.
class ProfileText {
public:
  explicit ProfileText(TextLayout &To)
      : To(To), Run(To.Run), Of(To.Of), Options(To.Options) {}

  void write() {
    head();
    failure();
    why();
    phases();
  }

private:
  TextLayout &To;
  const Recording &Run;
  const Profile &Of;
  const ProfileTextOptions &Options;

  void row(const std::string &Text) { To.row(Text); }

  void head() {
    To.Out << "torch-confirm report: "
           << (Run.Command.empty() ? "the program" : shortPath(Run.Command[0]))
           << ' ' << endText(Run) << format(", %.1f s", Run.Seconds)
           << (Run.LibTorch.empty() ? "" : ", LibTorch " + Run.LibTorch) << ", "
           << (Run.CudaDevice.empty() ? "no CUDA device" : Run.CudaDevice)
           << '\n';
  }

  /// What a program died of comes first.
  void failure() {
    if (!Of.Failure)
      return;
    To.section("FAILED", To.bold(failureText(Run, *Of.Failure)));
    const auto &Stack = Run.Sites[Of.Failure->Site].Stack;
    for (size_t I = 0; I < Stack.size(); ++I) {
      if (!Options.Details && I > FewFrames)
        break;
      row((I ? "  called from " : "") + To.placeAndSource(Stack[I]));
    }
    row("  " + Of.Failure->Type + ": " + Of.Failure->Message);
  }

  void why() {
    To.section("WHY", To.bold(Of.Headline));
    const bool Grows = Of.Memory == Trend::Grows;
    size_t Shown = 0;
    for (const Cause &Each : Of.Causes)
      if (Options.Details || Shown++ < 3)
        cause(Each, Grows);
    if (!Options.Details && Of.Causes.size() > 3)
      row(std::to_string(Of.Causes.size() - 3) + " more (--details)");
  }

  void cause(const Cause &Each, bool Grows) {
    row(To.bold(To.placeAndSource(Each.Line)));
    size_t Frames = 0;
    for (const SourceLine &Frame : Each.Stack) {
      if (isSameLine(Frame, Each.Line))
        continue;
      if (!Options.Details && Frames++ == FewFrames)
        break;
      row("  called from " + To.placeAndSource(Frame));
    }
    std::string Text = Grows ? "  grew by " : "  holds ";
    Text += memoryText(double(Each.Bytes));
    if (Each.Nodes)
      Text += " and " + grouped(double(Each.Nodes)) + " graph nodes";
    Text += ", " + percent(Each.Share) +
            (Grows ? " of the growth" : " of the peak");
    if (Grows)
      Text += "; " + memoryText(Each.BytesPerUnit) + " per " + Of.Unit +
              "; without it at most " + memoryText(double(Each.PeakWithout));
    row(Text);
    largest(Each);
    if (!Each.Cure.empty())
      row("  cure: " + Each.Cure +
          (Each.Check.empty() ? "" : "  [" + Each.Check + "]"));
  }

  /// What the memory is that it holds.
  void largest(const Cause &Each) {
    std::string Text;
    size_t Number = 0;
    for (const size_t Site : Each.Sites) {
      const SourceLine Line = lineOf(Run.Sites[Site]);
      const std::string One = Run.Sites[Site].Operation + " " + textOf(Line);
      if (isSameLine(Line, Each.Line) && Each.Sites.size() == 1)
        continue;
      if (Text.find(One) != std::string::npos)
        continue;
      if (Number++ == 4) {
        Text += ", ...";
        break;
      }
      Text += (Text.empty() ? "" : ", ") + One;
    }
    if (!Text.empty())
      row("  of " + Text);
  }

  void phases() {
    if (Of.Iterations.empty())
      return;
    std::string Title = "per iteration";
    if (Run.IterationSite && *Run.IterationSite < Run.Sites.size())
      Title += " (each ends at " +
               placeText(lineOf(Run.Sites[*Run.IterationSite])) + "), " +
               grouped(double(Run.IterationCount)) + " in all";
    To.section("PHASES", Title);
    row(format("%-18s %10s %11s %11s %11s %10s %10s %9s", "", "before",
               "forward", "backward", "step", "after", "peak", "time"));
    for (const IterationRow &Each : Of.Iterations) {
      const Iteration &I = Each.Of;
      const bool HasBackward = I.BackwardEnd > 0;
      const std::string Which =
          Each.Which + " (" + grouped(double(I.Number)) + ")";
      row(format(
          "%-18s %10s %11s %11s %11s %10s %10s %9s", Which.c_str(),
          memoryText(double(I.BytesBefore)).c_str(),
          HasBackward ? signedText(I.BytesAtBackward - I.BytesBefore).c_str()
                      : "",
          HasBackward
              ? signedText(I.BytesAfterBackward - I.BytesAtBackward).c_str()
              : "",
          signedText(I.BytesAfter -
                     (HasBackward ? I.BytesAfterBackward : I.BytesBefore))
              .c_str(),
          memoryText(double(I.BytesAfter)).c_str(),
          memoryText(double(I.Peak)).c_str(),
          secondsText(I.End - I.Begin).c_str()));
    }
    epochs();
    if (Of.EvaluationHits)
      row("evaluation: at most " + memoryText(double(Of.EvaluationPeak)) +
          " alive, " + grouped(double(Of.EvaluationHits)) + " operations");
  }

  void epochs() {
    const size_t Size = Of.Epochs.size();
    for (size_t I = 0; I < Size; ++I) {
      // The first ones and the last one.
      if (!Options.Details && I + 2 > FewRows && I + 1 < Size)
        continue;
      const EpochRow &Each = Of.Epochs[I];
      row(format("epoch %-12zu %10s after, %10s peak, %9s; iterations %s to %s",
                 I + 1, memoryText(double(Each.BytesAfter)).c_str(),
                 memoryText(double(Each.Peak)).c_str(),
                 secondsText(Each.End - Each.Begin).c_str(),
                 grouped(double(Each.First)).c_str(),
                 grouped(double(Each.Last)).c_str()));
    }
  }
};

} // namespace

std::string profileText(const Recording &Run, const Profile &Of,
                        const ProfileTextOptions &Options) {
  TextLayout To(Run, Of, Options);
  ProfileText(To).write();
  if (Of.CpuPeak)
    writePeak(To, "PEAK", *Of.CpuPeak);
  if (Of.CudaPeak)
    writePeak(To, "DEVICE", *Of.CudaPeak);
  writeTables(To);
  return To.Out.str();
}

} // namespace torchtidy::confirm
