// Recordings as JSON: 'torch-confirm judge' reads them.
#include "Input.h"
#include "recording/Json.h"
#include "support/Errors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  const FileOf File(Data, Size);
  try {
    torchtidy::confirm::readRecording(File.path());
  } catch (const torchtidy::confirm::UserError &) {
    // It says what is wrong: no other exception may leave.
  }
  return 0;
}
