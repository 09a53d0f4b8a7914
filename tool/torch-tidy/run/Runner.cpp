#include "run/Runner.h"
#include "Messages.h"
#include "cache/Bytes.h"
#include "headers/Includes.h"
#include "run/Batches.h"
#include "run/KeptResults.h"
#include "run/Merge.h"
#include "run/Progress.h"
#include "llvm/Support/Path.h"
#include <utility>

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

/// As Clang and its tools end a file.
void tellEnd(StringRef Source, const FileResult &Result,
             const RunSettings &Settings) {
  // Each source of a program has been told of by itself.
  if (Settings.Analysis.ArePrograms)
    return;
  // Where most errors follow from one and are not shown, their number would
  // stand above that one alone.
  const bool AreHidden =
      llvm::any_of(Result.Findings, [&](const tidy::ClangTidyError &Each) {
        const StringRef Missing = missingHeader(Each.Message.Message);
        return Each.DiagLevel == tidy::ClangTidyError::Error &&
               !Missing.empty() &&
               (Settings.Analysis.AreInferred || isOfLibTorch(Missing));
      });
  if ((Result.Warnings || Result.Errors) && !Settings.IsQuiet && !AreHidden) {
    if (Result.Warnings)
      errs() << counted(Result.Warnings, "warning");
    if (Result.Warnings && Result.Errors)
      errs() << " and ";
    if (Result.Errors)
      errs() << counted(Result.Errors, "error");
    errs() << " generated.\n";
  }
  if (Result.Errors)
    errs() << "Error while processing " << Source << ".\n";
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

/// Of so many sources it is learnt what the others of a batch will read.
constexpr size_t Lessons = 8;

/// In the process of a batch.
void runBatch(FileAnalysis &Analysis, ArrayRef<std::string> Sources,
              const Pool::Jobs &Whole, const PoolSettings &Settings,
              JobControl &Control, const Pool::Tell &Tell) {
  std::vector<std::string> Names;
  for (const size_t Job : Whole)
    Names.push_back(Sources[Job]);
  Analysis.share(Names, Control, [&](std::vector<FileAnalysis::Class> Classes) {
    for (const FileAnalysis::Class &Other : ArrayRef(Classes).drop_front()) {
      Pool::Jobs Apart;
      for (const size_t Index : Other)
        Apart.push_back(Whole[Index]);
      Tell.Apart(Apart);
    }
    const FileAnalysis::Class &Mine = Classes.front();
    std::vector<uint64_t> AllRead = Analysis.readBefore();
    Analysis.readAhead(AllRead);
    const size_t NumBefore = AllRead.size();
    Control.handOver();
    Pool Processes(Settings);
    size_t Learnt = 0;
    Processes.OnEnded = [&](size_t Index, const JobOutcome &Outcome) {
      JobOutcome Told = Outcome;
      if (Outcome.Failure.empty()) {
        Reader In(Outcome.Result);
        std::vector<uint64_t> Read;
        In.text(Told.Result);
        In.list(Read, [&](uint64_t &Each) { In.integer(Each); });
        if (In.hasFailed()) {
          Told.Failure = "its findings came back damaged";
        } else if (Learnt++ < Lessons) {
          Analysis.readAhead(Read);
          llvm::append_range(AllRead, Read);
        }
      }
      Tell.Ended(Whole[Mine[Index]], Told);
    };
    const auto Work = [&](size_t Index, unsigned Tries, JobControl &Its) {
      Writer Out;
      Out.text(encode(Analysis.run(Names[Mine[Index]], Tries > 0, Its)));
      std::vector<uint64_t> Read = Analysis.takeRead();
      Out.list(Read, [&](uint64_t &Each) { Out.integer(Each); });
      return std::move(Out.Bytes);
    };
    Processes.run(Mine.size(), Work, [](size_t, const JobOutcome &) {});
    if (!NumBefore && !AllRead.empty()) {
      // Files that ran at the same time have read much the same.
      llvm::sort(AllRead);
      AllRead.erase(llvm::unique(AllRead), AllRead.end());
      Analysis.tellRead(std::move(AllRead));
    }
  });
}

} // namespace

void addShortfalls(RunResult &To, std::vector<Shortfall> More) {
  for (Shortfall &Each : More)
    if (llvm::none_of(To.Shortfalls, [&](const Shortfall &Known) {
          return Known.Place == Each.Place && Known.Name == Each.Name;
        }))
      To.Shortfalls.push_back(std::move(Each));
}

size_t dropFindings(RunResult &From,
                    function_ref<bool(const tidy::ClangTidyError &)> Is) {
  std::set<FindingPlace> Dropped;
  llvm::erase_if(From.Findings, [&](const tidy::ClangTidyError &Each) {
    const bool IsMeant = Is(Each);
    if (IsMeant)
      Dropped.insert(placeOf(Each));
    return IsMeant;
  });
  llvm::erase_if(From.Evidences, [&](const Evidence &Each) {
    return Dropped.count(placeOf(Each)) != 0;
  });
  return Dropped.size();
}

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
  if (!Settings.Analysis.Cache.Folder.empty()) {
    Processes.MakeBatches = [&](const Pool::Jobs &Unknown) {
      return batches(Sources, Unknown, Database, *Configured);
    };
    Processes.DoBatch = [&](const Pool::Jobs &Whole, JobControl &Control,
                            const Pool::Tell &Tell) {
      runBatch(Analysis, Sources, Whole, Settings.Processes, Control, Tell);
    };
  }
  if (Shown.isLive()) {
    Processes.OnEnded = [&](size_t Job, const JobOutcome &Outcome) {
      Shown.ended(Job, resultOf(Outcome).Findings.size());
    };
    Processes.OnTick = [&](size_t Running, size_t Paused) {
      Shown.tick(Running, Paused);
    };
  }
  bool IsWaitTold = false;
  Processes.OnWait = [&](pid_t Other) {
    if (std::exchange(IsWaitTold, true))
      return;
    Shown.clear();
    note() << "waiting for "
           << (Other ? "process " + std::to_string(Other)
                     : std::string("another process"))
           << ", which is precompiling LibTorch's headers; for two minutes at "
              "most\n";
  };
  auto Work = [&](size_t Job, unsigned Tries, JobControl &Control) {
    return encode(Analysis.run(Sources[Job], Tries > 0, Control));
  };
  auto Finished = [&](size_t Job, const JobOutcome &Outcome) {
    Shown.clear();
    if (Sources.size() > 1 && !Shown.isLive()) {
      SmallString<256> Path(Sources[Job]);
      FS->makeAbsolute(Path);
      errs() << '[' << Job + 1 << '/' << Sources.size() << "] Processing file "
             << Path
             << (Settings.Analysis.ArePrograms ? " and what belongs to it.\n"
                                               : ".\n");
    }
    FileResult Result = resultOf(Outcome);
    if (Settings.Analysis.Explain)
      explain(WereKept[Job] ? Sources[Job] + ": not analysed: nothing has "
                                             "changed since it last was\n"
                            : Result.Explained);
    outs() << Outcome.Output;
    errs() << Outcome.Errors;
    tellEnd(Sources[Job], Result, Settings);
    if (WereKept[Job]) {
      Result.Trouble.clear();
    } else {
      if (Outcome.Failure.empty())
        Whole.Seconds.emplace_back(Sources[Job], Outcome.Seconds);
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
    llvm::move(Result.Nolints, std::back_inserter(Whole.Nolints));
    llvm::append_range(Whole.UserFiles[Sources[Job]], Result.UserFiles);
    llvm::move(Result.Written, std::back_inserter(Whole.Written));
    addShortfalls(Whole, std::move(Result.Shortfalls));
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
  if (Sources.size() > 1 || Settings.AreCompared)
    unifyPaths(Whole.Findings, Whole.Evidences, *FS);
  merge(Whole.Findings);
  return Whole;
}

} // namespace torchtidy::tool
