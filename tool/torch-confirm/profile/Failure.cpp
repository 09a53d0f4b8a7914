// The allocation that failed.
#include "profile/Parts.h"
#include "trace/OutOfMemory.h"
#include <cstdlib>

namespace torchtidy::confirm {

/// "CUDA out of memory. ..."
static bool namesDevice(const std::string &Message) {
  return Message.find("CUDA") != std::string::npos;
}

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
  Result.IsOnDevice = namesDevice(Last->Message);
  for (size_t I = 0; I < Run.Moments.size(); ++I)
    if (Run.Moments[I].Kind == MomentKind::Failure)
      Result.Moment = I;
  return Result;
}

} // namespace torchtidy::confirm
