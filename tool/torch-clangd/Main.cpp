// torch-clangd: clangd 19 with the torch checks built in.
//
// clangd has no place where checks could be added from outside. They are linked
// in, as in torch-tidy, and some functions of clangd are replaced at link time
// (-Wl,--wrap, see CMakeLists.txt), by the names that the compiler has given
// them.
#include "Clangd.h"
#include "Registry.h"
#include "Streams.h"
#include "inputs/OwnHeaders.h"
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
// NOLINTNEXTLINE(misc-use-internal-linkage): clangd links to it
std::unique_ptr<SymbolIndex> getClient(StringRef, StringRef) { return nullptr; }
} // namespace remote

} // namespace clang::clangd

static std::string &pageFolder() {
  static std::string Folder;
  return Folder;
}

using clang::clangd::TidyProviderRef;

// Linked with --wrap: calls of clangd's function go to Wrapped, and Original is
// what they went to.
// NOLINTBEGIN(misc-use-internal-linkage)
#define WRAP(Symbol) __asm__("__wrap_" Symbol)
#define ORIGINAL(Symbol) __asm__("__real_" Symbol)

#define IS_FAST_TIDY_CHECK "_ZN5clang6clangd15isFastTidyCheckEN4llvm9StringRefE"
std::optional<bool> originalIsFast(StringRef Check)
    ORIGINAL(IS_FAST_TIDY_CHECK);
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
  // They live as long as clangd's own streams.
  static torchtidy::tool::CodeActions Actions;
  static torchtidy::tool::Answers Answered(Out, Actions, pageFolder());
  static torchtidy::tool::Requests Asked(InMirror, Actions);
  return originalTransport(In, Answered, &Asked, Pretty, Style);
}

#define BUILD_COMPILER_INVOCATION                                              \
  "_ZN5clang6clangd23buildCompilerInvocationERKNS0_11ParseInputsERNS_"         \
  "18DiagnosticConsumerEPSt6vectorINSt7__cxx1112basic_stringIcSt11char_"       \
  "traitsIcESaIcEEESaISC_EE"
using InvocationPtr = std::unique_ptr<clang::CompilerInvocation>;
InvocationPtr originalInvocation(const clang::clangd::ParseInputs &Inputs,
                                 clang::DiagnosticConsumer &Diagnostics,
                                 std::vector<std::string> *Arguments)
    ORIGINAL(BUILD_COMPILER_INVOCATION);
InvocationPtr wrappedInvocation(const clang::clangd::ParseInputs &Inputs,
                                clang::DiagnosticConsumer &Diagnostics,
                                std::vector<std::string> *Arguments)
    WRAP(BUILD_COMPILER_INVOCATION);
/// What the headers instantiate is instantiated with them, once, and not after
/// every edit: with LibTorch's that saves two fifths of the work.
InvocationPtr wrappedInvocation(const clang::clangd::ParseInputs &Inputs,
                                clang::DiagnosticConsumer &Diagnostics,
                                std::vector<std::string> *Arguments) {
  InvocationPtr Result = originalInvocation(Inputs, Diagnostics, Arguments);
  if (Result)
    Result->getLangOpts().PCHInstantiateTemplates = true;
  return Result;
}

#define NEW_TU_SCHEDULER                                                       \
  "_ZN5clang6clangd11TUSchedulerC1ERKNS0_25GlobalCompilationDatabaseERKNS1_"   \
  "7OptionsESt10unique_ptrINS0_16ParsingCallbacksESt14default_deleteIS9_EE"
using clang::clangd::TUScheduler;
using CallbacksPtr = std::unique_ptr<clang::clangd::ParsingCallbacks>;
void originalScheduler(TUScheduler *This,
                       const clang::clangd::GlobalCompilationDatabase &Commands,
                       const TUScheduler::Options &Options,
                       CallbacksPtr Callbacks) ORIGINAL(NEW_TU_SCHEDULER);
void wrappedScheduler(TUScheduler *This,
                      const clang::clangd::GlobalCompilationDatabase &Commands,
                      const TUScheduler::Options &Options,
                      CallbacksPtr Callbacks) WRAP(NEW_TU_SCHEDULER);
/// clangd waits after an edit as long as a build takes. A quarter of a second
/// of work is begun at once: of the edits that come meanwhile the last is next.
void wrappedScheduler(TUScheduler *This,
                      const clang::clangd::GlobalCompilationDatabase &Commands,
                      const TUScheduler::Options &Options,
                      CallbacksPtr Callbacks) {
  // The caller's options are an object of its own that is not constant.
  auto &Policy =
      const_cast<clang::clangd::DebouncePolicy &>(Options.UpdateDebounce);
  using namespace std::chrono_literals;
  // Nothing else is overwritten should clangd's structure be another one.
  if (Policy.Min == 50ms && Policy.Max == 500ms && Policy.RebuildRatio == 1)
    Policy.Min = Policy.Max = 10ms;
  originalScheduler(This, Commands, Options, std::move(Callbacks));
}
// NOLINTEND(misc-use-internal-linkage)

int main(int Argc, char *Argv[]) {
  static int Anchor;
  const std::string Executable = sys::fs::getMainExecutable(Argv[0], &Anchor);
  SmallString<256> Pages = sys::path::parent_path(Executable);
  sys::path::append(Pages, TORCH_TIDY_DATA_FROM_BIN, "docs", "checks");
  sys::path::remove_dots(Pages, /*remove_dot_dot=*/true);
  pageFolder() = std::string(Pages);
  // The first of two would be an error, so what is given has to be left alone.
  std::vector<char *> Words(Argv, Argv + Argc);
  std::string Own = torchtidy::tool::ownResourceDir(Executable);
  if (!Own.empty() && llvm::none_of(Words, [](StringRef Word) {
        return Word.trim('-').starts_with("resource-dir");
      })) {
    Own = "--resource-dir=" + Own;
    Words.insert(std::next(Words.begin()), Own.data());
  }
  Words.push_back(nullptr);
  return clang::clangd::clangdMain(int(Words.size()) - 1, Words.data());
}
