// Reports of shards, and times.
#include "Input.h"
#include "shards/MergeReports.h"
#include "shards/Plan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  const FileOf File(Data, Size);
  llvm::raw_null_ostream Nowhere;
  torchtidy::tool::MergeSettings Settings;
  Settings.Files = {File.path()};
  Settings.FailOn = 0;
  torchtidy::tool::mergeReports(Settings, Nowhere);
  torchtidy::tool::FileTimes Times(File.path());
  if (Times.read())
    torchtidy::tool::planShard({"a.cpp", "b.cpp", "c.cpp"}, {1, 2}, Times);
  return 0;
}
