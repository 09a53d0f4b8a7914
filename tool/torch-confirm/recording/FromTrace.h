// A trace in terms of the sources.
#ifndef TORCHTIDY_CONFIRM_RECORDING_FROMTRACE_H
#define TORCHTIDY_CONFIRM_RECORDING_FROMTRACE_H

#include "recording/Recording.h"
#include "recording/Symbolizer.h"
#include "trace/TraceFile.h"

namespace torchtidy::confirm {

/// All but how the program ended, which only who started it knows. Throws
/// UserError where no symboliser is installed.
Recording recordingOf(const trace::TraceData &Trace);
/// The same for a program that is looked at several times.
Recording recordingOf(const trace::TraceData &Trace, SymbolCache &Cache);

} // namespace torchtidy::confirm

#endif
