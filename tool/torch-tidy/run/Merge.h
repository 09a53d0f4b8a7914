// Makes one list of what several files' analyses have found.
#ifndef TORCHTIDY_TOOL_RUN_MERGE_H
#define TORCHTIDY_TOOL_RUN_MERGE_H

#include "clang-tidy/ClangTidyDiagnosticConsumer.h"
#include "run/Evidence.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <string>
#include <tuple>
#include <vector>

namespace torchtidy::tool {

/// What tells one finding from another: file, offset and check.
using FindingPlace = std::tuple<std::string, unsigned, std::string>;
FindingPlace placeOf(const clang::tidy::ClangTidyError &Finding);
FindingPlace placeOf(const Evidence &Each);

/// A header is included by many paths, relative ones among them. Of those that
/// mean one file the plainest, an absolute one, stands for all from here on; in
/// fixes too, which would else be applied to the same file one after the other.
void unifyPaths(std::vector<clang::tidy::ClangTidyError> &Findings,
                std::vector<Evidence> &Evidences, llvm::vfs::FileSystem &FS);

/// Gives each file that a finding names, in its notes and fixes too, the name
/// that NewName has for it.
void renameFiles(clang::tidy::ClangTidyError &Finding,
                 llvm::function_ref<std::string(llvm::StringRef Path)> NewName);

/// Puts the findings in clang-tidy's order, by file, place, check and message,
/// and keeps each once: one in a header is found through every file that
/// includes it.
void merge(std::vector<clang::tidy::ClangTidyError> &Findings);

} // namespace torchtidy::tool

#endif
