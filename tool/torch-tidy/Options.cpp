#include "Options.h"
#include "CheckNames.h"
#include "Colors.h"
#include "CommandLine.h"
#include "Levels.h"
#include "Messages.h"
#include "Registry.h"
#include "Shells.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace torchtidy::tool {
namespace {

// Help lists the categories by name: ours come before clang-tidy's.
cl::OptionCategory OurCategory("LibTorch options");
cl::OptionCategory TidyCategory("clang-tidy options");

cl::opt<std::string>
    Level("level", cl::value_desc("0|1|2"),
          cl::desc("Run the torch checks up to this level:\n"
                   "  0  defects\n"
                   "  1  and measured costs (the default)\n"
                   "  2  and advice that depends on the case\n"
                   "Comes after .clang-tidy and before --checks. A\n"
                   "check that .clang-tidy disables stays disabled."),
          cl::cat(OurCategory));
cl::opt<std::string>
    FailOn("fail-on", cl::value_desc("0|1|2"),
           cl::desc("Exit with 1 if a torch check of this level or below\n"
                    "has found something. For pre-commit and CI: without\n"
                    "it the exit code is clang-tidy's, 0 with findings."),
           cl::cat(OurCategory));
cl::opt<std::string>
    Sarif("sarif", cl::value_desc("filename"),
          cl::desc("Write the findings to this file as SARIF 2.1.0 too, for\n"
                   "code hosts, editors and torch-confirm."),
          cl::cat(OurCategory));
cl::opt<std::string>
    OutputFormat("format", cl::value_desc("name"), cl::cat(OurCategory),
                 cl::desc("What the findings are printed as:\n"
                          "  text    as clang-tidy does (the default)\n"
                          "  sarif   SARIF 2.1.0\n"
                          "  github  annotations of GitHub Actions\n"
                          "  gitlab  a Code Quality report of GitLab\n"
                          "  jsonl   a JSON object on each line\n"
                          "  junit   JUnit's XML"));
cl::opt<bool> Statistics(
    "statistics", cl::cat(OurCategory),
    cl::desc("Print how many findings there are of each check, most\n"
             "first, in place of the findings; with --format=jsonl as\n"
             "JSON."));
cl::opt<bool>
    ShowFixes("show-fixes", cl::cat(OurCategory),
              cl::desc("Print what --fix would do as a diff, in place of the\n"
                       "findings, for 'git apply' and 'patch -p1'; no file is\n"
                       "changed."));
cl::opt<std::string>
    AddNolint("add-nolint", cl::value_desc("reason"), cl::cat(OurCategory),
              cl::desc("Silence all findings: put the comment\n"
                       "'NOLINTNEXTLINE(check): reason' before each line, in\n"
                       "place of showing them."));
cl::opt<bool> UnusedNolints(
    "unused-nolints", cl::cat(OurCategory),
    cl::desc("Report NOLINT comments too that name a torch check which\n"
             "reports nothing there, or which there is not. Not those of\n"
             "checks that are not enabled. For --fail-on they count as\n"
             "level 0."));
cl::opt<std::string> BaselineFile(
    "baseline", cl::value_desc("filename"), cl::cat(OurCategory),
    cl::desc("Leave out the findings that this file holds, wherever\n"
             "their lines have moved to: only new ones are shown,\n"
             "fixed and counted."));
cl::opt<std::string>
    WriteBaseline("write-baseline", cl::value_desc("filename"),
                  cl::cat(OurCategory),
                  cl::desc("Write all findings to this file, for --baseline."));
cl::opt<std::string>
    Diff("diff", cl::value_desc("revision"), cl::cat(OurCategory),
         cl::desc("Show findings only in lines that were changed since this\n"
                  "revision of git (HEAD, origin/main, ...), committed or\n"
                  "not, or, with '-', by the patch on standard input. If no\n"
                  "files are named, the changed sources are analysed."));
cl::opt<std::string>
    Explain("explain", cl::value_desc("check"),
            cl::desc("Print the page of a check and exit. 'levels' prints\n"
                     "the checks of each level."),
            cl::cat(OurCategory));

cl::opt<bool> Together(
    "together", cl::cat(OurCategory),
    cl::desc("Analyse each program in whole, too: main.cpp with the\n"
             "net.cpp that defines what net.h declares, and what\n"
             "that needs in its turn. Takes about twice the time, and\n"
             "finds what no source shows by itself."));
cl::opt<unsigned>
    Jobs("j", cl::Prefix, cl::value_desc("N"), cl::cat(OurCategory),
         cl::desc("Analyse N files at a time, each in a process of its\n"
                  "own (default: one for each processor, fewer where\n"
                  "memory is short)."));
cl::opt<unsigned> Timeout(
    "timeout", cl::value_desc("seconds"), cl::cat(OurCategory),
    cl::desc("Give up on a file after this processor time, tell so, and\n"
             "go on with the others; the exit code is 1 (default: no\n"
             "limit). Waiting for the precompiled headers does not\n"
             "count."));
cl::opt<std::string>
    ShardText("shard", cl::value_desc("I/N"), cl::cat(OurCategory),
              cl::desc("Analyse the I-th of N parts of the sources: each\n"
                       "machine one, and 'torch-tidy merge' makes one report\n"
                       "of theirs."));
cl::opt<std::string>
    Times("times", cl::value_desc("file"), cl::cat(OurCategory),
          cl::desc("Share out the sources by the times in this file, so\n"
                   "that all shards take the same, and write down there\n"
                   "what they took."));

cl::SubCommand MergeCommand("merge", "Make one report of those of all shards");
cl::list<std::string>
    MergeFiles(cl::Positional, cl::OneOrMore, cl::sub(MergeCommand),
               cl::desc("<SARIF log or JSON lines of a shard> ..."));
cl::opt<std::string>
    MergeFailOn("fail-on", cl::value_desc("level"), cl::sub(MergeCommand),
                cl::desc("The exit code is 1 if there are findings of this\n"
                         "level or below"));

cl::opt<std::string>
    LibTorch("libtorch", cl::value_desc("folder"), cl::cat(OurCategory),
             cl::desc("Where LibTorch is, for sources that have no compile\n"
                      "commands (default: $LIBTORCH, CMAKE_PREFIX_PATH, the\n"
                      "package of Python, and the usual folders)."));
cl::opt<bool> Watch(
    "watch", cl::cat(OurCategory),
    cl::desc("Analyse again whenever a source, a header or a .clang-tidy\n"
             "of the project changes, or a header outside of it that\n"
             "a source includes, until Ctrl-C."));
cl::opt<std::string> StdinFilename(
    "stdin-filename", cl::value_desc("filename"), cl::cat(OurCategory),
    cl::desc("Analyse the text on standard input as if it were in this\n"
             "file, which need not be there: what an editor has not\n"
             "saved yet."));
cl::opt<std::string> Completions(
    "completions", cl::value_desc("bash|zsh|fish"), cl::cat(OurCategory),
    cl::desc("Print a script that completes the command line in this\n"
             "shell, and exit: source <(torch-tidy --completions=bash)"));
cl::opt<std::string>
    ShellFiles("write-shell-files", cl::value_desc("folder"), cl::Hidden,
               cl::desc("Write the completions and the page of man(1) to this "
                        "folder: for the build."),
               cl::cat(OurCategory));
cl::opt<bool> PrintPchFlags(
    "print-pch-flags", cl::cat(OurCategory),
    cl::desc("Precompile LibTorch's headers for stock clang-tidy-19,\n"
             "print the options that make it use them, and exit:\n"
             "  clang-tidy-19 -load=TorchTidy.so -p build \\\n"
             "      $(torch-tidy --print-pch-flags -p build a.cpp) a.cpp"));

cl::list<std::string> Sources(cl::Positional, cl::ZeroOrMore,
                              cl::desc("<file, folder or glob> ..."),
                              cl::cat(TidyCategory));
cl::opt<std::string>
    BuildPath("p", cl::desc("Folder that holds compile_commands.json"),
              cl::cat(TidyCategory));
cl::list<std::string>
    ExtraArgs("extra-arg", cl::cat(TidyCategory),
              cl::desc("Append this to every compile command"));
cl::list<std::string>
    ExtraArgsBefore("extra-arg-before", cl::cat(TidyCategory),
                    cl::desc("Put this at the front of every compile command"));
cl::opt<bool>
    NoCache("no-cache", cl::cat(OurCategory),
            cl::desc("Parse LibTorch's headers in full, with no cache of\n"
                     "precompiled headers: the same findings, some 30 times\n"
                     "slower. A file for which stock checks are enabled is\n"
                     "always parsed so."));
cl::opt<std::string> CacheFolder(
    "cache-dir", cl::value_desc("folder"), cl::cat(OurCategory),
    cl::desc("Where precompiled headers and findings are kept (default:\n"
             "$TORCH_TIDY_CACHE, or torch-tidy in the user's cache\n"
             "folder). Processes and machines of one kind can share\n"
             "it; removing it loses nothing but time."));
cl::opt<unsigned> CacheSize(
    "cache-size", cl::value_desc("MB"), cl::init(4096), cl::cat(OurCategory),
    cl::desc("How large the cache may grow (default: 4096); what has\n"
             "not been used for longest goes first. An entry takes\n"
             "about 100 MB."));
cl::opt<bool>
    Fresh("fresh", cl::cat(OurCategory),
          cl::desc("Analyse all files. Otherwise what was found in a file\n"
                   "is kept, and shown again as long as neither the file\n"
                   "nor anything that it includes has changed."));
cl::opt<bool> ExplainCache(
    "explain-cache", cl::cat(OurCategory),
    cl::desc("Say of each file on standard error whether it was\n"
             "analysed, and parsed with a precompiled header, and if\n"
             "not, why."));

cl::opt<std::string>
    VfsOverlay("vfsoverlay", cl::value_desc("filename"), cl::cat(TidyCategory),
               cl::desc("Lay the virtual file system that this file describes\n"
                        "over the real one."));

cl::opt<std::string>
    Checks("checks", cl::cat(TidyCategory),
           cl::desc("Comma-separated globs that enable checks, with a\n"
                    "leading '-' disable them, in this order. They are\n"
                    "appended to 'Checks' of .clang-tidy. Stock checks\n"
                    "are there too: --checks='bugprone-*'."));
cl::opt<std::string> WarningsAsErrors(
    "warnings-as-errors", cl::cat(TidyCategory),
    cl::desc("Globs as in --checks: findings of these checks are\n"
             "errors, and the exit code is 1. Appended to\n"
             "'WarningsAsErrors' of .clang-tidy."));
cl::opt<std::string>
    Config("config", cl::cat(TidyCategory),
           cl::desc("Use this YAML or JSON text in place of .clang-tidy:\n"
                    "  --config=\"{Checks: '*', CheckOptions: {x: y}}\"\n"
                    "Empty: look for .clang-tidy in the folders above each\n"
                    "source file."));
cl::opt<std::string>
    ConfigFile("config-file", cl::cat(TidyCategory),
               cl::desc("Use this file in place of .clang-tidy. Not together\n"
                        "with --config."));
cl::opt<bool>
    AllowNoChecks("allow-no-checks", cl::cat(TidyCategory),
                  cl::desc("It is no error that no check is enabled."));
cl::opt<bool> AnalyzerAlphaCheckers("allow-enabling-analyzer-alpha-checkers",
                                    cl::Hidden, cl::cat(TidyCategory));
cl::opt<bool> ModuleHeadersParsing(
    "enable-module-headers-parsing", cl::cat(TidyCategory),
    cl::desc("C++20 modules: let checks see the macros that module\n"
             "headers define. Experimental in clang-tidy."));

cl::opt<std::string> HeaderFilter(
    "header-filter", cl::cat(TidyCategory),
    cl::desc("Show findings in the headers whose names match this\n"
             "regular expression; those in the source file itself\n"
             "are always shown. Without it, and without\n"
             "'HeaderFilterRegex', which it overrides: in all\n"
             "headers but the system's and LibTorch's."));
cl::opt<std::string> ExcludeHeaderFilter(
    "exclude-header-filter", cl::cat(TidyCategory),
    cl::desc("Of the headers that --header-filter shows, leave out\n"
             "those that match this. Overrides\n"
             "'ExcludeHeaderFilterRegex'."));
cl::opt<bool>
    SystemHeaders("system-headers", cl::cat(TidyCategory),
                  cl::desc("Show findings in system headers too. Overrides\n"
                           "'SystemHeaders'."));
cl::opt<std::string> LineFilter(
    "line-filter", cl::cat(TidyCategory),
    cl::desc("Show findings in these lines only, for instance those\n"
             "of a diff. JSON:\n"
             "  [{\"name\":\"file1.cpp\",\"lines\":[[1,3],[5,7]]},\n"
             "   {\"name\":\"file2.h\"}]"));
cl::opt<bool>
    UseColor("use-color", cl::cat(TidyCategory),
             cl::desc("--use-color: as --color=always, --use-color=false: as\n"
                      "--color=never. Overrides 'UseColor'."));
cl::opt<bool>
    Quiet("quiet", cl::cat(TidyCategory),
          cl::desc("Do not print statistics: warnings generated and\n"
                   "suppressed, warnings treated as errors, findings of\n"
                   "--fail-on."));

cl::opt<bool>
    Fix("fix", cl::cat(TidyCategory),
        cl::desc("Apply the suggested fixes, unless a source file has\n"
                 "compile errors."));
cl::opt<bool>
    FixErrors("fix-errors", cl::cat(TidyCategory),
              cl::desc("Apply the suggested fixes even so, those of the\n"
                       "compiler's errors included."));
cl::opt<bool>
    FixNotes("fix-notes", cl::cat(TidyCategory),
             cl::desc("As --fix, and where a finding has no fix but exactly\n"
                      "one of its notes has, apply that."));
cl::opt<std::string>
    FormatStyle("format-style", cl::cat(TidyCategory),
                cl::desc("Format the code around applied fixes: 'none' (the\n"
                         "default), 'file' (.clang-format of the folder), a\n"
                         "style's name such as 'llvm', or '{...}' in line.\n"
                         "Overrides 'FormatStyle'."));
cl::opt<std::string> ExportFixes(
    "export-fixes", cl::value_desc("filename"),
    cl::desc("Write the findings with their fixes to this file, for\n"
             "clang-apply-replacements."),
    cl::cat(TidyCategory));

cl::opt<bool> CheckProfile(
    "enable-check-profile", cl::cat(TidyCategory),
    cl::desc("Print the time that each check took to standard error."));
cl::opt<std::string>
    ProfilePrefix("store-check-profile", cl::value_desc("prefix"),
                  cl::cat(TidyCategory),
                  cl::desc("Store these times as JSON files instead."));

cl::opt<std::string>
    ListChecks("list-checks", cl::value_desc("table|json"), cl::ValueOptional,
               cl::cat(TidyCategory),
               cl::desc("List the enabled checks and exit; with --checks='*'\n"
                        "all there are. --list-checks=table: with their\n"
                        "levels, whether they have a fix, and what they find.\n"
                        "--list-checks=json: the same of all torch checks."));
cl::opt<bool>
    ExplainConfig("explain-config", cl::cat(TidyCategory),
                  cl::desc("Say of each enabled check what enables it."));
cl::opt<bool>
    DumpConfig("dump-config", cl::cat(TidyCategory),
               cl::desc("Print the configuration for the first source file as\n"
                        "YAML; with --checks='*' that of all checks."));
cl::opt<bool>
    VerifyConfig("verify-config", cl::cat(TidyCategory),
                 cl::desc("Say which checks and options of the configuration\n"
                          "do not exist; the exit code is then 1."));

/// Plugins are loaded when the parser meets them: one may add options that come
/// later on the command line. clang-tidy goes on with exit code 0 without the
/// plugin; a gate must not.
bool PluginFailed = false;
cl::list<std::string>
    Load("load", cl::value_desc("pluginfilename"), cl::cat(TidyCategory),
         cl::desc("Load further checks from this clang-tidy 19 plugin."),
         cl::callback([](const std::string &File) {
           releaseWords();
           std::string Reason;
           const bool HasFailed = sys::DynamicLibrary::LoadLibraryPermanently(
               File.c_str(), &Reason);
           holdWords();
           if (!HasFailed)
             return;
           PluginFailed = true;
           error() << "cannot load '" << File << "': " << Reason << '\n';
         }));

void printVersion(raw_ostream &OS) {
  OS << "torch-tidy version " TORCH_TIDY_VERSION "\n"
     << "  LLVM version " << LLVM_VERSION_STRING << '\n';
}

template <class T, class Option> std::optional<T> given(const Option &Opt) {
  if (!Opt.getNumOccurrences())
    return std::nullopt;
  return T(Opt.getValue());
}

/// False where the option names no level; that has been said then.
bool readLevel(const cl::opt<std::string> &Opt, std::optional<unsigned> &Out) {
  if (!Opt.getNumOccurrences())
    return true;
  Out = parseLevel(Opt);
  if (Out)
    return true;
  error() << "unknown level in --" << Opt.ArgStr << '=' << Opt.getValue()
          << ": the levels are 0, 1 and 2; see --explain levels\n";
  return false;
}

/// Of 'torch-tidy merge'.
std::optional<Options> mergeOptions() {
  Options Result;
  Result.Merge = MergeSettings{MergeFiles, std::nullopt};
  if (!readLevel(MergeFailOn, Result.Merge->FailOn))
    return std::nullopt;
  return Result;
}

Options collect(std::unique_ptr<clang::tooling::CompilationDatabase> Flags) {
  Options Result;
  Result.Sources = Sources;
  Result.StdinFilename = StdinFilename;
  Result.Watch = Watch;
  Result.Together = Together;
  Result.BuildPath = BuildPath;
  Result.ExtraArgs = ExtraArgs;
  Result.ExtraArgsBefore = ExtraArgsBefore;
  Result.VfsOverlay = VfsOverlay;
  Result.LibTorch = LibTorch;
  Result.Jobs = Jobs;
  Result.Timeout = Timeout;
  Result.PrintPchFlags = PrintPchFlags;
  Result.Sarif = Sarif;
  Result.Baseline = BaselineFile;
  Result.WriteBaseline = WriteBaseline;
  Result.Diff = Diff;
  Result.NoCache = NoCache;
  Result.Fresh = Fresh;
  Result.HasPlugins = Load.getNumOccurrences() > 0;
  Result.CacheFolder = given<std::string>(CacheFolder);
  Result.CacheBytes = uint64_t(CacheSize) << 20;
  Result.ExplainCache = ExplainCache;
  Result.FlagsAfterDashes = std::move(Flags);
  if (Checks.getNumOccurrences())
    Result.Checks = withPrefixes(Checks);
  if (WarningsAsErrors.getNumOccurrences())
    Result.WarningsAsErrors = withPrefixes(WarningsAsErrors);
  Result.Config = given<std::string>(Config);
  Result.ConfigFile = given<std::string>(ConfigFile);
  Result.AllowNoChecks = AllowNoChecks;
  Result.AnalyzerAlphaCheckers = AnalyzerAlphaCheckers;
  Result.ModuleHeadersParsing = ModuleHeadersParsing;
  Result.HeaderFilter = given<std::string>(HeaderFilter);
  Result.ExcludeHeaderFilter = given<std::string>(ExcludeHeaderFilter);
  Result.SystemHeaders = given<bool>(SystemHeaders);
  Result.LineFilter = LineFilter;
  Result.UseColor = given<bool>(UseColor);
  Result.Quiet = Quiet;
  Result.Fix = Fix;
  Result.FixErrors = FixErrors;
  Result.FixNotes = FixNotes;
  Result.ShowFixes = ShowFixes;
  Result.Statistics = Statistics;
  Result.AddNolint = AddNolint;
  Result.UnusedNolints = UnusedNolints;
  Result.FormatStyle = given<std::string>(FormatStyle);
  Result.ExportFixes = ExportFixes;
  Result.CheckProfile = CheckProfile;
  Result.ProfilePrefix = ProfilePrefix;
  Result.ExplainConfig = ExplainConfig;
  Result.DumpConfig = DumpConfig;
  Result.VerifyConfig = VerifyConfig;
  Result.Explain = Explain;
  return Result;
}

} // namespace

std::optional<Options> parseCommandLine(int Argc, const char **Argv) {
  SmallVector<const char *, 32> Args(Argv, Argv + Argc);
  BumpPtrAllocator Allocator;
  bool OnWindows = Triple(sys::getProcessTriple()).isOSWindows();
  cl::ExpansionContext ResponseFiles(Allocator,
                                     OnWindows ? cl::TokenizeWindowsCommandLine
                                               : cl::TokenizeGNUCommandLine);
  if (Error Failure = ResponseFiles.expandResponseFiles(Args)) {
    error() << toString(std::move(Failure)) << '\n';
    return std::nullopt;
  }

  addColorOption(OurCategory);
  static cl::extrahelp Help(Footer);
  const cl::OptionCategory *Shown[] = {&OurCategory, &TidyCategory};
  cl::HideUnrelatedOptions(Shown);
  cl::SetVersionPrinter(printVersion);

  // Takes "--" and what follows off the arguments.
  int Count = Args.size();
  std::string Reason;
  auto Flags = clang::tooling::FixedCompilationDatabase::loadFromCommandLine(
      Count, Args.data(), Reason);
  // With flags Reason holds no more than warnings, which the analysis repeats.
  if (!Flags && !Reason.empty()) {
    error() << Reason << '\n';
    return std::nullopt;
  }
  if (!parseOptions(Count, Args.data()))
    return std::nullopt;
  cl::PrintOptionValues();
  if (Completions.getNumOccurrences()) {
    if (writeCompletions(outs(), Completions))
      std::exit(0);
    error() << "--completions knows the shells bash, zsh and fish\n";
    return std::nullopt;
  }
  if (ShellFiles.getNumOccurrences())
    std::exit(writeShellFiles(ShellFiles, Overview, Footer) ? 0 : 1);

  if (MergeCommand)
    return mergeOptions();
  Options Result = collect(std::move(Flags));
  Result.Times = Times;
  if (ShardText.getNumOccurrences()) {
    Result.ThisShard = parseShard(ShardText);
    if (!Result.ThisShard) {
      error() << "--shard=" << ShardText
              << " is no part: the second of four is --shard=2/4\n";
      return std::nullopt;
    }
  }
  if (Jobs.getNumOccurrences() && !Jobs) {
    error() << "-j needs a number of at least 1\n";
    return std::nullopt;
  }
  if (OutputFormat.getNumOccurrences()) {
    const std::optional<Format> Known = parseFormat(OutputFormat);
    if (!Known) {
      error() << "unknown format in --format=" << OutputFormat
              << ": there are text, sarif, github, gitlab, jsonl and junit\n";
      return std::nullopt;
    }
    Result.Output = *Known;
  }
  // A backslash at its end would make a comment of the line that follows.
  const StringRef Why = StringRef(Result.AddNolint).rtrim();
  if (AddNolint.getNumOccurrences() &&
      (Why.empty() || Why.ends_with("\\") ||
       StringRef(Result.AddNolint).find_first_of("\n\r") != StringRef::npos)) {
    error() << "--add-nolint needs a reason on one line, without a backslash "
               "at its end: why these findings are as they should be\n";
    return std::nullopt;
  }
  // What stands behind it is its value, an option too.
  if (Diff.getNumOccurrences() &&
      (Result.Diff.empty() || (Diff != "-" && Diff[0] == '-'))) {
    error() << "--diff needs a revision, or '-' for a patch on standard "
               "input"
            << (Diff.empty() ? "" : ", and '" + Diff + "' is neither") << '\n';
    tellOfPreview();
    return std::nullopt;
  }
  if (const std::string Conflict = conflictIn(Result); !Conflict.empty()) {
    error() << Conflict << '\n';
    return std::nullopt;
  }
  if (!Result.StdinFilename.empty())
    Result.Sources = {Result.StdinFilename};
  if (ListChecks.getNumOccurrences()) {
    const std::optional<ListStyle> Style =
        StringSwitch<std::optional<ListStyle>>(ListChecks)
            .Cases("", "true", "1", "names", ListStyle::Names)
            .Case("table", ListStyle::Table)
            .Case("json", ListStyle::Json)
            .Default(std::nullopt);
    // clang-tidy's option is one of yes and no.
    if (!Style && ListChecks != "false" && ListChecks != "0") {
      error() << "unknown style in --list-checks=" << ListChecks
              << ": there are table and json\n";
      return std::nullopt;
    }
    Result.ListChecks = Style;
  }
  if (!readColorOption(Result.UseColor))
    return std::nullopt;
  if (PluginFailed || !readLevel(Level, Result.Level) ||
      !readLevel(FailOn, Result.FailOn))
    return std::nullopt;
  return Result;
}

} // namespace torchtidy::tool
