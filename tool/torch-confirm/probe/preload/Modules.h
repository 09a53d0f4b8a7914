// Which files are mapped into the process, and which of them are the user's.
#ifndef TORCHTIDY_CONFIRM_PROBE_MODULES_H
#define TORCHTIDY_CONFIRM_PROBE_MODULES_H

#include "State.h"

#include <link.h>

namespace torchtidy::confirm::probe {

/// Whether the address is in code of the user's: the program itself, or a
/// shared library that is none of LibTorch's, CUDA's or the system's. Libraries
/// that were loaded since the last call are found.
bool isUserCode(uintptr_t Address);

/// Reads the table of modules anew and writes it to the trace.
void findModules();

/// Whether a shared library with this path is the user's.
bool isOfUser(const char *Path);

/// Puts the build id of a loaded file into \p Module, where it has one.
void takeBuildId(const dl_phdr_info &Info, trace::Module &Module);

/// Whether a library is in the process whose file name begins with that.
bool isLoaded(const char *Name);

/// Of a loaded library whose file name begins with \p Name: its path, cut to
/// the size. \returns whether there is one.
bool pathOf(const char *Name, char *Path, size_t Size);

} // namespace torchtidy::confirm::probe

#endif
