// The findings whose fixes are to be tried.
#ifndef TORCHTIDY_CONFIRM_FIX_SELECTION_H
#define TORCHTIDY_CONFIRM_FIX_SELECTION_H

#include "findings/Finding.h"
#include <CLI/CLI.hpp>

namespace torchtidy::confirm::fix {

class Selection {
public:
  /// --findings, --analyze, --torch-tidy, --only, --level.
  void addOptions(CLI::App &App);
  /// Those with a fix; WithoutFix: how many others were asked for. Throws
  /// UserError where there are none, or their fixes are of older files.
  std::vector<DiagnosedFinding> findings(const std::string &BuildFolder,
                                         size_t &WithoutFix) const;

private:
  std::string Path, TorchTidy;
  bool IsAnalyzed = false;
  std::vector<std::string> Only;
  int Level = -1;
};

} // namespace torchtidy::confirm::fix

#endif
