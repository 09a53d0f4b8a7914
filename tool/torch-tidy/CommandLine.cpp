#include "CommandLine.h"
#include "Diverted.h"
#include "Messages.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"
#include <unistd.h>

using namespace llvm;

namespace torchtidy::tool {

const llvm::StringLiteral Overview =
    "torch-tidy finds mistakes in C++ code that uses LibTorch\n\n"
    "  torch-tidy src/                          all sources of a folder\n"
    "  torch-tidy -p build                      all that is compiled in "
    "build/\n"
    "  torch-tidy -p build src/train.cpp        one file, flags from "
    "build/compile_commands.json\n"
    "  torch-tidy train.cpp -- -std=c++17 -isystem libtorch/include \\\n"
    "      -isystem libtorch/include/torch/csrc/api/include\n"
    "                                           flags after '--'\n"
    "  torch-tidy --fix -p build src/train.cpp  apply what the findings "
    "suggest\n"
    "  torch-tidy merge 1.sarif 2.sarif         one report of those of "
    "--shard\n"
    "  torch-tidy --explain torch-missing-zero-grad\n"
    "                                           what a check means\n\n"
    "It is clang-tidy with the torch checks built in: the same command line, "
    "the same\n"
    ".clang-tidy files, NOLINT comments and exit codes.\n";

const llvm::StringLiteral Footer =
    "\nSources and flags:\n"
    "  The flags of a source file come from the compile_commands.json in the "
    "folder\n"
    "  of -p, or else in the folders above the first source, or in 'build' "
    "there.\n"
    "  CMake writes it with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON. Flags after "
    "'--'\n"
    "  take its place. Without any the flags are inferred from the source "
    "tree.\n"
    "  A folder stands for the sources in it, a glob in quotes ('src/*.cpp') "
    "for\n"
    "  those that match; its '*' matches slashes too. With -p alone everything "
    "is\n"
    "  analysed.\n"
    "  @file on the command line stands for the arguments in that file.\n"
    "\nConfiguration:\n"
    "  The .clang-tidy in the folder of a source file, or above it, is YAML:\n"
    "      Checks: '-*,torch-*,bugprone-*'\n"
    "      WarningsAsErrors: 'torch-missing-zero-grad'\n"
    "      HeaderFilterRegex: 'src/.*'\n"
    "      CheckOptions:\n"
    "        torch-missing-no-grad.Strict: true\n"
    "  Later says more: --level's default, .clang-tidy, --level, --checks.\n"
    "  --dump-config prints what holds, --verify-config finds misspelt names.\n"
    "\nExit code:\n"
    "  0  the files were analysed, with findings or without\n"
    "  1  compile errors, a file that could not be analysed, findings of\n"
    "     --warnings-as-errors or --fail-on, or a command line in error\n"
    "  130  ended by Ctrl-C (128 and the number of the signal)\n";

/// LLVM's words about options that there are not, without the program's name
/// before each line; and what may be meant only where it is near.
static void tellUnknown(StringRef Reason, StringRef Program) {
  constexpr llvm::StringLiteral Unknown = "Unknown command line argument '",
                                Meant = "Did you mean '";
  StringRef Name;
  while (!Reason.empty()) {
    auto [Line, Rest] = Reason.split('\n');
    Reason = Rest;
    Line.consume_front(Program);
    Line.consume_front(": ");
    StringRef Option = Line;
    if (Option.consume_front(Unknown)) {
      Name = Option.take_until([](char C) { return C == '=' || C == '\''; });
      error() << Line << '\n';
    } else if (Option.consume_front(Meant)) {
      const StringRef Nearest =
          Option.take_until([](char C) { return C == '=' || C == '\''; });
      const unsigned Most = std::max<size_t>(2, Name.trim('-').size() / 3);
      if (Name.trim('-').edit_distance(Nearest.trim('-'), true, Most) <= Most)
        note() << Line << '\n';
    } else if (!Line.empty()) {
      error() << Line << '\n';
    }
  }
}

void tellOfPreview() {
  note()
      << "--show-fixes prints what --fix would change as a diff, and changes "
         "nothing\n";
}

/// "--fail-on=<0|1|2>", "-j<N>"; empty where that is not known.
static std::string usageOf(StringRef Option) {
  const auto &Known = cl::getRegisteredOptions();
  const auto It = Known.find(Option.ltrim('-'));
  if (It == Known.end() || It->second->ValueStr.empty())
    return "";
  const bool IsPrefix = It->second->getFormattingFlag() == cl::Prefix;
  return (Option + (IsPrefix ? "<" : "=<") + It->second->ValueStr + ">").str();
}

/// "torch-tidy: for the --fail-on option: requires a value!" is what LLVM says
/// of the values of options, to standard error and to nobody else.
static void tellValues(StringRef Said, StringRef Program) {
  for (StringRef Line : llvm::split(Said.rtrim('\n'), '\n')) {
    StringRef Words = Line;
    if (!Words.consume_front(Program) || !Words.consume_front(": for the ") ||
        !Words.contains(" option: ")) {
      errs() << Line << '\n';
      continue;
    }
    auto [Option, What] = Words.split(" option: ");
    What.consume_back("!");
    const std::string Usage = usageOf(Option);
    if (What == "requires a value")
      error() << Option << " needs a value"
              << (Usage.empty() ? "" : ": " + Usage) << '\n';
    else if (What.consume_back(" value invalid for uint argument"))
      error() << Option << " needs a number, and " << What << " is none\n";
    else
      error() << Option << ": " << What << '\n';
    if (Option == "--diff")
      tellOfPreview();
  }
}

static std::optional<Diverted> HeldWords;

/// What has come so far goes on being held.
static std::string SaidBefore;

void releaseWords() {
  if (HeldWords)
    SaidBefore += HeldWords->end();
  HeldWords.reset();
}

void holdWords() { HeldWords.emplace(STDERR_FILENO); }

bool parseOptions(int Count, const char *const *Args) {
  const StringRef Program = sys::path::filename(Args[0]);
  std::string Reason;
  raw_string_ostream ReasonStream(Reason);
  holdWords();
  const bool IsRight =
      cl::ParseCommandLineOptions(Count, Args, Overview, &ReasonStream);
  releaseWords();
  if (!SaidBefore.empty())
    tellValues(SaidBefore, Program);
  if (IsRight)
    return true;
  if (Reason.empty())
    note() << "--help explains the command line\n";
  else
    tellUnknown(Reason, Program);
  return false;
}

std::string conflictIn(const Options &Given) {
  const bool Fixes = Given.asksForFixes();
  const bool IsText = Given.Output == Format::Text;
  const bool WritesBaseline = !Given.WriteBaseline.empty();
  const bool ReadsPatch = Given.Diff == "-";
  if (!Given.StdinFilename.empty() &&
      (!Given.Sources.empty() || Fixes || WritesBaseline || ReadsPatch))
    return "--stdin-filename reads the only source from standard input: it "
           "goes with no other one, and not with --fix, --write-baseline or "
           "--diff=-";
  if (Given.Watch && (!Given.StdinFilename.empty() || ReadsPatch ||
                      !Given.AddNolint.empty() || WritesBaseline))
    return "--watch reads files again and again: it does not go together with "
           "--stdin-filename, --diff=-, --add-nolint and --write-baseline";
  if (Given.Statistics &&
      (Given.ShowFixes || (!IsText && Given.Output != Format::JsonLines)))
    return "--statistics goes with --format=text and --format=jsonl, and not "
           "with --show-fixes";
  if (!Given.AddNolint.empty() &&
      (Given.ShowFixes || Given.Statistics || Fixes || !IsText ||
       !Given.StdinFilename.empty() || WritesBaseline || Given.UnusedNolints))
    return "--add-nolint changes the files and prints no findings: it does "
           "not go together with fixes, formats, --statistics, "
           "--stdin-filename, --unused-nolints and --write-baseline";
  if (Given.ShowFixes && !IsText)
    return "--show-fixes prints a diff: it does not go together with --format";
  if (WritesBaseline && (!Given.Baseline.empty() || !Given.Diff.empty()))
    return "--write-baseline writes all findings: it does not go together "
           "with --baseline or --diff";
  if (WritesBaseline && Given.ThisShard)
    return "--write-baseline writes the findings of all files: it does not go "
           "together with --shard";
  return {};
}

} // namespace torchtidy::tool
