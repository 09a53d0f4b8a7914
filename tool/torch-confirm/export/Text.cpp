#include "export/Text.h"
#include "profile/Parts.h"
#include "report/Report.h"
#include "report/Sources.h"
#include "support/Numbers.h"
#include <cmath>
#include <cstdarg>
#include <sstream>

namespace torchtidy::confirm {
namespace {

/// Rows of each table without --details.
constexpr size_t FewRows = 5;
/// What takes less of the time is not worth a look.
constexpr double LeastShareOfTime = 0.05;
constexpr size_t FewFrames = 4;
/// What is reserved on a device, in what is allocated.
constexpr double Fragmented = 1.5;

__attribute__((format(printf, 1, 2))) std::string format(const char *How, ...) {
  char Text[512];
  va_list Arguments;
  va_start(Arguments, How);
  std::vsnprintf(Text, sizeof(Text), How, Arguments);
  va_end(Arguments);
  return Text;
}

std::string percent(double Share) { return format("%.0f %%", 100 * Share); }

std::string secondsText(double Seconds) {
  if (Seconds < 0.001)
    return format("%.0f us", Seconds * 1e6);
  return Seconds < 1 ? format("%.1f ms", Seconds * 1e3)
                     : format("%.1f s", Seconds);
}

std::string signedText(int64_t Bytes) {
  return (Bytes > 0 ? "+" : "") + memoryText(double(Bytes));
}

class ProfileText {
public:
  ProfileText(const Recording &Run, const Profile &Of,
              const ProfileTextOptions &Options)
      : Run(Run), Of(Of), Options(Options) {}

  std::string write() {
    head();
    failure();
    why();
    phases();
    if (Of.CpuPeak)
      peak("PEAK", *Of.CpuPeak);
    if (Of.CudaPeak)
      peak("DEVICE", *Of.CudaPeak);
    times();
    copies();
    network();
    checked();
    return Out.str();
  }

private:
  const Recording &Run;
  const Profile &Of;
  const ProfileTextOptions &Options;
  std::ostringstream Out;
  Sources Lines;

  std::string bold(const std::string &Text) const {
    return Options.Color ? "\033[1m" + Text + "\033[0m" : Text;
  }
  void section(const char *Name, const std::string &Text) {
    Out << '\n' << bold(format("%-8s", Name)) << Text << '\n';
  }
  void row(const std::string &Text) { Out << "        " << Text << '\n'; }

  static std::string place(const SourceLine &Line) {
    return Line.File.empty()
               ? textOf(Line)
               : shortPath(Line.File) + ":" + std::to_string(Line.Line);
  }
  std::string placeAndSource(const SourceLine &Line) {
    const std::string Source = Lines.line(Line.File, Line.Line);
    return place(Line) + (Source.empty() ? "" : "  " + Source);
  }

  void head() {
    Out << "torch-confirm report: "
        << (Run.Command.empty() ? "the program" : shortPath(Run.Command[0]))
        << ' ' << endText(Run) << format(", %.1f s", Run.Seconds)
        << (Run.LibTorch.empty() ? "" : ", LibTorch " + Run.LibTorch) << ", "
        << (Run.CudaDevice.empty() ? "no CUDA device" : Run.CudaDevice) << '\n';
  }

  /// What a program died of comes first.
  void failure() {
    if (!Of.Failure)
      return;
    section("FAILED", bold(failureText(Run, *Of.Failure)));
    const auto &Stack = Run.Sites[Of.Failure->Site].Stack;
    for (size_t I = 0; I < Stack.size(); ++I) {
      if (!Options.Details && I > FewFrames)
        break;
      row((I ? "  called from " : "") + placeAndSource(Stack[I]));
    }
    row("  " + Of.Failure->Type + ": " + Of.Failure->Message);
  }

  void why() {
    section("WHY", bold(Of.Headline));
    const bool Grows = Of.Memory == Trend::Grows;
    size_t Shown = 0;
    for (const Cause &Each : Of.Causes)
      if (Options.Details || Shown++ < 3)
        cause(Each, Grows);
    if (!Options.Details && Of.Causes.size() > 3)
      row(std::to_string(Of.Causes.size() - 3) + " more (--details)");
  }

  void cause(const Cause &Each, bool Grows) {
    row(bold(placeAndSource(Each.Line)));
    size_t Frames = 0;
    for (const SourceLine &Frame : Each.Stack) {
      if (isSameLine(Frame, Each.Line))
        continue;
      if (!Options.Details && Frames++ == FewFrames)
        break;
      row("  called from " + placeAndSource(Frame));
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
               place(lineOf(Run.Sites[*Run.IterationSite])) + "), " +
               grouped(double(Run.IterationCount)) + " in all";
    section("PHASES", Title);
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

  void peak(const char *Name, const PeakProfile &Peak) {
    const std::string Most = memoryText(double(Peak.Highest));
    std::string Text = memoryText(double(Peak.Bytes));
    const bool IsMost = Text == Most;
    Text += " at " + format("%.1f s", Peak.Seconds);
    if (!IsMost)
      Text += ", later at most " + Most;
    Text += ":";
    const char *Separator = " ";
    for (size_t I = 0; I < MemoryKindCount; ++I)
      if (const double Share = double(Peak.ByKind[I]) / double(Peak.Bytes);
          Share >= 0.005) {
        Text += Separator + std::string(nameOf(MemoryKind(I))) + " " +
                percent(Share);
        Separator = ", ";
      }
    section(Name, Text);
    for (size_t I = 0; I < Peak.Lines.size(); ++I) {
      if (!Options.Details && I == FewRows)
        break;
      const LineMemory &Each = Peak.Lines[I];
      row(format("%10s  %4s  ", memoryText(double(Each.Bytes)).c_str(),
                 percent(double(Each.Bytes) / double(Peak.Bytes)).c_str()) +
          placeAndSource(Each.Line));
      if (Options.Details)
        shapes(Each);
    }
    modules(Peak);
    const Moment &At = Run.Moments[Peak.Moment];
    if (At.ResidentBytes >= 0)
      row("the process had " + memoryText(double(At.ResidentBytes)) +
          " resident then" +
          (Run.PeakResidentBytes > 0
               ? ", and " + memoryText(double(Run.PeakResidentBytes)) +
                     " at most"
               : ""));
    if (At.CudaReserved > 0 && At.CudaBytes > 0)
      reserved(Peak, double(At.CudaReserved),
               double(At.CudaReserved) / double(At.CudaBytes));
  }

  /// What the operations of a line are given.
  void shapes(const LineMemory &At) {
    for (const size_t I : At.Sites) {
      const Site &Each = Run.Sites[I];
      std::string Text;
      for (const ShapeCount &Shape : Each.Shapes)
        Text += (Text.empty() ? "" : "; ") + Shape.Text;
      if (!Text.empty())
        row("                  " + Each.Operation + " of " + Text +
            (Each.OtherShapes ? "; others" : ""));
    }
  }

  void reserved(const PeakProfile &Peak, double Bytes, double Times) {
    const bool IsMuch = Times > Fragmented;
    row(format("reserved %s, %.2f times what is allocated%s",
               memoryText(Bytes).c_str(), Times,
               IsMuch ? ": fragmentation" : ""));
    for (size_t I = 0; IsMuch && I < Peak.Varying.size(); ++I) {
      if (!Options.Details && I == FewRows)
        break;
      const VaryingLine &Each = Peak.Varying[I];
      row(format("  of %s sizes or more: ",
                 grouped(double(Each.Kinds)).c_str()) +
          placeAndSource(Each.Line));
    }
  }

  /// Only where there are several: of one it is what stands above.
  void modules(const PeakProfile &Peak) {
    std::string Text;
    for (size_t I = 0; I < Peak.ByModule.size(); ++I) {
      if (!Options.Details && I == FewRows) {
        Text += ", ...";
        break;
      }
      const auto &[Module, Bytes] = Peak.ByModule[I];
      Text += (I ? ", " : "") + Module + " " + memoryText(double(Bytes));
    }
    if (Peak.ByModule.size() > 1)
      row("activations by module: " + Text);
  }

  void times() {
    if (Of.Times.empty() || Run.Seconds <= 0)
      return;
    std::string Text;
    for (size_t I = 0; I < WorkPhaseCount; ++I)
      if (const double Share = Of.SecondsByPhase[I] / Run.Seconds;
          Share >= 0.005)
        Text += (Text.empty() ? "" : ", ") + std::string(nameOf(WorkPhase(I))) +
                " " + percent(Share);
    section("TIME",
            "of " + secondsText(Run.Seconds) + " in operations: " + Text);
    size_t Shown = 0;
    for (const TimeRow &Each : Of.Times) {
      if (!Options.Details &&
          (Shown == FewRows || Each.Share < LeastShareOfTime))
        break;
      ++Shown;
      row(format("%5s  %8s  ", percent(Each.Share).c_str(),
                 secondsText(Each.Seconds).c_str()) +
          Each.Operation + ", " + grouped(double(Each.Hits)) +
          (Each.Hits == 1 ? " time" : " times") +
          (!Each.Waits              ? ""
           : Run.CudaDevice.empty() ? ", would wait for a device"
                                    : ", waits for the device") +
          "  " + placeAndSource(Each.Line));
    }
  }

  void copies() {
    if (Of.Copies.empty())
      return;
    section("COPIES", "between devices and types");
    for (size_t I = 0; I < Of.Copies.size(); ++I) {
      if (!Options.Details && I == FewRows)
        break;
      const CopyRow &Each = Of.Copies[I];
      row(format("%10s  ", memoryText(double(Each.Copies.Bytes)).c_str()) +
          Each.Copies.From + " to " + Each.Copies.To +
          (Each.Copies.Converts ? ", converts" : "") + ", " +
          grouped(double(Each.Copies.Count)) +
          (Each.Copies.Count == 1 ? " time" : " times") +
          (Each.Again ? ", " + grouped(double(Each.Again)) +
                            " times what was copied the time before"
                      : "") +
          "  " + placeAndSource(Each.Line));
    }
  }

  void checked() {
    if (Of.Looked.empty())
      return;
    section("CHECKED", "");
    for (const Checked &Each : Of.Looked) {
      if (Each.IsFine)
        row("[x] " + Each.What);
      else
        row("[!] " + Each.Seen + "  [" + Each.Check + "]\n            " +
            placeAndSource(Each.Line));
    }
  }

  void network() {
    if (Of.Modules.empty())
      return;
    std::map<std::string, std::pair<uint64_t, int64_t>> Kinds;
    for (const NetworkTensor &Each : Run.Network) {
      auto &To = Kinds[std::string(Each.IsBuffer ? "buffers " : "parameters ") +
                       Each.Type + " on " + Each.Device];
      ++To.first;
      To.second += Each.Bytes;
    }
    std::string Text;
    for (const auto &[Kind, What] : Kinds)
      Text += (Text.empty() ? "" : "; ") + std::to_string(What.first) + " " +
              Kind + " (" + memoryText(double(What.second)) + ")";
    section("NETWORK", Text);
    size_t Shown = 0;
    for (const Oddity &Each : Of.Oddities) {
      if (!Options.Details && Shown++ == FewRows) {
        row(std::to_string(Of.Oddities.size() - FewRows) + " more (--details)");
        break;
      }
      row(Each.Text);
    }
    if (Options.Details)
      for (const ModuleRow &Each : Of.Modules)
        row(format("%10s  ",
                   memoryText(double(Each.ParameterBytes + Each.BufferBytes))
                       .c_str()) +
            (Each.Path.empty() ? "(itself)" : Each.Path) +
            (Each.GradientBytes
                 ? ", gradients " + memoryText(double(Each.GradientBytes))
                 : ""));
  }
};

} // namespace

std::string profileText(const Recording &Run, const Profile &Of,
                        const ProfileTextOptions &Options) {
  return ProfileText(Run, Of, Options).write();
}

} // namespace torchtidy::confirm
