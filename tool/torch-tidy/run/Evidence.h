// What the harness has to know of a finding and a diagnostic does not say:
// which loop repeats the flagged statement, and an operation that runs once in
// each of its iterations, since a statement without an operation leaves no
// trace at run time.
#ifndef TORCHTIDY_TOOL_RUN_EVIDENCE_H
#define TORCHTIDY_TOOL_RUN_EVIDENCE_H

#include "FindingListener.h"
#include "clang/Tooling/Core/Diagnostic.h"
#include <string>
#include <vector>

namespace torchtidy::tool {

struct Evidence {
  // The finding that it belongs to.
  std::string Check, FilePath;
  /// What relative paths are relative to.
  std::string Folder;
  unsigned FileOffset = 0;

  /// An empty path: there is none.
  clang::tooling::FileByteRange Loop;
  /// Its length is 0.
  clang::tooling::FileByteRange IterationSite;
};

class EvidenceCollector : public FindingListener {
public:
  void found(const model::Finding &Finding,
             const clang::SourceManager &SM) override;
  std::vector<Evidence> take() { return std::move(All); }

private:
  std::vector<Evidence> All;
};

} // namespace torchtidy::tool

#endif
