// Which sources can be analysed with what one process has read for all of them.
#ifndef TORCHTIDY_TOOL_RUN_BATCHES_H
#define TORCHTIDY_TOOL_RUN_BATCHES_H

#include "clang-tidy/ClangTidyDiagnosticConsumer.h"
#include "run/Pool.h"
#include "clang/Tooling/CompilationDatabase.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>
#include <string>
#include <vector>

namespace torchtidy::tool {

/// The word of a compile command that names its source; nothing where that
/// cannot be told.
std::optional<std::string>
inputOf(const clang::tooling::CompileCommand &Command);

/// Of these numbers of Sources, those that have one configuration, and a
/// compile command which differs in nothing but the names of the source and of
/// what is made of it. In groups that are large enough to be worth it.
std::vector<Pool::Jobs>
batches(llvm::ArrayRef<std::string> Sources, const Pool::Jobs &Unknown,
        const clang::tooling::CompilationDatabase &Database,
        clang::tidy::ClangTidyContext &Context);

} // namespace torchtidy::tool

#endif
