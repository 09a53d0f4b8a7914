// Patches of --diff=-.
#include "Input.h"
#include "inputs/Diff.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  auto Changed = torchtidy::tool::ChangedLines::ofPatch(
      {reinterpret_cast<const char *>(Data), Size}, {"/nowhere"});
  if (!Changed) {
    llvm::consumeError(Changed.takeError());
    return 0;
  }
  for (const std::string &Source : Changed->sources())
    Changed->contains(Source, 1);
  return 0;
}
