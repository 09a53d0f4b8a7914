// The probe's trace: what a program that was killed has left of it.
#include "Input.h"
#include "trace/TraceFile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  const FileOf File(Data, Size);
  std::string Error;
  torchtidy::confirm::trace::readTrace(File.path(), Error);
  return 0;
}
