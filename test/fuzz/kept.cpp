// What an analysis came to, and which file includes which, as the cache keeps
// them. What is read is written as it was.
#include "Input.h"
#include "headers/IncludeGraph.h"
#include "run/FileResult.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  const llvm::StringRef Bytes(reinterpret_cast<const char *>(Data), Size);
  if (const auto Result = torchtidy::tool::decode(Bytes)) {
    const std::string Again = torchtidy::tool::encode(*Result);
    if (!torchtidy::tool::decode(Again))
      abort();
  }
  torchtidy::tool::IncludeGraph Graph;
  Graph.decode(Bytes);
  Graph.reaches({"a"}, "b");
  torchtidy::tool::IncludeGraph Other;
  Other.decode(Graph.encode());
  if (Other.encode() != Graph.encode())
    abort();
  return 0;
}
