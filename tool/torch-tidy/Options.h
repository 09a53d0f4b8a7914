// The command line: clang-tidy 19's options, with the same names and meanings,
// and the few of our own.
#ifndef TORCHTIDY_TOOL_OPTIONS_H
#define TORCHTIDY_TOOL_OPTIONS_H

#include "report/Formats.h"
#include "shards/MergeReports.h"
#include "shards/Plan.h"
#include "clang/Tooling/CompilationDatabase.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace torchtidy::tool {

/// What --list-checks prints.
enum class ListStyle {
  /// Names alone, as clang-tidy does.
  Names,
  Table,
  Json
};

struct Options {
  std::vector<std::string> Sources;
  /// Where the text of standard input belongs; empty: it is none.
  std::string StdinFilename;

  // How the sources are parsed.
  std::string BuildPath;
  /// Where LibTorch is, for flags that are inferred; empty: looked for.
  std::string LibTorch;
  std::vector<std::string> ExtraArgs;
  std::vector<std::string> ExtraArgsBefore;
  std::string VfsOverlay;
  /// The flags after "--"; null where the command line has none.
  std::unique_ptr<clang::tooling::CompilationDatabase> FlagsAfterDashes;

  // Which checks run, and how. Empty: the command line does not say.
  std::optional<unsigned> Level;
  std::optional<std::string> Checks;
  std::optional<std::string> WarningsAsErrors;
  std::optional<std::string> Config;
  std::optional<std::string> ConfigFile;
  bool AllowNoChecks = false;
  bool AnalyzerAlphaCheckers = false;
  bool ModuleHeadersParsing = false;

  // Which findings are shown.
  std::optional<std::string> HeaderFilter;
  std::optional<std::string> ExcludeHeaderFilter;
  std::optional<bool> SystemHeaders;
  std::string LineFilter;
  std::optional<bool> UseColor;
  bool Quiet = false;

  // What happens with them.
  bool Fix = false;
  bool FixErrors = false;
  bool FixNotes = false;
  bool asksForFixes() const { return Fix || FixErrors || FixNotes; }
  /// Print what --fix would do, and leave the files alone.
  bool ShowFixes = false;
  std::optional<std::string> FormatStyle;
  std::string ExportFixes;
  std::optional<unsigned> FailOn;
  /// Why the findings may stay; empty: they are shown.
  std::string AddNolint;
  /// Also tell comments that silence nothing.
  bool UnusedNolints = false;
  /// Counts by check in place of the findings.
  bool Statistics = false;
  std::string Sarif;
  Format Output = Format::Text;
  std::string Baseline, WriteBaseline;
  /// A revision, or "-" for a patch on standard input; empty: all lines.
  std::string Diff;

  // How LibTorch's headers are parsed.
  bool NoCache = false;
  bool Fresh = false;
  /// --load has brought checks that torch-tidy does not know.
  bool HasPlugins = false;
  std::optional<std::string> CacheFolder;
  uint64_t CacheBytes = 0;
  bool ExplainCache = false;

  /// Also analyse programs in whole: a source with those that define what its
  /// headers declare.
  bool Together = false;

  // How the files are shared out.
  /// 0: as many as fit.
  unsigned Jobs = 0;
  /// Seconds of wall time for one file; 0: no limit.
  unsigned Timeout = 0;
  std::optional<Shard> ThisShard;
  /// Where the times of files are kept; empty: nowhere.
  std::string Times;

  /// 'torch-tidy merge': nothing is analysed.
  std::optional<MergeSettings> Merge;

  /// Analyse again when a file changes.
  bool Watch = false;

  bool CheckProfile = false;
  std::string ProfilePrefix;

  // Instead of an analysis.
  std::optional<ListStyle> ListChecks;
  bool ExplainConfig = false;
  bool DumpConfig = false;
  bool VerifyConfig = false;
  std::string Explain;
  bool PrintPchFlags = false;
};

/// Reads the command line, and loads the plugins that it names. Empty where it
/// cannot be understood: the reason has been printed. --help and --version
/// print and exit.
std::optional<Options> parseCommandLine(int Argc, const char **Argv);

} // namespace torchtidy::tool

#endif
