// The trace's file.
#ifndef TORCHTIDY_CONFIRM_PROBE_FILE_H
#define TORCHTIDY_CONFIRM_PROBE_FILE_H

#include "State.h"

namespace torchtidy::confirm::probe {

/// Makes the file and maps it at Trace: \p Path where that does not exist or is
/// empty, else <Path>.<process id>. In the child of a fork the new file takes
/// the place of the parent's in memory, so that pointers into it stay right.
/// \returns whether that worked.
bool openTrace(const char *Path);

/// The trace as it was opened last, mapped at another place and for reading;
/// null when that fails.
void *mapTraceAgain();
void unmapTrace(void *Mapping);

/// Whether there is disk space for that series: writing to a hole of a mapped
/// file on a full disk would kill the program.
bool reserveSeries(uint32_t Series);

/// Whether there is for all of a timeline but what sites hold at moments.
bool reserveTimeline();
/// For what that many sites hold at a moment. \returns for how many there is.
uint32_t reserveHeld(uint32_t Row, uint32_t Sites);

/// From now on no file is opened, so that a program that forbids itself to open
/// any is not killed for the probe's; some more series are reserved before.
void sealTrace();
bool isTraceSealed();

/// Of nanoseconds(), when the probe started.
uint64_t startNanoseconds();

} // namespace torchtidy::confirm::probe

#endif
