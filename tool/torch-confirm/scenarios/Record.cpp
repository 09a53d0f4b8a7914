#include "scenarios/Record.h"
#include "recording/FromTrace.h"
#include "support/Errors.h"
#include "trace/TraceFile.h"

namespace fs = std::filesystem;

namespace torchtidy::confirm::scenarios {

Recorded Recorder::record(
    const std::vector<std::string> &Command, unsigned Seconds,
    const std::vector<std::pair<std::string, std::string>> &Environment) const {
  const fs::path Trace = Work / "run.trace";
  for (const std::string &Old : trace::tracesOf(Trace.string()))
    fs::remove(Old);
  CaptureSettings How = limitedTo(Seconds);
  How.Environment = {{"LD_PRELOAD", Probe},
                     {"TORCH_CONFIRM_TRACE", Trace.string()}};
  How.Environment.insert(How.Environment.end(), Environment.begin(),
                         Environment.end());

  Recorded Result;
  Result.Run = capture(Command, How);
  if (!Result.Run.succeeded())
    return Result;
  std::string Error;
  const auto Data = trace::readTrace(Trace.string(), Error);
  if (!Data)
    throw UserError(Error);
  Result.What = recordingOf(*Data);
  Result.What.Command = Command;
  Result.What.ExitCode = Result.Run.Code;
  return Result;
}

} // namespace torchtidy::confirm::scenarios
