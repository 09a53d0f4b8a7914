// How the program ended, and the allocation that failed.
#include "profile/Parts.h"
#include "profile/Text.h"
#include "trace/OutOfMemory.h"
#include <cstdlib>

namespace torchtidy::confirm {

/// Of LibTorch's messages: "you tried to allocate 67108864 bytes" of the CPU's
/// allocator, "Tried to allocate 2.00 GiB" of the CUDA one.
std::optional<int64_t> bytesAskedFor(const std::string &Message) {
  const std::string Before = "ried to allocate ";
  const size_t At = Message.find(Before);
  if (At == std::string::npos)
    return std::nullopt;
  const char *Begin = Message.c_str() + At + Before.size();
  char *End = nullptr;
  const double Number = std::strtod(Begin, &End);
  if (End == Begin || !(Number >= 0) || *End != ' ')
    return std::nullopt;
  const std::string Unit(End + 1);
  double Scale = 1;
  for (const char *Each : {"bytes", "KiB", "MiB", "GiB", "TiB"}) {
    if (Unit.rfind(Each, 0) == 0 && Number * Scale < 9e18)
      return int64_t(Number * Scale);
    Scale *= 1024;
  }
  return std::nullopt;
}

/// The last one that was told to the program: what LibTorch catches itself, to
/// do with less, is none.
std::optional<FailedAllocation> failureOf(const Recording &Run) {
  const ThrownCount *Last = nullptr;
  FailedAllocation Result;
  for (size_t I = 0; I < Run.Sites.size(); ++I)
    for (const ThrownCount &Each : Run.Sites[I].Thrown) {
      if (!trace::isOutOfMemory(Each.Type.c_str(), Each.Message.c_str()))
        continue;
      Result.Count += Each.Count;
      if (Last && Each.Seconds < Last->Seconds)
        continue;
      Last = &Each;
      Result.Site = I;
    }
  if (!Last)
    return std::nullopt;
  Result.Seconds = Last->Seconds;
  Result.Type = Last->Type;
  Result.Message = Last->Message;
  Result.Asked = bytesAskedFor(Last->Message);
  for (size_t I = 0; I < Run.Moments.size(); ++I)
    if (Run.Moments[I].Kind == MomentKind::Failure)
      Result.Moment = I;
  return Result;
}

std::string endText(const Recording &Run) {
  if (Run.TimedOut)
    return "did not end in time (--timeout) and was ended";
  std::string Text = Run.Signal ? "was ended by signal " +
                                      std::to_string(*Run.Signal)
                                : "ended with " +
                                      std::to_string(Run.ExitCode.value_or(0));
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
    // What failed is of one of the two.
    const bool OnDevice = Of.Message.find("CUDA") != std::string::npos;
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
