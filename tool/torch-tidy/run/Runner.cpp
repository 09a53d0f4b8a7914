#include "run/Runner.h"
#include "Messages.h"
#include "run/KeptResults.h"
#include "run/Merge.h"
#include "run/Progress.h"
#include "llvm/Support/Path.h"

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {
namespace {

void add(tidy::ClangTidyStats &Sum, const tidy::ClangTidyStats &Each) {
  Sum.ErrorsDisplayed += Each.ErrorsDisplayed;
  Sum.ErrorsIgnoredCheckFilter += Each.ErrorsIgnoredCheckFilter;
  Sum.ErrorsIgnoredNOLINT += Each.ErrorsIgnoredNOLINT;
  Sum.ErrorsIgnoredNonUserCode += Each.ErrorsIgnoredNonUserCode;
  Sum.ErrorsIgnoredLineFilter += Each.ErrorsIgnoredLineFilter;
}

/// Lines: each of one note.
void explain(StringRef Lines) {
  for (const StringRef Line : llvm::split(Lines.rtrim('\n'), '\n'))
    if (!Line.empty())
      note() << Line << '\n';
}

FileResult resultOf(const JobOutcome &Outcome) {
  FileResult Result;
  Result.Failure = Outcome.Failure;
  if (!Outcome.Failure.empty())
    return Result;
  if (std::optional<FileResult> Decoded = decode(Outcome.Result))
    return std::move(*Decoded);
  Result.Failure = "its findings came back damaged";
  return Result;
}

} // namespace

RunResult runChecks(const ContextMaker &MakeContext,
                    const tooling::CompilationDatabase &Database,
                    ArrayRef<std::string> Sources,
                    IntrusiveRefCntPtr<vfs::OverlayFileSystem> FS,
                    const RunSettings &Settings) {
  RunResult Whole;
  Progress Shown(Sources);
  std::string Trouble;
  FileAnalysis Analysis(MakeContext, Database, FS, Settings.Analysis);

  KeptResults Kept(Settings.Analysis, Analysis.headers());
  const std::unique_ptr<tidy::ClangTidyContext> Configured = MakeContext();
  std::vector<std::string> Keys(Sources.size());
  std::vector<bool> WereKept(Sources.size());

  Pool Processes(Settings.Processes);
  Processes.IsKnown = [&](size_t Job) {
    Keys[Job] = Kept.key(Sources[Job], Database, *Configured);
    std::optional<JobOutcome> Known = Kept.find(Keys[Job]);
    WereKept[Job] = Known.has_value();
    return Known;
  };
  if (Shown.isLive()) {
    Processes.OnEnded = [&](size_t Job, const JobOutcome &Outcome) {
      Shown.ended(Job, resultOf(Outcome).Findings.size());
    };
    Processes.OnTick = [&](size_t Running, size_t Paused) {
      Shown.tick(Running, Paused);
    };
  }
  auto Work = [&](size_t Job, unsigned Tries, JobControl &Control) {
    return encode(Analysis.run(Sources[Job], Tries > 0, Control));
  };
  auto Finished = [&](size_t Job, const JobOutcome &Outcome) {
    Shown.clear();
    if (Sources.size() > 1 && !Shown.isLive()) {
      SmallString<256> Path(Sources[Job]);
      FS->makeAbsolute(Path);
      errs() << '[' << Job + 1 << '/' << Sources.size() << "] Processing file "
             << Path << ".\n";
    }
    FileResult Result = resultOf(Outcome);
    if (Settings.Analysis.Explain)
      explain(WereKept[Job] ? Sources[Job] + ": not analysed: nothing has "
                                             "changed since it last was\n"
                            : Result.Explained);
    outs() << Outcome.Output;
    errs() << Outcome.Errors;
    if (WereKept[Job]) {
      Result.Trouble.clear();
    } else {
      Kept.keep(Keys[Job], Outcome, Result);
      for (const auto &[Header, Hash] : Result.Headers)
        Analysis.headers().look(Header);
    }
    if (!Result.Trouble.empty() && Result.Trouble != Trouble) {
      note() << "LibTorch's headers are parsed in full: " << Result.Trouble
             << '\n';
      Trouble = Result.Trouble;
    }
    if (!Result.Failure.empty())
      Whole.Failures.push_back({Sources[Job], Result.Failure});
    llvm::move(Result.Findings, std::back_inserter(Whole.Findings));
    llvm::move(Result.Evidences, std::back_inserter(Whole.Evidences));
    // A function of a header is met in several files.
    for (Shortfall &Each : Result.Shortfalls)
      if (llvm::none_of(Whole.Shortfalls, [&](const Shortfall &Known) {
            return Known.Place == Each.Place && Known.Name == Each.Name;
          }))
        Whole.Shortfalls.push_back(std::move(Each));
    for (HiddenCode &Each : Result.Hidden)
      if (llvm::none_of(Whole.Hidden, [&](const HiddenCode &Known) {
            return Known.Path == Each.Path && Known.Line == Each.Line;
          }))
        Whole.Hidden.push_back(std::move(Each));
    if (!Result.Defined.empty())
      ++Whole.Defined[Result.Defined];
    add(Whole.Stats, Result.Stats);
    Whole.Functions += Result.Functions;
    Whole.Unanalysed += Result.Unanalysed;
    ++Whole.NumDone;
    Whole.NumWithoutLibTorch += Result.UsesNoLibTorch;
  };
  Whole.Signal = Processes.run(Sources.size(), Work, Finished);
  Shown.clear();
  // Those of a single file are shown as clang-tidy shows them.
  if (Sources.size() > 1)
    unifyPaths(Whole.Findings, Whole.Evidences, *FS);
  merge(Whole.Findings);
  return Whole;
}

} // namespace torchtidy::tool
