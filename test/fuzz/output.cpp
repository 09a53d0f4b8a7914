// What a sanitizer and the symbolizer print.
#include "Input.h"
#include "recording/Sanitizer.h"
#include "recording/Symbolizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  const std::string Text(reinterpret_cast<const char *>(Data), Size);
  torchtidy::confirm::parseSanitizer(Text);
  torchtidy::confirm::parseSymbols(Text);
  return 0;
}
