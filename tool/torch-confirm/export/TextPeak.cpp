#include "export/TextLayout.h"
#include "profile/Parts.h"
#include "support/Numbers.h"

namespace torchtidy::confirm {
namespace {

/// What is reserved on a device, in what is allocated.
constexpr double Fragmented = 1.5;

/// Writes one peak.
class PeakText {
public:
  PeakText(TextLayout &To, const PeakProfile &Peak)
      : To(To), Run(To.Run), Options(To.Options), Peak(Peak) {}

  void write(const char *Name) {
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
    To.section(Name, Text);
    for (size_t I = 0; I < Peak.Lines.size(); ++I) {
      if (!Options.Details && I == FewRows)
        break;
      const LineMemory &Each = Peak.Lines[I];
      row(format("%10s  %4s  ", memoryText(double(Each.Bytes)).c_str(),
                 percent(double(Each.Bytes) / double(Peak.Bytes)).c_str()) +
          To.placeAndSource(Each.Line));
      if (Options.Details)
        shapes(Each);
    }
    modules();
    const Moment &At = Run.Moments[Peak.Moment];
    if (At.ResidentBytes >= 0)
      row("the process had " + memoryText(double(At.ResidentBytes)) +
          " resident then" +
          (Run.PeakResidentBytes > 0
               ? ", and " + memoryText(double(Run.PeakResidentBytes)) +
                     " at most"
               : ""));
    if (At.CudaReserved > 0 && At.CudaBytes > 0)
      reserved(double(At.CudaReserved),
               double(At.CudaReserved) / double(At.CudaBytes));
  }

private:
  TextLayout &To;
  const Recording &Run;
  const ProfileTextOptions &Options;
  const PeakProfile &Peak;

  void row(const std::string &Text) { To.row(Text); }

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

  void reserved(double Bytes, double Times) {
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
          To.placeAndSource(Each.Line));
    }
  }

  /// Only where there are several: of one it is what stands above.
  void modules() {
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
};

} // namespace

void writePeak(TextLayout &To, const char *Name, const PeakProfile &Peak) {
  PeakText(To, Peak).write(Name);
}

} // namespace torchtidy::confirm
