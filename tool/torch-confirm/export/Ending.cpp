// How the program ended, in words.
#include "export/Text.h"
#include "profile/Parts.h"

namespace torchtidy::confirm {

std::string endText(const Recording &Run) {
  if (Run.TimedOut)
    return "did not end in time (--timeout) and was ended";
  std::string Text =
      Run.Signal ? "was ended by signal " + std::to_string(*Run.Signal)
                 : "ended with " + std::to_string(Run.ExitCode.value_or(0));
  // A program that went on has coped with it.
  if (Run.Signal.value_or(Run.ExitCode.value_or(0)) && failureOf(Run))
    Text += ", out of memory";
  else if (Run.WasKilledForMemory)
    Text += ", by the kernel: out of memory";
  else if (Run.Signal && *Run.Signal == 9)
    Text += " (SIGKILL: by the kernel's out-of-memory killer, or by hand)";
  return Text;
}

std::string failureText(const Recording &Run, const FailedAllocation &Of) {
  const SourceLine Line = lineOf(Run.Sites[Of.Site]);
  char When[32];
  std::snprintf(When, sizeof(When), "%.1f s", Of.Seconds);
  std::string Text = "out of memory at " + textOf(Line) + " after " + When;
  if (Of.Asked)
    Text += ": asked for " + memoryText(double(*Of.Asked));
  if (Of.Moment) {
    const Moment &At = Run.Moments[*Of.Moment];
    const bool OnDevice = Of.IsOnDevice;
    Text += Of.Asked ? " when " : ": ";
    Text += memoryText(double(OnDevice ? At.CudaBytes : At.CpuBytes)) +
            " of tensors " + (OnDevice ? "on the device " : "") + "were alive";
    if (OnDevice && At.CudaReserved > 0)
      Text += ", " + memoryText(double(At.CudaReserved)) + " reserved";
    if (!OnDevice && At.ResidentBytes >= 0)
      Text += ", " + memoryText(double(At.ResidentBytes)) + " resident";
  }
  if (Of.Count > 1)
    Text += "; the last of " + std::to_string(Of.Count) + " times";
  return Text;
}

} // namespace torchtidy::confirm
