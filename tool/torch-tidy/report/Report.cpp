#include "report/Report.h"
#include "Messages.h"
#include "Registry.h"
#include "headers/Includes.h"
#include "run/Nolints.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"

using namespace clang::tidy;
using namespace llvm;

namespace torchtidy::tool {
namespace {

/// Clang's own limit.
constexpr unsigned ShownErrorsPerFile = 20;

bool isCompileError(const ClangTidyError &Finding) {
  return Finding.DiagnosticName == "clang-diagnostic-error";
}

} // namespace

void limitCompileErrors(Findings &All) {
  MapVector<StringRef, unsigned> Errors;
  Findings Kept;
  for (ClangTidyError &Finding : All)
    if (!isCompileError(Finding) ||
        ++Errors[Finding.Message.FilePath] <= ShownErrorsPerFile)
      Kept.push_back(Finding);
  for (const auto &[File, Count] : Errors)
    if (Count > ShownErrorsPerFile)
      note() << File << ": " << Count - ShownErrorsPerFile
             << " more compile errors are not shown\n";
  All = std::move(Kept);
}

unsigned removeCompileErrors(Findings &All) {
  const size_t Before = All.size();
  llvm::erase_if(All, isCompileError);
  return Before - All.size();
}

unsigned removeConsequences(Findings &All) {
  if (llvm::none_of(All, [](const ClangTidyError &Finding) {
        return isCompileError(Finding) &&
               isOfLibTorch(missingHeader(Finding.Message.Message));
      }))
    return 0;
  const size_t Before = All.size();
  llvm::erase_if(All, [](const ClangTidyError &Finding) {
    return isCompileError(Finding) &&
           missingHeader(Finding.Message.Message).empty();
  });
  return Before - All.size();
}

MissingHeaders findMissingHeaders(const Findings &All) {
  MissingHeaders Result;
  for (const ClangTidyError &Finding : All) {
    const StringRef Header = isCompileError(Finding)
                                 ? missingHeader(Finding.Message.Message)
                                 : StringRef();
    if (Header.empty())
      continue;
    std::vector<std::string> &Files = Result[Header.str()];
    if (!is_contained(Files, Finding.Message.FilePath))
      Files.push_back(Finding.Message.FilePath);
  }
  return Result;
}

namespace {

/// Headers of one folder, "opencv2", are missing together.
struct MissingPackage {
  /// The first of them, and how many more there are.
  StringRef Header;
  size_t More = 0;
  std::vector<std::string> Files;
};

} // namespace

static StringRef packageOf(StringRef Header) {
  return Header.contains('/') ? Header.split('/').first : Header;
}

/// Missing is sorted: headers of a package stand together.
static std::vector<MissingPackage> byPackage(const MissingHeaders &Missing) {
  std::vector<MissingPackage> Result;
  for (const auto &[Header, Files] : Missing) {
    if (Result.empty() || packageOf(Result.back().Header) != packageOf(Header))
      Result.push_back({Header, 0, Files});
    else if (++Result.back().More)
      for (const std::string &File : Files)
        if (!is_contained(Result.back().Files, File))
          Result.back().Files.push_back(File);
  }
  return Result;
}

void explainMissingHeaders(const MissingHeaders &Missing, bool AreInferred,
                           unsigned Hidden) {
  constexpr size_t Shown = 3;
  const bool NoLibTorch = llvm::any_of(
      Missing, [](const auto &Each) { return isOfLibTorch(Each.first); });
  for (const MissingPackage &Each : byPackage(Missing)) {
    warning() << "'" << Each.Header << "'";
    if (Each.More)
      errs() << " and " << counted(Each.More, "more header") << " of '"
             << packageOf(Each.Header) << "' were not found: ";
    else
      errs() << " was not found: ";
    ListSeparator Comma;
    for (const std::string &File : ArrayRef(Each.Files).take_front(Shown))
      errs() << Comma << File;
    if (Each.Files.size() > Shown)
      errs() << " and " << Each.Files.size() - Shown << " more";
    errs() << (Each.Files.size() == 1 ? " is" : " are") << " analysed without "
           << (Each.More ? "them" : "it") << ", and findings may be missing\n";
  }
  if (Hidden)
    note() << counted(Hidden, "compile error") << (Hidden == 1 ? " is" : " are")
           << " not shown: "
           << (AreInferred ? "the flags are inferred, and headers are missing\n"
                           : "LibTorch's headers are missing\n");
  if (!NoLibTorch)
    return;
  note() << "LibTorch's headers are found with -isystem <LibTorch>/include and "
            "-isystem <LibTorch>/include/torch/csrc/api/include";
  errs() << (AreInferred
                 ? " after '--', or in a compile_commands.json, or with "
                   "--libtorch=<LibTorch>\n"
                 : ": the compile command does not say where they are, or they "
                   "are gone; --extra-arg=-isystem<folder> adds to it\n");
}

static StringRef whatIsLeftOut(const Shortfall &Each) {
  switch (Each.Left) {
  case model::Shortfall::Calls:
    return "was analysed without some of the functions that it calls: with all "
           "of them it is too large";
  case model::Shortfall::Passes:
    return "has more behind a backward() than is told apart: what depends on "
           "which networks it reaches, or on what they saved, is not all told";
  case model::Shortfall::All:
    break;
  }
  return Each.IsTemplate
             ? "was left out: nothing here instantiates the template"
             : "was left out: it is too large to analyse";
}

void explainShortfalls(ArrayRef<Shortfall> Shortfalls) {
  constexpr size_t Shown = 10;
  for (const Shortfall &Each : Shortfalls.take_front(Shown))
    note() << Each.Place << ": '" << Each.Name << "' " << whatIsLeftOut(Each)
           << '\n';
  if (Shortfalls.size() > Shown)
    note() << Shortfalls.size() - Shown
           << " more functions were not analysed in full\n";
}

void explainHidden(ArrayRef<HiddenCode> Hidden,
                   const std::map<std::string, unsigned> &Defined) {
  for (const auto &[Macro, NumFiles] : Defined)
    note() << "-D" << Macro << " was added for " << counted(NumFiles, "file")
           << ": nobody has configured "
           << (NumFiles == 1 ? "it, and it uses" : "them, and they use")
           << " LibTorch only so\n";
  struct Part {
    unsigned Lines = 0;
    std::string Macro;
    SmallVector<StringRef, 4> Files;
  };
  MapVector<StringRef, Part> Conditions;
  for (const HiddenCode &Each : Hidden) {
    Part &Here = Conditions[Each.Condition];
    Here.Lines += Each.Lines;
    Here.Macro = Each.Macro;
    if (!is_contained(Here.Files, Each.Path))
      Here.Files.push_back(Each.Path);
  }
  constexpr size_t Shown = 3;
  for (const auto &[Condition, Here] : Conditions) {
    warning() << "'" << Condition << "' hides " << counted(Here.Lines, "line")
              << " with code that uses LibTorch in "
              << counted(Here.Files.size(), "file")
              << ", which were not analysed: ";
    ListSeparator Comma;
    for (StringRef File : ArrayRef(Here.Files).take_front(Shown))
      errs() << Comma << File;
    if (Here.Files.size() > Shown)
      errs() << " and " << Here.Files.size() - Shown << " more";
    if (!Here.Macro.empty())
      errs() << "; --extra-arg=-D" << Here.Macro << " shows them";
    errs() << '\n';
  }
}

void summarize(const Findings &All, size_t NumSources, size_t NumFailed,
               size_t NumWithoutLibTorch, size_t NumLeftOut,
               ArrayRef<HiddenCode> Hidden) {
  std::map<StringRef, unsigned> Checks;
  StringSet<> Files;
  unsigned Count = 0;
  for (const ClangTidyError &Finding : All) {
    if (isCompileError(Finding))
      continue;
    ++Count;
    ++Checks[Finding.DiagnosticName];
    Files.insert(Finding.Message.FilePath);
  }
  errs() << "torch-tidy: " << counted(Count, "finding");
  if (Count)
    errs() << " in " << counted(Files.size(), "file");
  errs() << "; "
         << counted(NumSources - NumWithoutLibTorch - NumFailed, "source")
         << " analysed";
  if (NumFailed)
    errs() << ", " << NumFailed << " not";
  if (NumWithoutLibTorch)
    errs() << ", " << NumWithoutLibTorch << " without LibTorch";
  if (NumLeftOut)
    errs() << ", " << counted(NumLeftOut, "function") << " not in full";
  unsigned HiddenLines = 0;
  for (const HiddenCode &Each : Hidden)
    HiddenLines += Each.Lines;
  if (HiddenLines)
    errs() << ", " << counted(HiddenLines, "line") << " hidden by conditions";
  errs() << '\n';
  for (const auto &[Check, Number] : Checks)
    errs() << "  " << format_decimal(Number, 5) << "  " << Check << '\n';
}

bool hasCompileErrors(const Findings &All) {
  return any_of(All, [](const ClangTidyError &Finding) {
    return Finding.DiagLevel == ClangTidyError::Error;
  });
}

std::optional<unsigned> levelOf(StringRef Check) {
  if (const CheckInfo *Ours = findCheck(Check))
    return Ours->Level;
  if (Check == UnusedNolint)
    return 0;
  return std::nullopt;
}

Findings upToLevel(const Findings &All, unsigned Level) {
  Findings Result;
  for (const ClangTidyError &Finding : All) {
    const std::optional<unsigned> Its = levelOf(Finding.DiagnosticName);
    if (Its && *Its <= Level)
      Result.push_back(Finding);
  }
  return Result;
}

std::vector<StringRef> checksOf(const Findings &All) {
  std::vector<StringRef> Result;
  for (const ClangTidyError &Finding : All)
    if (const CheckInfo *Check = findCheck(Finding.DiagnosticName);
        Check && !is_contained(Result, Check->Name))
      Result.push_back(Check->Name);
  return Result;
}

void explainChecks(ArrayRef<StringRef> Checks, bool IsGate, bool AreListed) {
  if (Checks.empty())
    return;
  const StringRef Name = Checks.size() == 1 ? Checks.front() : "<check>";
  raw_ostream &OS = note();
  if (IsGate)
    OS << "'// NOLINT(" << Name
       << ")' at the end of a line silences it there, ";
  OS << "'torch-tidy --explain " << Name << "' says why "
     << (Checks.size() == 1 ? "it matters" : "each of these matters")
     << ", and shows an example";
  if (Checks.size() > 1 && !AreListed)
    OS << ": " << llvm::join(Checks, ", ");
  OS << '\n';
}

void printSuppressed(const ClangTidyStats &Stats) {
  if (!Stats.errorsIgnored())
    return;
  const std::pair<unsigned, StringRef> Reasons[] = {
      {Stats.ErrorsIgnoredNonUserCode, " in non-user code"},
      {Stats.ErrorsIgnoredLineFilter, " due to line filter"},
      {Stats.ErrorsIgnoredNOLINT, " NOLINT"},
      {Stats.ErrorsIgnoredCheckFilter, " with check filters"}};
  errs() << "Suppressed " << Stats.errorsIgnored() << " warnings (";
  ListSeparator Comma;
  for (const auto &[Count, Reason] : Reasons)
    if (Count)
      errs() << Comma << Count << Reason;
  errs() << ").\n";
  if (Stats.ErrorsIgnoredNonUserCode)
    errs() << "Use -header-filter=.* to display errors from all non-system "
              "headers. Use -system-headers to display errors from system "
              "headers as well.\n";
}

} // namespace torchtidy::tool
