// The includes of a file, as they are written.
#ifndef TORCHTIDY_TOOL_HEADERS_INCLUDES_H
#define TORCHTIDY_TOOL_HEADERS_INCLUDES_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace torchtidy::tool {

struct Include {
  /// With its brackets or quotes: "<torch/torch.h>".
  std::string Text;
  /// Nothing but blanks and comments stands between it and the include before.
  bool FollowsInclude = false;

  llvm::StringRef name() const {
    return llvm::StringRef(Text).drop_front().drop_back();
  }
  bool isQuoted() const { return Text.front() == '"'; }
};

/// In order, under whatever condition. Not those whose name is a macro. Empty
/// for what is no C++.
std::vector<Include> includesOf(llvm::StringRef Text);

/// There is one whose name is a macro: it may be anything.
bool includesByMacro(llvm::StringRef Text);

/// It is a unit of a C++20 module, which nothing may stand before.
bool declaresModule(llvm::StringRef Text);

/// The header that this error of Clang is about, "'x.h' file not found", or an
/// empty string.
llvm::StringRef missingHeader(llvm::StringRef Message);

/// Of the name of a header, as it is included.
bool isOfLibTorch(llvm::StringRef Header);

/// One of those of LibTorch that include Python's.
bool needsPython(llvm::StringRef Header);

} // namespace torchtidy::tool

#endif
