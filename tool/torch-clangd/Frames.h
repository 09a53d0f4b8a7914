// Messages of the language server protocol in a stream of bytes.
#ifndef TORCHTIDY_TOOL_CLANGD_FRAMES_H
#define TORCHTIDY_TOOL_CLANGD_FRAMES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace torchtidy::tool {

class Frames {
public:
  using Taker = llvm::function_ref<void(llvm::StringRef)>;
  /// The next bytes. Message has each that is whole by now, without its header;
  /// Other what belongs to none.
  void take(llvm::StringRef Bytes, Taker Message, Taker Other);

private:
  /// The rest of a message whose end has not come yet.
  std::string Pending;
};

} // namespace torchtidy::tool

#endif
