// What editors show in the menu of fixes.
#ifndef TORCHTIDY_TOOL_CLANGD_CODEACTIONS_H
#define TORCHTIDY_TOOL_CLANGD_CODEACTIONS_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <mutex>
#include <string>

namespace torchtidy::tool {

/// Stands between the editor and clangd, and sees the messages of both.
///
/// clangd shows the first line of what a fix inserts, which is empty where that
/// is a statement on a line of its own ("insert '...'"), and all of the finding
/// where the fix has several parts. Such a fix of a torch check says what the
/// finding advises here: "call 'opt.zero_grad()' after this step()".
///
/// And behind the fixes each torch finding can be silenced where it stands, by
/// a comment at the end of its line.
class CodeActions {
public:
  /// A message of the editor's. May be called while another thread answers.
  void asked(llvm::StringRef Message);
  /// A message of clangd's, as the editor is to have it.
  std::string answered(llvm::StringRef Message);

private:
  std::mutex Mutex;
  /// What was asked for a menu of fixes and has no answer yet, by its id.
  llvm::StringMap<llvm::json::Object> Waiting;
  /// The editor knows more than commands.
  bool TakesActions = false;
};

} // namespace torchtidy::tool

#endif
