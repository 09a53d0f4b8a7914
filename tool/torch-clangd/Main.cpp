// torch-clangd: clangd 19 with the torch checks built in.
//
// clangd has no place where checks could be added from outside. They are linked
// in, as in torch-tidy, and three functions of clangd are replaced at link time
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

using clang::clangd::TidyProviderRef;

// Linked with --wrap: calls of clangd's function go to Wrapped, and Original is what
// they went to.
#define WRAP(Symbol) __asm__("__wrap_" Symbol)
#define ORIGINAL(Symbol) __asm__("__real_" Symbol)

#define IS_FAST_TIDY_CHECK "_ZN5clang6clangd15isFastTidyCheckEN4llvm9StringRefE"
std::optional<bool> originalIsFast(StringRef Check) ORIGINAL(IS_FAST_TIDY_CHECK);
std::optional<bool> wrappedIsFast(StringRef Check) WRAP(IS_FAST_TIDY_CHECK);
/// clangd runs only checks that its authors have measured. Ours take a few
/// milliseconds.
std::optional<bool> wrappedIsFast(StringRef Check) {
  return torchtidy::findCheck(Check) ? true : originalIsFast(Check);
}

#define PROVIDE_DEFAULT_CHECKS "_ZN5clang6clangd20provideDefaultChecksEv"
TidyProviderRef originalDefaultChecks() ORIGINAL(PROVIDE_DEFAULT_CHECKS);
TidyProviderRef wrappedDefaultChecks() WRAP(PROVIDE_DEFAULT_CHECKS);
/// The torch checks of the default level come first, as in torch-tidy: what
/// .clang-tidy and .clangd say has the last word.
TidyProviderRef wrappedDefaultChecks() {
  static const auto Provide = [](clang::tidy::ClangTidyOptions &Options,
                                 StringRef File) {
    originalDefaultChecks()(Options, File);
    Options.Checks = torchtidy::checksUpToLevel(torchtidy::DefaultLevel) + "," +
                     Options.Checks.value_or("");
  };
  return Provide;
}

#define NEW_JSON_TRANSPORT                                                     \
  "_ZN5clang6clangd16newJSONTransportEP8_IO_FILERN4llvm11raw_ostreamEPS4_bNS0" \
  "_15JSONStreamStyleE"
using TransportPtr = std::unique_ptr<clang::clangd::Transport>;
TransportPtr originalTransport(std::FILE *In, raw_ostream &Out,
                               raw_ostream *InMirror, bool Pretty,
                               clang::clangd::JSONStreamStyle Style)
    ORIGINAL(NEW_JSON_TRANSPORT);
TransportPtr wrappedTransport(std::FILE *In, raw_ostream &Out,
                              raw_ostream *InMirror, bool Pretty,
                              clang::clangd::JSONStreamStyle Style)
    WRAP(NEW_JSON_TRANSPORT);
TransportPtr wrappedTransport(std::FILE *In, raw_ostream &Out,
                              raw_ostream *InMirror, bool Pretty,
                              clang::clangd::JSONStreamStyle Style) {
  // It lives as long as clangd's own stream.
  static torchtidy::tool::DocLinks Linked(Out, pageFolder());
  Linked.SetUnbuffered();
  return originalTransport(In, Linked, InMirror, Pretty, Style);
}

int main(int Argc, char *Argv[]) {
  static int Anchor;
  SmallString<256> Pages =
      sys::path::parent_path(sys::fs::getMainExecutable(Argv[0], &Anchor));
  sys::path::append(Pages, TORCH_TIDY_DATA_FROM_BIN, "docs", "checks");
  sys::path::remove_dots(Pages, /*remove_dot_dot=*/true);
  pageFolder() = std::string(Pages);
  return clang::clangd::clangdMain(Argc, Argv);
}
