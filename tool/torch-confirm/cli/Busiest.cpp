#include "cli/Busiest.h"
#include <iostream>
#include <signal.h>

namespace torchtidy::confirm {

std::optional<trace::TraceData> busiest(const std::string &Path) {
  std::optional<trace::TraceData> Result;
  size_t Number = 0;
  for (const std::string &Each : trace::tracesOf(Path)) {
    std::string Error;
    auto Trace = trace::readTrace(Each, Error);
    if (!Trace) {
      std::cerr << "torch-confirm: warning: " << Error << '\n';
      continue;
    }
    Number += Trace->Operations > 0;
    if (Trace->Operations && kill(static_cast<pid_t>(Trace->ProcessId), 0) == 0)
      std::cerr << "torch-confirm: process " << Trace->ProcessId
                << " that was started by it still runs; of that one counts "
                   "what it has done until now\n";
    if (!Result || Trace->Operations > Result->Operations)
      Result = std::move(Trace);
  }
  if (Number > 1)
    std::cerr << "torch-confirm: " << Number
              << " processes ran operations of LibTorch; the report is about "
                 "the busiest, process "
              << Result->ProcessId << '\n';
  return Result;
}

} // namespace torchtidy::confirm
