#include "torch/Measurement.h"
#include "ast/Names.h"
#include "torch/Types.h"
#include "torch/Waiting.h"
#include "clang/AST/DeclCXX.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace torchtidy::torch {

/// Google Benchmark's loop over its state.
static bool isOfBenchmark(const FunctionDecl *Callee) {
  for (const DeclContext *C = Callee->getDeclContext(); C; C = C->getParent())
    if (const auto *In = dyn_cast<NamespaceDecl>(C);
        In && ast::nameOf(In) == "benchmark")
      return true;
  return false;
}

bool readsClock(const FunctionDecl *Callee) {
  const StringRef Name = ast::nameOf(Callee);
  if (isa_and_nonnull<CXXMethodDecl>(Callee))
    return isStd(Callee) && Name == "now";
  if (Name.empty() || isLibTorch(Callee))
    return Name == "getTime";
  return llvm::StringSwitch<bool>(Name)
      .Cases("clock", "clock_gettime", "gettimeofday", "omp_get_wtime", true)
      .Cases("__rdtsc", "QueryPerformanceCounter", "getTickCount", true)
      .Default(false);
}

bool isMeasurement(const FunctionDecl *Callee) {
  if (isOfBenchmark(Callee) || readsClock(Callee) || isSynchronisation(Callee))
    return true;
  const StringRef Name = ast::nameOf(Callee);
  if (isa<CXXMethodDecl>(Callee))
    return isLibTorch(Callee) && Name == "record";
  return Name == "cudaEventRecord";
}

} // namespace torchtidy::torch
