// Programs of several sources: what no source shows by itself.
#ifndef TORCHTIDY_TOOL_RUN_PROGRAMS_H
#define TORCHTIDY_TOOL_RUN_PROGRAMS_H

#include "inputs/Companions.h"
#include "run/Runner.h"

namespace torchtidy::tool {

/// Analyses each program in whole and adds what is found only so, where the
/// sources themselves (Whole) have shown nothing of the check at that place.
/// What these have shown above level 0 goes, where their programs are known in
/// whole and none of them shows it: its cost is nobody's. Compile errors are
/// none of a program: its sources may clash. Says on standard error what was
/// analysed.
void addPrograms(RunResult &Whole, const ContextMaker &MakeContext,
                 const clang::tooling::CompilationDatabase &Database,
                 llvm::ArrayRef<SourceProgram> Programs,
                 llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> FS,
                 RunSettings Settings);

} // namespace torchtidy::tool

#endif
