#include "report/Conclude.h"
#include "Messages.h"
#include "clang-tidy/ClangTidy.h"
#include "inputs/Tree.h"
#include "report/Report.h"
#include "report/Sarif.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>

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

int conclude(const Options &Line, RunResult Done, bool AllAnalysed,
             bool AreInferred, ArrayRef<std::string> Sources,
             StringRef Executable, ClangTidyContext &Context,
             IntrusiveRefCntPtr<vfs::OverlayFileSystem> FS) {
  Findings &All = Done.Findings;
  const bool CompileErrors = hasCompileErrors(All);
  const bool WantsFixes = Line.Fix || Line.FixErrors || Line.FixNotes;
  const bool MayFix =
      WantsFixes && !Done.Signal && (!CompileErrors || Line.FixErrors);
  const MissingHeaders Missing = findMissingHeaders(All);
  const unsigned Hidden =
      AreInferred && !Missing.empty() ? removeCompileErrors(All) : 0;
  limitCompileErrors(All);
  // Before a fix changes the sources.
  std::optional<json::Value> Sarif;
  if (!Line.Sarif.empty())
    Sarif = toSarif(Done, All, AllAnalysed, Executable, FS);
  unsigned WarningsAsErrors = 0;
  handleErrors(All, Context,
               !MayFix         ? FB_NoFix
               : Line.FixNotes ? FB_FixNotes
                               : FB_Fix,
               WarningsAsErrors, FS);
  outs().flush();
  explainMissingHeaders(Missing, AreInferred, Hidden);
  if (Done.Unanalysed)
    note() << Done.Unanalysed << " of " << Done.Functions
           << " functions could not be analysed, for compile errors in them\n";

  if (Done.Signal) {
    error() << "ended by a signal (" << strsignal(Done.Signal)
            << "): " << Done.NumDone << " of " << Sources.size()
            << " files were analysed; nothing was written\n";
    return 128 + Done.Signal;
  }

  if (Sarif && !writeTo(Line.Sarif, [&](raw_ostream &OS) {
        OS << formatv("{0:2}", *Sarif) << '\n';
      }))
    return 1;
  if (!Line.ExportFixes.empty() && !All.empty() &&
      !writeTo(Line.ExportFixes, [&](raw_ostream &OS) {
        exportReplacements(absolutePath(Sources.front()), All, OS);
      }))
    return 1;

  if (!Line.Quiet) {
    printSuppressed(Done.Stats);
    if (WantsFixes && !MayFix)
      errs() << "Found compiler errors, but -fix-errors was not specified.\n"
                "Fixes have NOT been applied.\n\n";
  }

  int ExitCode = AllAnalysed ? 0 : 1;
  unsigned Gated = Line.FailOn ? countUpToLevel(All, *Line.FailOn) : 0;
  if (Gated) {
    ExitCode = 1;
    if (!Line.Quiet)
      errs() << "torch-tidy: " << Gated << " finding" << (Gated == 1 ? "" : "s")
             << " of level " << *Line.FailOn << " or below (--fail-on)\n";
  }
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
