#include "inputs/Json.h"

using namespace llvm;

namespace torchtidy::tool {

static bool isDeeperThan(unsigned MaxDepth, StringRef Text) {
  unsigned Depth = 0;
  bool InText = false;
  for (size_t I = 0; I < Text.size(); ++I) {
    const char C = Text[I];
    if (InText && C == '\\')
      ++I;
    else if (C == '"')
      InText = !InText;
    else if (InText)
      continue;
    else if (C == '[' || C == '{')
      ++Depth;
    else if ((C == ']' || C == '}') && Depth)
      --Depth;
    if (Depth > MaxDepth)
      return true;
  }
  return false;
}

Expected<json::Value> parseJson(StringRef Text, unsigned MaxDepth) {
  if (isDeeperThan(MaxDepth, Text))
    return createStringError(inconvertibleErrorCode(),
                             "it is nested deeper than %u levels", MaxDepth);
  return json::parse(Text);
}

} // namespace torchtidy::tool
