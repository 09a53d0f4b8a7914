// Finds memory of a device that is taken past LibTorch's allocator and that
// nothing frees.
#include "memory/UntrackedCudaMemoryCheck.h"
#include "ast/Locations.h"
#include "memory/UntrackedCudaMemory.h"
#include "report/Report.h"

namespace torchtidy::checks {

using namespace model;

static Finding describe(const Program & /*Program*/,
                        const UntrackedMemory &Found) {
  Finding Result;
  Result.Location = ast::beginLoc(Found.Takes);
  Result.Range = Found.Takes->getSourceRange();
  Result.Kind =
      Found.Blob ? FindingKind::UntrackedBlob : FindingKind::UntrackedLeak;
  const std::string Name = "'" + Found.Pointer->getNameAsString() + "'";
  Result.Message =
      (Found.Blob ? "the memory of " + Name +
                        " becomes the data of a tensor that does not free it"
                  : "nothing frees the memory of " + Name) +
      ": it leaks, and LibTorch's allocator does not know it, neither in its "
      "statistics nor where it makes room; " +
      (Found.Blob ? "let 'torch::empty' make the tensor, or give 'from_blob' a "
                    "deleter"
                  : "take it from a tensor that 'torch::empty' makes, or free "
                    "it");
  if (Found.Blob)
    addNote(Result,
            {ast::beginLoc(Found.Blob),
             "the tensor is made here, without a deleter", NoteRole::Made});
  if (Found.Around)
    addLoop(Result, *Found.Entry, Found.In, Found.Around);
  else
    addCallers(Result, Found.In);
  return Result;
}

std::vector<Finding> UntrackedCudaMemoryCheck::analyze(Program &Program) {
  return findingsOf(Program, untrackedMemory, describe);
}

} // namespace torchtidy::checks
