// One of several machines: which sources are its part.
#ifndef TORCHTIDY_TOOL_SHARDS_PLAN_H
#define TORCHTIDY_TOOL_SHARDS_PLAN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace torchtidy::tool {

struct Shard {
  /// 1 ... Count.
  unsigned Number = 1, Count = 1;
};

/// "2/4"; nothing for what is none.
std::optional<Shard> parseShard(llvm::StringRef Text);

/// How long files have taken: seconds of processor time.
class FileTimes {
public:
  /// Path: of the file that they are kept in, JSON. Names in it are relative to
  /// its folder.
  explicit FileTimes(llvm::StringRef Path) : Path(Path) {}

  /// One that is not there knows nothing. False where it cannot be read, which
  /// has been said then.
  bool read();
  bool write() const;

  void set(llvm::StringRef Source, double Value);
  /// Nothing where it was never analysed.
  std::optional<double> of(llvm::StringRef Source) const;

private:
  std::string nameOf(llvm::StringRef Source) const;

  std::string Path;
  std::map<std::string, double> Seconds;
};

struct ShardPlan {
  std::vector<std::string> Sources;
  /// The same for all shards of one plan: they have shared out the same sources
  /// in the same way.
  std::string Id;
};

/// Shares out the sources so that the shards take the same time: the longest
/// first, each to the shard that has least so far. One whose time is not known
/// counts as much as the others do on the average. It depends on the sources'
/// names from the current folder, on the times, and on nothing else.
ShardPlan planShard(llvm::ArrayRef<std::string> Sources, Shard Mine,
                    const FileTimes &Times);

} // namespace torchtidy::tool

#endif
