#include "EnabledChecks.h"
#include "Registry.h"
#include "clang-tidy/ClangTidy.h"
#include "clang-tidy/ClangTidyDiagnosticConsumer.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace torchtidy {

bool areTorchChecksAlone(const tidy::ClangTidyContext &Context) {
  return llvm::all_of(
      tidy::getCheckNames(Context.getOptions(),
                          Context.canEnableAnalyzerAlphaCheckers()),
      [](StringRef Name) { return findCheck(Name) != nullptr; });
}

} // namespace torchtidy
