// The traces of the processes that a run was about.
#ifndef TORCHTIDY_CONFIRM_CLI_BUSIEST_H
#define TORCHTIDY_CONFIRM_CLI_BUSIEST_H

#include "trace/TraceFile.h"
#include <optional>
#include <string>
#include <vector>

namespace torchtidy::confirm {

/// Of the processes that the program started (it may only be a launcher) those
/// that ran operations, that with the most first; of more than \p Most the
/// others are left out. Where none ran any, one that the probe has seen. Path:
/// where the probe wrote. Says on standard error why a trace cannot be read,
/// and which process still runs.
std::vector<trace::TraceData> tracesByWork(const std::string &Path,
                                           size_t Most);

/// The first of them; says so on standard error where there were several.
std::optional<trace::TraceData> busiest(const std::string &Path);

} // namespace torchtidy::confirm

#endif
