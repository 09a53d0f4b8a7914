#include "run/KeptResults.h"
#include "cache/Bytes.h"
#include "cache/CacheFolder.h"
#include "cache/Inputs.h"
#include "clang-tidy/ClangTidyOptions.h"
#include "inputs/Tree.h"
#include "clang/Basic/Version.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include <unistd.h>

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {
namespace {

/// Another number makes what earlier versions have kept unreachable.
constexpr unsigned Format = 4;
/// Of what the cache may take, the part that is for results.
constexpr uint64_t Share = 8;

/// With which Clang's driver can be told more than its command says.
constexpr llvm::StringLiteral Variables[] = {
    "CPATH",   "C_INCLUDE_PATH",   "CPLUS_INCLUDE_PATH",
    "CCC_",    "CLANG_",           "COMPILER_PATH",
    "GCC_",    "LIBRARY_PATH",     "OBJC",
    "SDKROOT", "CUDA_PATH",        "ROCM_PATH",
    "HIP_",    "SOURCE_DATE_EPOCH"};

class Hasher {
public:
  void add(StringRef Text) {
    Hash.update(utostr(Text.size()));
    Hash.update(StringRef(":", 1));
    Hash.update(Text);
  }
  std::string result() {
    return toHex(ArrayRef(Hash.final()).take_front(16), /*LowerCase=*/true);
  }

private:
  SHA256 Hash;
};

void addEnvironment(Hasher &Hash) {
  std::vector<StringRef> Set;
  for (char **Each = ::environ; Each && *Each; ++Each)
    if (llvm::any_of(Variables, [&](StringRef Name) {
          return StringRef(*Each).starts_with(Name);
        }))
      Set.emplace_back(*Each);
  llvm::sort(Set);
  for (const StringRef Each : Set)
    Hash.add(Each);
}

/// What stands in a file: the rest, as long as this is its hash.
struct Kept {
  std::string Result, Output, Errors;
};

template <class Stream> void visit(Stream &S, Kept &Each) {
  S.text(Each.Result);
  S.text(Each.Output);
  S.text(Each.Errors);
}

/// By its name.
bool isKept(StringRef Path) {
  StringRef Name = sys::path::filename(Path);
  isPart(Name);
  return Name.consume_back(".kept") && isNameOfEntry(Name);
}

} // namespace

KeptResults::KeptResults(const AnalysisSettings &Settings, HeaderCache &Headers)
    : Settings(Settings), Headers(Headers) {
  if (Settings.KeepsNothing || Settings.Cache.Folder.empty())
    return;
  Folder = inFolder(Settings.Cache.Folder, "results");
}

KeptResults::~KeptResults() {
  if (HasKept)
    evictFiles(Folder, isKept, Settings.Cache.MaxBytes / Share);
}

std::string KeptResults::pathOf(StringRef Key) const {
  return inFolder(Folder, (Key + ".kept").str());
}

std::string KeptResults::key(const std::string &Source,
                             const tooling::CompilationDatabase &Database,
                             tidy::ClangTidyContext &Context) const {
  if (Folder.empty())
    return {};
  Hasher Hash;
  Hash.add(utostr(Format));
  Hash.add(Headers.programHash());
  Hash.add(getClangFullVersion());
  addEnvironment(Hash);
  SmallString<256> Here;
  if (sys::fs::current_path(Here))
    return {};
  Hash.add(Here);
  Hash.add(Source);
  Hash.add(Settings.ArePrograms ? "program" : "source");
  Hash.add(Settings.IsTree ? "tree" : "");
  Hash.add(Settings.FixesFromNotes ? "notes" : "");
  Hash.add(Settings.AreInferred ? "inferred" : "");
  Hash.add(Settings.Gathered.contains(Source) ? "gathered" : "");
  for (const auto &[Macro, Definition] : Settings.Definitions) {
    Hash.add(Macro);
    Hash.add(Definition);
  }
  const auto AddOptions = [&](StringRef File) {
    tidy::ClangTidyOptions Its = Context.getOptionsForFile(File);
    // A matter of what prints.
    Its.UseColor.reset();
    Hash.add(tidy::configurationAsText(Its));
  };
  AddOptions(absoluteIn(Here, Source));
  for (const tidy::FileFilter &Filter : Context.getGlobalOptions().LineFilter) {
    Hash.add(Filter.Name);
    for (const auto &[First, Last] : Filter.LineRanges)
      Hash.add((utostr(First) + "-" + utostr(Last)));
  }
  for (const tooling::CompileCommand &Command :
       Database.getCompileCommands(tooling::getAbsolutePath(Source))) {
    Hash.add(Command.Directory);
    Hash.add(Command.Filename);
    for (const std::string &Word : Command.CommandLine)
      Hash.add(Word);
    AddOptions(absoluteIn(Command.Directory, Command.Filename));
  }
  return Hash.result();
}

std::optional<JobOutcome> KeptResults::find(StringRef Key) {
  if (Key.empty() || Settings.IsFresh)
    return std::nullopt;
  const std::string Path = pathOf(Key);
  if (!isTrusted(Folder, Settings.Cache.Folder) || !isTrusted(Path, Folder))
    return std::nullopt;
  const std::unique_ptr<MemoryBuffer> Content = readFile(Path);
  if (!Content)
    return std::nullopt;
  const auto [Hash, Rest] = Content->getBuffer().split('\n');
  if (Hash != hashOfText(Rest))
    return std::nullopt;
  Reader In(Rest);
  Kept Found;
  visit(In, Found);
  if (In.hasFailed())
    return std::nullopt;
  const std::optional<FileResult> Result = decode(Found.Result);
  if (!Result || !Result->MayBeKept || !IsUnchanged(Result->Read))
    return std::nullopt;
  for (const auto &[Header, HeaderHash] : Result->Headers)
    if (!Headers.isCurrent(Header, HeaderHash))
      return std::nullopt;
  markUsed(Path);
  JobOutcome Outcome;
  Outcome.Result = std::move(Found.Result);
  Outcome.Output = std::move(Found.Output);
  Outcome.Errors = std::move(Found.Errors);
  return Outcome;
}

void KeptResults::keep(StringRef Key, const JobOutcome &Outcome,
                       const FileResult &Result) {
  if (Key.empty() || !Outcome.Failure.empty() || !Result.MayBeKept ||
      Result.Read.IsUnsteady)
    return;
  // Who cannot keep them has them the slow way. The cache of headers tells what
  // is wrong with the folder of both.
  if (!claimFolder(Folder, Settings.Cache.Folder, isKept).empty())
    return;
  Writer Out;
  Kept New{Outcome.Result, Outcome.Output, Outcome.Errors};
  visit(Out, New);
  if (!writeWhole(pathOf(Key), hashOfText(Out.Bytes) + "\n" + Out.Bytes))
    HasKept = true;
}

} // namespace torchtidy::tool
