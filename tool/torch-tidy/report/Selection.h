// Which of the findings are shown, fixed and counted: those that are new.
#ifndef TORCHTIDY_TOOL_REPORT_SELECTION_H
#define TORCHTIDY_TOOL_REPORT_SELECTION_H

#include "Options.h"
#include "inputs/Diff.h"
#include "report/Baseline.h"
#include <optional>

namespace torchtidy::tool {

class Selection {
public:
  /// Reads what --diff and --baseline name. Empty where that fails, which has
  /// been said then.
  static std::optional<Selection>
  read(const Options &Line, llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);

  /// The lines of --diff; null for all.
  const ChangedLines *changed() const { return Changed ? &*Changed : nullptr; }
  /// Whether a change can concern the findings of a source.
  bool concerns(llvm::StringRef Source) const {
    return !Changed || Changed->touchesHeaders() || Changed->touches(Source);
  }

  /// Removes what is known or elsewhere. Compile errors stay. To be called
  /// once, before fixes change the sources.
  void apply(Findings &All, llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);
  /// Says what was removed, and what Sources no longer have of the baseline.
  void explain(llvm::ArrayRef<std::string> Sources) const;

private:
  std::optional<ChangedLines> Changed;
  std::optional<Baseline> Known;
  unsigned NumKnown = 0, NumElsewhere = 0;
};

} // namespace torchtidy::tool

#endif
