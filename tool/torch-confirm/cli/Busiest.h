// The trace of the process that a run was about.
#ifndef TORCHTIDY_CONFIRM_CLI_BUSIEST_H
#define TORCHTIDY_CONFIRM_CLI_BUSIEST_H

#include "trace/TraceFile.h"
#include <optional>
#include <string>

namespace torchtidy::confirm {

/// Of the processes that the program started, that with the most operations: it
/// may only be a launcher. Path: where the probe wrote. Says so on standard
/// error where there were several, and of traces that cannot be read why.
std::optional<trace::TraceData> busiest(const std::string &Path);

} // namespace torchtidy::confirm

#endif
