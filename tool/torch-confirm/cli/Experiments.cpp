#include "cli/Experiments.h"
#include "cli/Busiest.h"
#include "recording/FromTrace.h"
#include "report/Report.h"
#include "rules/Places.h"
#include "support/Errors.h"
#include "support/Files.h"
#include "trace/StackHash.h"
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace torchtidy::confirm {
namespace {

/// Those that a NoGradGuard cures.
bool isOfGradMode(const DiagnosedFinding &Finding) {
  return Finding.Check == "torch-missing-no-grad" ||
         Finding.Check == "torch-thread-local-guard";
}

std::string linesText(const OutputDifference &What) {
  return (What.Count == 1 ? "line " : "lines ") + lineNumbers(What);
}

double peakOf(const Recording &Run) {
  return double(Run.PeakCudaBytes ? Run.PeakCudaBytes : Run.PeakCpuBytes);
}

} // namespace

Experiments::Experiments(Watched Which, IgnoredLines Lines)
    : What(std::move(Which)), Ignored(std::move(Lines)) {
  struct stat Status;
  const bool IsFile =
      fstat(STDIN_FILENO, &Status) == 0 && S_ISREG(Status.st_mode);
  What.Input = IsFile ? "/proc/self/fd/0" : "/dev/null";
}

Experiments::Done Experiments::run(const std::string &Name,
                                   const std::string &NoGrad,
                                   const Variables &Also) {
  Done Result;
  Watched Now = What;
  Now.Environment.insert(Now.Environment.end(), Also.begin(), Also.end());
  Now.Output = Result.Output = Folder.path() + "/" + Name + ".out";
  Now.Trace = Folder.path() + "/" + Name + ".trace";
  if (!NoGrad.empty()) {
    const std::string File = Folder.path() + "/" + Name + ".stacks";
    writeFile(File, NoGrad);
    Now.Environment.emplace_back("TORCH_CONFIRM_NO_GRAD", File);
  }
  Result.End = execute(Now);
  if (Result.End.Signal == SIGINT)
    throw UserError("the run was ended by Ctrl-C");
  auto Trace = busiest(Now.Trace);
  if (!Trace)
    throw UserError("the probe recorded nothing of '" + Now.Command[0] + "'");
  Result.Trace = std::move(*Trace);
  Result.Run = recordingOf(Result.Trace);
  return Result;
}

Recording Experiments::first(Ended &End, const Variables &Also) {
  std::cerr << "torch-confirm: running it for the first time; what it prints "
               "comes when it has ended\n";
  First = run("first", "", Also);
  if (std::ifstream Printed(First.Output, std::ios::binary);
      Printed.peek() != std::ifstream::traits_type::eof())
    std::cout << Printed.rdbuf() << std::flush;
  End = First.End;
  return First.Run;
}

void Experiments::amend(std::vector<JudgedFinding> &All) {
  for (JudgedFinding &Each : All)
    if (Each.Result.Result == Outcome::Confirmed && isOfGradMode(Each.Finding))
      tryWithoutGrad(Each);
}

std::string Experiments::stacksOf(const DiagnosedFinding &Finding,
                                  std::string &Why) const {
  const SourceMatch Sources(First.Run);
  const Places Where(Finding, First.Run, Sources);
  std::set<uint64_t> Found;
  Why = "the same calls lead to passes that a backward runs, and grad mode "
        "cannot be switched off for the others alone";
  for (const CallPath &Path : Where.Statement) {
    uint64_t Made = 0, Run = 0;
    for (const Site *S : Path.Sites) {
      Made += S->NodesMade;
      Run += S->NodesRun;
    }
    if (!Made || Run)
      continue;
    for (const Site *S : Path.Sites) {
      // Both are in one order.
      const trace::SiteData &Of =
          First.Trace.Sites[size_t(S - First.Run.Sites.data())];
      if (Of.IsShortened) {
        Why = "there are too many places to know them again";
        return "";
      }
      trace::StackHash Hash;
      for (const uint64_t Frame : Of.Frames)
        if (const trace::ModuleData *Module = First.Trace.moduleOf(Frame))
          Hash.add(Module->Path.c_str(), Frame - Module->LoadBase);
      Found.insert(Hash.value());
    }
  }
  std::string Result;
  for (const uint64_t Each : Found) {
    char Line[32];
    std::snprintf(Line, sizeof(Line), "%016llx\n",
                  static_cast<unsigned long long>(Each));
    Result += Line;
  }
  return Result;
}

const std::string &Experiments::unsteady() {
  if (Unsteady)
    return *Unsteady;
  std::cerr << "torch-confirm: running it once more as it is, to see whether "
               "two runs are alike\n";
  const Done Second = run("second", "");
  Unsteady = "";
  if (First.End.text() != Second.End.text())
    Unsteady = "two runs of the program as it is end with " + First.End.text() +
               " and with " + Second.End.text();
  else if (const auto Beside =
               compareOutputs(First.Output, Second.Output, Ignored);
           !Beside.isSame())
    Unsteady =
        "two runs of the program as it is differ in " + linesText(Beside);
  return *Unsteady;
}

void Experiments::tryWithoutGrad(JudgedFinding &Each) {
  Verdict &V = Each.Result;
  Experiment &Told = Each.Tried.emplace();
  Told.Action = "grad mode switched off at this line";
  const std::string Stacks = stacksOf(Each.Finding, Told.Sentence);
  if (!Stacks.empty())
    Told.Sentence = unsteady();
  if (!Told.Sentence.empty()) {
    Told.Sentence = "not measurable by experiment: " + Told.Sentence;
    return;
  }
  std::cerr << "torch-confirm: running it with " << Told.Action << ": "
            << placeOf(Each.Finding) << '\n';
  const Done Now = run("without-" + std::to_string(++Count), Stacks);
  const Verdict With = judge({Each.Finding}, Now.Run).front().Result;
  const auto Line = [](const std::string &Said, const Recording &Run) {
    return Said + "; peak of all tensors " + bytesText(peakOf(Run));
  };
  Told.Before = Line(V.Sentence, First.Run);
  Told.After = Line(With.Sentence, Now.Run);
  const auto Beside = compareOutputs(First.Output, Now.Output, Ignored);
  const auto Instead = [&](Outcome Result) {
    V.Result = Result;
    V.Sentence = "with " + Told.Action + " " + Told.Sentence;
    V.CostText.clear();
  };
  if (First.End.text() != Now.End.text()) {
    Told.Sentence = "the program ends with " + Now.End.text() +
                    " in place of " + First.End.text() + ": it needs the graph";
    Instead(Outcome::Refuted);
  } else if (!Beside.isSame()) {
    Told.Sentence = "the program prints something else in " + linesText(Beside);
    Instead(Outcome::NotMeasurable);
  } else if (With.Result == Outcome::Refuted &&
             With.Iterations == V.Iterations) {
    Told.Sentence =
        "exit code and output (" +
        countText(double(Beside.LinesBefore - Beside.Ignored), "line") +
        ") are the same";
    Told.IsProof = true;
  } else {
    Told.Sentence = "not measurable by experiment: the program is the same, "
                    "but it still makes graphs there, or not as many passes";
  }
}

} // namespace torchtidy::confirm
