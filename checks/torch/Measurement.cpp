#include "torch/Measurement.h"
#include "ast/Names.h"
#include "torch/Types.h"
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

bool isMeasurement(const FunctionDecl *Callee) {
  const StringRef Name = ast::nameOf(Callee);
  if (isOfBenchmark(Callee))
    return true;
  if (isa<CXXMethodDecl>(Callee)) {
    if (isStd(Callee))
      return Name == "now";
    return isLibTorch(Callee) && (Name == "synchronize" || Name == "record");
  }
  if (isLibTorch(Callee))
    return Name.starts_with("synchronize") || Name == "getTime";
  return llvm::StringSwitch<bool>(Name)
      .Cases("clock", "clock_gettime", "gettimeofday", "omp_get_wtime", true)
      .Cases("__rdtsc", "QueryPerformanceCounter", true)
      .Cases("cudaDeviceSynchronize", "cudaStreamSynchronize",
             "cudaEventRecord", "cudaEventSynchronize", true)
      .Default(false);
}

} // namespace torchtidy::torch
