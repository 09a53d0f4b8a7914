#include "export/TextLayout.h"
#include "profile/Parts.h"
#include "support/Numbers.h"
#include <map>

namespace torchtidy::confirm {
namespace {

/// What takes less of the time is not worth a look.
constexpr double LeastShareOfTime = 0.05;
/// A device that computes less than four fifths of the time waits for the host.
constexpr double MuchIdle = 0.2;

class TablesText {
public:
  explicit TablesText(TextLayout &To)
      : To(To), Run(To.Run), Of(To.Of), Options(To.Options) {}

  void write() {
    times();
    copies();
    network();
    checked();
  }

private:
  TextLayout &To;
  const Recording &Run;
  const Profile &Of;
  const ProfileTextOptions &Options;

  void row(const std::string &Text) { To.row(Text); }

  void idle() {
    for (const DeviceBusy &Each : Of.Devices)
      row(format(
          "device %u ran no kernel for %s of %s%s%s", Each.Index,
          percent(1 - Each.Share).c_str(), secondsText(Each.Seconds).c_str(),
          1 - Each.Share > MuchIdle ? ": the host does not keep it busy" : "",
          Each.IsShared ? " (other programs used it, too)" : ""));
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
    To.section("TIME",
               "of " + secondsText(Run.Seconds) + " in operations: " + Text);
    idle();
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
          "  " + To.placeAndSource(Each.Line));
    }
  }

  void copies() {
    if (Of.Copies.empty())
      return;
    To.section("COPIES", "between devices and types");
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
          "  " + To.placeAndSource(Each.Line));
    }
  }

  void network() {
    if (Of.Modules.empty())
      return;
    std::map<std::string, std::pair<uint64_t, int64_t>> Kinds;
    for (const NetworkTensor &Each : Run.Network) {
      auto &Sum =
          Kinds[std::string(Each.IsBuffer ? "buffers " : "parameters ") +
                Each.Type + " on " + Each.Device];
      ++Sum.first;
      Sum.second += Each.Bytes;
    }
    std::string Text;
    for (const auto &[Kind, What] : Kinds)
      Text += (Text.empty() ? "" : "; ") + std::to_string(What.first) + " " +
              Kind + " (" + memoryText(double(What.second)) + ")";
    To.section("NETWORK", Text);
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
                 : "") +
            (Each.StateBytes
                 ? ", optimizer " + memoryText(double(Each.StateBytes))
                 : ""));
  }

  void checked() {
    if (Of.Looked.empty())
      return;
    To.section("CHECKED", "");
    for (const Checked &Each : Of.Looked) {
      if (Each.IsFine)
        row("[x] " + Each.What);
      else
        row("[!] " + Each.Seen + "  [" + Each.Check + "]\n            " +
            To.placeAndSource(Each.Line));
    }
  }
};

} // namespace

void writeTables(TextLayout &To) { TablesText(To).write(); }

} // namespace torchtidy::confirm
