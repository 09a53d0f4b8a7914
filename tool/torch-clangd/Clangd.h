// What clangd 19's libraries offer. Their headers are not packaged, so what is
// used of them is declared here; it is linked by name, and
// test/tool/clangd-*.test runs it.
#ifndef TORCHTIDY_TOOL_CLANGD_H
#define TORCHTIDY_TOOL_CLANGD_H

#include "clang-tidy/ClangTidyOptions.h"
#include "llvm/ADT/FunctionExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>
#include <memory>
#include <optional>

namespace clang::clangd {

int clangdMain(int Argc, char *Argv[]);

/// What checks and options a file has: the parts of clangd's configuration are
/// asked in turn, and each changes what those before it have said.
using TidyProviderRef =
    llvm::function_ref<void(tidy::ClangTidyOptions &, llvm::StringRef)>;

class Transport {
public:
  virtual ~Transport() = default;
};
enum JSONStreamStyle { Standard, Delimited };

} // namespace clang::clangd

#endif
