// Findings that torch-tidy makes when they are asked for.
#ifndef TORCHTIDY_CONFIRM_CLI_ANALYZE_H
#define TORCHTIDY_CONFIRM_CLI_ANALYZE_H

#include "findings/Read.h"

namespace torchtidy::confirm {

/// Runs torch-tidy on all files of a folder with compile_commands.json.
/// TorchTidy: the program; empty: that beside torch-confirm, then that on PATH.
/// Options are added to its command line. Throws UserError where there is none,
/// or it makes no findings.
FindingsFile analyzeNow(const std::string &TorchTidy,
                        const std::string &BuildFolder,
                        const std::vector<std::string> &Options);

} // namespace torchtidy::confirm

#endif
