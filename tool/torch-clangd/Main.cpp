// torch-clangd: clangd 19 with the torch checks built in.
//
// clangd has no place where checks could be added from outside. They are linked
// in, as in torch-tidy, and four functions of clangd are replaced at link time
// (-Wl,--wrap, see CMakeLists.txt), by the names that the compiler has given
// them.
#include "Clangd.h"
#include "DocLinks.h"
#include "Registry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace clang::clangd {

// As clangd's own build without gRPC: there is no remote index.
class SymbolIndex {
public:
  virtual ~SymbolIndex();
};
namespace remote {
std::unique_ptr<SymbolIndex> getClient(StringRef, StringRef) { return nullptr; }
} // namespace remote

} // namespace clang::clangd

static std::string &pageFolder() {
  static std::string Folder;
  return Folder;
}

extern "C" {

using clang::clangd::TidyProviderRef;

#define IS_FAST_TIDY_CHECK(Prefix)                                             \
  Prefix##_ZN5clang6clangd15isFastTidyCheckEN4llvm9StringRefE
#define PROVIDE_DEFAULT_CHECKS(Prefix)                                         \
  Prefix##_ZN5clang6clangd20provideDefaultChecksEv

std::optional<bool> IS_FAST_TIDY_CHECK(__real_)(StringRef Check);
/// clangd runs only checks that its authors have measured. Ours take a few
/// milliseconds.
std::optional<bool> IS_FAST_TIDY_CHECK(__wrap_)(StringRef Check) {
  return torchtidy::findCheck(Check) ? true
                                     : IS_FAST_TIDY_CHECK(__real_)(Check);
}

TidyProviderRef PROVIDE_DEFAULT_CHECKS(__real_)();
/// The torch checks of the default level come first, as in torch-tidy: what
/// .clang-tidy and .clangd say has the last word.
TidyProviderRef PROVIDE_DEFAULT_CHECKS(__wrap_)() {
  static const auto Provide = [](clang::tidy::ClangTidyOptions &Options,
                                 StringRef File) {
    PROVIDE_DEFAULT_CHECKS(__real_)()(Options, File);
    Options.Checks = torchtidy::checksUpToLevel(torchtidy::DefaultLevel) + "," +
                     Options.Checks.value_or("");
  };
  return Provide;
}

#define NEW_JSON_TRANSPORT(Prefix)                                             \
  Prefix##_ZN5clang6clangd16newJSONTransportEP8_IO_FILERN4llvm11raw_ostreamEPS4_bNS0_15JSONStreamStyleE

std::unique_ptr<clang::clangd::Transport>
    NEW_JSON_TRANSPORT(__real_)(std::FILE *In, raw_ostream &Out,
                                raw_ostream *InMirror, bool Pretty,
                                clang::clangd::JSONStreamStyle Style);
std::unique_ptr<clang::clangd::Transport>
NEW_JSON_TRANSPORT(__wrap_)(std::FILE *In, raw_ostream &Out,
                            raw_ostream *InMirror, bool Pretty,
                            clang::clangd::JSONStreamStyle Style) {
  // It lives as long as clangd's own stream.
  static torchtidy::tool::DocLinks Linked(Out, pageFolder());
  Linked.SetUnbuffered();
  return NEW_JSON_TRANSPORT(__real_)(In, Linked, InMirror, Pretty, Style);
}

} // extern "C"

int main(int Argc, char *Argv[]) {
  static int Anchor;
  SmallString<256> Pages =
      sys::path::parent_path(sys::fs::getMainExecutable(Argv[0], &Anchor));
  sys::path::append(Pages, TORCH_TIDY_DATA_FROM_BIN, "docs", "checks");
  sys::path::remove_dots(Pages, /*remove_dot_dot=*/true);
  pageFolder() = std::string(Pages);
  return clang::clangd::clangdMain(Argc, Argv);
}
