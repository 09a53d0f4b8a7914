#include "report/Conclude.h"
#include "Diverted.h"
#include "Messages.h"
#include "clang-tidy/ClangTidy.h"
#include "inputs/Tree.h"
#include "report/Baseline.h"
#include "report/Fixes.h"
#include "report/Formats.h"
#include "report/Links.h"
#include "report/Locations.h"
#include "report/Nolint.h"
#include "report/Replace.h"
#include "report/Report.h"
#include "report/Sarif.h"
#include "report/SourceText.h"
#include "run/Merge.h"
#include "run/Watch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"
#include <cstring>
#include <unistd.h>

using namespace clang::tidy;
using namespace llvm;

namespace torchtidy::tool {

/// False where that fails, which has been said then.
static bool writeTo(const std::string &File,
                    function_ref<void(raw_ostream &)> Write) {
  std::error_code Failure;
  raw_fd_ostream OS(File, Failure, sys::fs::OF_None);
  if (!Failure) {
    Write(OS);
    OS.close();
    Failure = OS.error();
    OS.clear_error();
  }
  if (Failure)
    error() << "cannot write '" << File << "': " << Failure.message() << '\n';
  return !Failure;
}

/// Without the fixes that lie so far from their findings that no snippet shows
/// both: Clang's printer then numbers the line that it shows by the other.
static Findings printable(Findings All,
                          IntrusiveRefCntPtr<vfs::FileSystem> FS) {
  constexpr unsigned LinesOfSnippet = 16;
  SourceTexts Texts(std::move(FS));
  for (ClangTidyError &Each : All) {
    clang::tooling::DiagnosticMessage &Message = Each.Message;
    if (Message.Fix.empty())
      continue;
    const SourceText &Text = Texts.of(Message.FilePath);
    const unsigned Line = Text.place(Message.FileOffset).Line;
    bool IsFar = false;
    for (const auto &File : Message.Fix)
      for (const clang::tooling::Replacement &Change : File.second) {
        const unsigned Other = Text.place(Change.getOffset()).Line;
        IsFar |=
            File.first() == Message.FilePath &&
            std::max(Line, Other) - std::min(Line, Other) + 1 >= LinesOfSnippet;
      }
    if (IsFar)
      Message.Fix.clear();
  }
  return All;
}

/// Prints the findings as clang-tidy does, and applies fixes. Takes those that
/// are fixed out of Remaining. Executable: of the program, beside which the
/// pages lie that names of checks lead to.
static void handle(const Findings &All, ClangTidyContext &Context,
                   FixBehaviour Fix, bool Prints, bool Quiet,
                   Findings &Remaining, StringRef Executable,
                   IntrusiveRefCntPtr<vfs::OverlayFileSystem> FS) {
  // Of all, also of those that are fixed.
  unsigned WarningsAsErrors = 0;
  std::optional<Edits> Wanted;
  FileModes Modes;
  Findings Shown = All;
  if (Fix != FB_NoFix) {
    // In the place of a link Clang would put a file.
    for (ClangTidyError &Finding : Shown)
      renameFiles(Finding, [&](StringRef Path) {
        const std::string Whole =
            Locations::whole(Path, Finding.BuildDirectory);
        std::string File = Path.empty() ? "" : behindLinks(Whole);
        return File == Whole ? Path.str() : File;
      });
    Wanted.emplace(Shown, Fix == FB_FixNotes);
    for (const auto &[File, Edits] : Wanted->ByFile)
      Modes.add(File);
  } else if (Prints) {
    Shown = printable(std::move(Shown), FS);
  }
  outs().flush();
  const bool Links = Prints && Context.getOptions().UseColor.value_or(false) &&
                     terminalHasLinks();
  // It prints to standard output and to nothing else.
  std::optional<Diverted> Output, Said;
  if (!Prints || Links)
    Output.emplace(STDOUT_FILENO);
  // But for the words about fixes, which name clang-tidy.
  if (Fix != FB_NoFix)
    Said.emplace(STDERR_FILENO);
  handleErrors(Shown, Context, Fix, WarningsAsErrors, FS);
  Modes.restore();
  outs().flush();
  if (Links)
    outs() << withLinks(Output->end(), Executable);
  outs().flush();
  Output.reset();
  if (Said)
    concludeFixes(Said->end(), Remaining, *Wanted, Quiet);
}

/// False where something cannot be written, which has been said then.
static bool writeFiles(const Options &Line, const Findings &All,
                       const std::optional<json::Value> &Sarif,
                       StringRef FirstSource) {
  if (!Line.Sarif.empty() && !writeTo(Line.Sarif, [&](raw_ostream &OS) {
        OS << formatv("{0:2}", *Sarif) << '\n';
      }))
    return false;
  return Line.ExportFixes.empty() || All.empty() ||
         writeTo(Line.ExportFixes, [&](raw_ostream &OS) {
           exportReplacements(absolutePath(FirstSource), All, OS);
         });
}

/// What --write-baseline asks for: the findings are accepted as they are.
static int writeBaseline(const Options &Line, const Findings &All, bool InWhole,
                         IntrusiveRefCntPtr<vfs::FileSystem> FS) {
  if (!InWhole) {
    error() << "the baseline was not written: not all files could be "
               "analysed\n";
    return 1;
  }
  Baseline Known(Line.WriteBaseline, std::move(FS));
  Known.add(All);
  if (!writeTo(Line.WriteBaseline, [&](raw_ostream &OS) { Known.write(OS); }))
    return 1;
  if (!Line.Quiet)
    note() << "wrote " << counted(Known.size(), "finding") << " to '"
           << Line.WriteBaseline << "'\n";
  return 0;
}

int conclude(const Options &Line, Analysed Given, ClangTidyContext &Context,
             IntrusiveRefCntPtr<vfs::OverlayFileSystem> FS) {
  RunResult &Done = Given.Result;
  const ArrayRef<std::string> Sources = Given.Sources;
  Findings &All = Done.Findings;
  const bool CompileErrors = hasCompileErrors(All);
  const bool WantsFixes = !Line.ShowFixes && Line.asksForFixes();
  const bool MayFix =
      WantsFixes && !Done.Signal && (!CompileErrors || Line.FixErrors);
  const MissingHeaders Missing = findMissingHeaders(All);
  const unsigned Hidden = Missing.empty()     ? 0
                          : Given.AreInferred ? removeCompileErrors(All)
                                              : removeConsequences(All);
  limitCompileErrors(All);
  if (!Line.WriteBaseline.empty() && !Done.Signal)
    return writeBaseline(Line, All, Given.InWhole && !CompileErrors, FS);
  Given.Selected.apply(All, FS);
  if (!Line.AddNolint.empty() && !Done.Signal) {
    explainMissingHeaders(Missing, Given.AreInferred, Hidden);
    const int Code = addNolint(All, Line.AddNolint, FS);
    return Given.InWhole && !CompileErrors ? Code : 1;
  }
  // Before a fix changes the sources.
  std::optional<json::Value> Sarif;
  if (!Line.Sarif.empty() || Line.Output == Format::Sarif)
    Sarif = toSarif(Done, All, Given.InWhole, Given.Executable, FS);
  if (Line.Output == Format::Sarif)
    outs() << formatv("{0:2}", *Sarif) << '\n';
  else if (Line.Output != Format::Text && !Line.Statistics)
    writeFindings(outs(), Line.Output, All, Line.FailOn, FS);
  if (Line.Statistics && !Done.Signal)
    writeStatistics(outs(), Line.Output, All);
  const bool PrintsFindings =
      Line.Output == Format::Text && !Line.Statistics && !Line.ShowFixes;
  // What is fixed fails nothing; it is reported all the same.
  Findings Remaining = All;
  handle(All, Context,
         !MayFix         ? FB_NoFix
         : Line.FixNotes ? FB_FixNotes
                         : FB_Fix,
         PrintsFindings, Line.Quiet, Remaining, Given.Executable, FS);
  const auto WarningsAsErrors =
      llvm::count_if(Remaining, [](const ClangTidyError &Each) {
        return Each.IsWarningAsError;
      });
  if (Line.ShowFixes && !Done.Signal &&
      !showFixes(All, Line, CompileErrors, Context, FS))
    return 1;
  explainMissingHeaders(Missing, Given.AreInferred, Hidden);
  if (Done.Unanalysed)
    note()
        << Done.Unanalysed << " of " << Done.Functions
        << " functions have compile errors: they were analysed around these, "
           "and findings may be missing\n";
  explainShortfalls(Done.Shortfalls);
  explainHidden(Done.Hidden, Done.Defined);

  if (Done.Signal) {
    error() << "ended by a signal (" << strsignal(Done.Signal)
            << "): " << Done.NumDone << " of " << Sources.size()
            << " files were analysed; nothing was written\n";
    return 128 + Done.Signal;
  }

  if (!writeFiles(Line, All, Sarif, Sources.empty() ? "" : Sources.front()))
    return 1;

  // Of a single file clang-tidy says nothing where nothing is found. What was
  // not parsed is told all the same.
  const bool Summarizes =
      !Line.Quiet && (Sources.size() > 1 || Done.NumWithoutLibTorch ||
                      Line.Output != Format::Text || !Line.Diff.empty() ||
                      !Line.Baseline.empty());
  if (!Line.Quiet) {
    printSuppressed(Done.Stats);
    if (WantsFixes && !MayFix)
      errs() << "Found compiler errors, but -fix-errors was not specified.\n"
                "Fixes have NOT been applied.\n\n";
    Given.Selected.explain(
        Given.InWhole && !CompileErrors ? Sources : ArrayRef<std::string>());
    if (Summarizes)
      summarize(All, Sources.size(), Done.Failures.size(),
                Done.NumWithoutLibTorch, Done.Shortfalls.size(), Done.Hidden);
  }

  int ExitCode = Given.InWhole ? 0 : 1;
  const Findings Gated =
      Line.FailOn ? upToLevel(Remaining, *Line.FailOn) : Findings();
  if (!Gated.empty()) {
    ExitCode = 1;
    if (!Line.Quiet)
      tellGate(Gated.size(), *Line.FailOn);
  }
  // Programs that take this for clang-tidy start it for one file each, and show
  // what it says: there the note would be as often. Nor is it made anew at each
  // change of a file.
  const bool IsGate = !checksOf(Gated).empty();
  if (!Line.Quiet &&
      (IsGate || (PrintsFindings && !isWatched() &&
                  (Summarizes || sys::Process::StandardErrIsDisplayed()))))
    explainChecks(checksOf(Remaining), IsGate, Summarizes);
  if (WarningsAsErrors) {
    ExitCode = 1;
    if (!Line.Quiet)
      errs() << WarningsAsErrors
             << (WarningsAsErrors == 1 ? " warning treated as error\n"
                                       : " warnings treated as errors\n");
  } else if (CompileErrors && !Line.FixErrors) {
    ExitCode = 1;
    if (!Line.Quiet)
      errs() << "Found compiler error(s).\n";
  }
  return ExitCode;
}

} // namespace torchtidy::tool
