// What goes between an editor and clangd.
#ifndef TORCHTIDY_TOOL_CLANGD_STREAMS_H
#define TORCHTIDY_TOOL_CLANGD_STREAMS_H

#include "CodeActions.h"
#include "Frames.h"
#include "llvm/Support/raw_ostream.h"

namespace torchtidy::tool {

/// Clangd's output, with links to our pages and with what CodeActions changes.
/// What is no message stays as it is.
class Answers : public llvm::raw_ostream {
public:
  /// PageFolder: see DocLinks.
  Answers(llvm::raw_ostream &To, CodeActions &Actions, std::string PageFolder)
      : raw_ostream(/*unbuffered=*/true), To(To), Actions(Actions),
        PageFolder(std::move(PageFolder)) {}

private:
  void write_impl(const char *Data, size_t Size) override;
  uint64_t current_pos() const override { return To.tell(); }

  llvm::raw_ostream &To;
  CodeActions &Actions;
  std::string PageFolder;
  Frames Cut;
};

/// A copy of its input, as clangd writes one for --input-mirror-file.
class Requests : public llvm::raw_ostream {
public:
  /// To: where else it goes; may be null.
  Requests(llvm::raw_ostream *To, CodeActions &Actions)
      : raw_ostream(/*unbuffered=*/true), To(To), Actions(Actions) {}

private:
  void write_impl(const char *Data, size_t Size) override;
  uint64_t current_pos() const override { return To ? To->tell() : 0; }

  llvm::raw_ostream *To;
  CodeActions &Actions;
  Frames Cut;
};

} // namespace torchtidy::tool

#endif
