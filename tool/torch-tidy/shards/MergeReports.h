// The reports of several machines, each of which has analysed a part, as one.
#ifndef TORCHTIDY_TOOL_SHARDS_MERGEREPORTS_H
#define TORCHTIDY_TOOL_SHARDS_MERGEREPORTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <string>

namespace torchtidy::tool {

struct MergeSettings {
  /// SARIF logs, or findings as JSON lines (--format=jsonl).
  std::vector<std::string> Files;
  /// The most serious level that does not fail.
  std::optional<unsigned> FailOn;
};

/// Writes what one run over all of it would have written: the same findings in
/// the same order, each once. Returns the exit code: 1 where nothing could be
/// written, where a part of what was asked for was not analysed, and where
/// FailOn says so; that has been said then.
///
/// SARIF logs say which shard they are of (--shard): all have to be there, and
/// of one plan. JSON lines say nothing of that.
int mergeReports(const MergeSettings &Settings, llvm::raw_ostream &OS);

} // namespace torchtidy::tool

#endif
