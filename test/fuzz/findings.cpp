// Findings as clang-tidy prints them, as YAML of --export-fixes, as SARIF.
#include "Input.h"
#include "findings/Read.h"
#include "support/Errors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  try {
    torchtidy::confirm::parseFindings(
        std::string(reinterpret_cast<const char *>(Data), Size), "findings");
  } catch (const torchtidy::confirm::UserError &) {
  }
  return 0;
}
