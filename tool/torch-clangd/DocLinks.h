// Where editors go when a user asks what a finding means.
#ifndef TORCHTIDY_TOOL_CLANGD_DOCLINKS_H
#define TORCHTIDY_TOOL_CLANGD_DOCLINKS_H

#include "llvm/Support/raw_ostream.h"
#include <string>

namespace torchtidy::tool {

/// Stands before the output of the language server. clangd takes every check
/// for one of LLVM's and links to its site, where there are no torch checks:
/// here such a link becomes one to the page that is installed. Titles of fixes
/// are those of FixTitles.
class DocLinks : public llvm::raw_ostream {
public:
  /// PageFolder: of the pages, <check>.md. Absolute.
  DocLinks(llvm::raw_ostream &To, std::string PageFolder)
      : To(To), PageFolder(std::move(PageFolder)) {}
  ~DocLinks() override { flush(); }

  /// One message of the protocol, with its header or without. What is no
  /// message stays as it is.
  static std::string linked(llvm::StringRef Message,
                            llvm::StringRef PageFolder);

private:
  void write_impl(const char *Data, size_t Size) override;
  uint64_t current_pos() const override { return To.tell(); }

  llvm::raw_ostream &To;
  std::string PageFolder;
  /// The rest of a message whose end has not come yet.
  std::string Pending;
};

} // namespace torchtidy::tool

#endif
