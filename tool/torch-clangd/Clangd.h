// What clangd 19's libraries offer. Their headers are not packaged, so what is
// used of them is declared here; it is linked by name, and
// test/tool/clangd-*.test runs it.
#ifndef TORCHTIDY_TOOL_CLANGD_H
#define TORCHTIDY_TOOL_CLANGD_H

#include "clang-tidy/ClangTidyOptions.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "llvm/ADT/FunctionExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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

struct ParseInputs;

/// How long clangd waits after an edit for a further one before it begins with
/// the file: as long as the last builds took, times RebuildRatio, within Min
/// and Max.
struct DebouncePolicy {
  using clock = std::chrono::steady_clock;
  clock::duration Min, Max;
  float RebuildRatio;
};

class GlobalCompilationDatabase;
class ParsingCallbacks {
public:
  virtual ~ParsingCallbacks() = default;
};

class TUScheduler {
public:
  /// The first members of clangd's structure. It is taken by reference only and
  /// never copied here.
  struct Options {
    unsigned AsyncThreadsCount;
    bool StorePreamblesInMemory;
    DebouncePolicy UpdateDebounce;
    Options(const Options &) = delete;
  };
};

} // namespace clang::clangd

#endif
