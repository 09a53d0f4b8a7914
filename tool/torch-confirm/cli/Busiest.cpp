#include "cli/Busiest.h"
#include <algorithm>
#include <iostream>
#include <signal.h>

namespace torchtidy::confirm {

namespace {

/// All of them; Number: how many ran operations.
std::vector<trace::TraceData> readAll(const std::string &Path, size_t Most,
                                      size_t &Number) {
  std::vector<trace::TraceData> Result;
  Number = 0;
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
    if (!Trace->Operations && !Result.empty())
      continue;
    // Of two that did as much the first one.
    const auto At =
        std::find_if(Result.begin(), Result.end(), [&](const auto &Before) {
          return Before.Operations < Trace->Operations;
        });
    Result.insert(At, std::move(*Trace));
    if (Result.size() > Most ||
        (Result.size() > 1 && !Result.back().Operations))
      Result.pop_back();
  }
  return Result;
}

} // namespace

std::vector<trace::TraceData> tracesByWork(const std::string &Path,
                                           size_t Most) {
  size_t Number = 0;
  std::vector<trace::TraceData> Result = readAll(Path, Most, Number);
  if (Number > 1) {
    std::cerr << "torch-confirm: " << Number
              << " processes ran operations of LibTorch; a finding has the "
                 "verdict of the one that says most of it";
    if (Number > Most)
      std::cerr << ", of the " << Most << " busiest";
    std::cerr << '\n';
  }
  return Result;
}

std::optional<trace::TraceData> busiest(const std::string &Path) {
  size_t Number = 0;
  std::vector<trace::TraceData> All = readAll(Path, 1, Number);
  if (All.empty())
    return std::nullopt;
  if (Number > 1)
    std::cerr << "torch-confirm: " << Number
              << " processes ran operations of LibTorch; the report is about "
                 "the busiest, process "
              << All.front().ProcessId << '\n';
  return std::move(All.front());
}

} // namespace torchtidy::confirm
