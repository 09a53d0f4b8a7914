#ifndef TORCHTIDY_TOOL_REPORT_URI_H
#define TORCHTIDY_TOOL_REPORT_URI_H

#include "llvm/ADT/StringExtras.h"
#include <string>

namespace torchtidy::tool {

/// A path as a part of a URI (RFC 3986).
inline std::string uriPath(llvm::StringRef Path) {
  std::string Result;
  for (const unsigned char C : Path.bytes()) {
    if (llvm::isAlnum(C) || llvm::StringRef("-._~/!$&'()*+,;=:@").contains(C))
      Result += C;
    else
      Result += "%" + llvm::toHex(C);
  }
  return Result;
}

} // namespace torchtidy::tool

#endif
