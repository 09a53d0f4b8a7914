#include "Config.h"
#include "CheckNames.h"
#include "Levels.h"
#include "Messages.h"
#include "clang-tidy/ClangTidy.h"
#include "clang-tidy/GlobList.h"
#include "inputs/Tree.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include <utility>

using namespace clang::tidy;
using namespace llvm;

namespace torchtidy::tool {
namespace {

using OptionsSource = ClangTidyOptionsProvider::OptionsSource;

ClangTidyOptions defaults() {
  ClangTidyOptions Result;
  Result.Checks = defaultChecks();
  Result.WarningsAsErrors = "";
  // Otherwise than clang-tidy, which shows none in headers: modules are
  // written there, and a gate that stays green over a defect in them is wrong.
  // Headers of the system and LibTorch's are left out elsewhere. The plugin
  // keeps its host's default.
  Result.HeaderFilterRegex = ".*";
  Result.ExcludeHeaderFilterRegex = "";
  Result.SystemHeaders = false;
  Result.FormatStyle = "none";
  Result.User = sys::Process::GetEnv("USER");
  if (!Result.User)
    Result.User = sys::Process::GetEnv("USERNAME");
  return Result;
}

/// What the command line says stands above every file.
ClangTidyOptions overrides(const Options &Line) {
  ClangTidyOptions Result;
  Result.Checks = Line.Checks;
  Result.WarningsAsErrors = Line.WarningsAsErrors;
  Result.HeaderFilterRegex = Line.HeaderFilter;
  Result.ExcludeHeaderFilterRegex = Line.ExcludeHeaderFilter;
  Result.SystemHeaders = Line.SystemHeaders;
  Result.FormatStyle = Line.FormatStyle;
  Result.UseColor = Line.UseColor;
  return Result;
}

/// LLVM's parser of YAML calls itself for each level, and would end with the
/// stack.
constexpr unsigned MaxDepth = 500;

/// More levels than there are: in a list on one line, "- - - x", and between
/// brackets, which are not told from those in texts.
bool isNestedTooDeep(StringRef Yaml) {
  unsigned Brackets = 0, Dashes = 0;
  bool IsAtStart = true;
  for (size_t I = 0; I < Yaml.size(); ++I) {
    const char C = Yaml[I];
    const bool IsBlank = C == ' ' || C == '\t';
    if (C == '\n' || C == '\r') {
      Dashes = 0;
      IsAtStart = true;
    } else if (IsAtStart && (C == '-' || C == '?' || C == ':')) {
      ++Dashes;
    } else if (!IsBlank) {
      IsAtStart = false;
    }
    if (C == '[' || C == '{')
      ++Brackets;
    else if ((C == ']' || C == '}') && Brackets)
      --Brackets;
    if (Brackets + Dashes > MaxDepth)
      return true;
  }
  return false;
}

/// Of any that this process has read.
bool IsAnyInvalid = false;

ErrorOr<ClangTidyOptions> parseBounded(MemoryBufferRef Text) {
  if (!isNestedTooDeep(Text.getBuffer())) {
    ErrorOr<ClangTidyOptions> Result = parseConfiguration(Text);
    IsAnyInvalid |= !Result;
    return Result;
  }
  IsAnyInvalid = true;
  error() << "'" << Text.getBufferIdentifier() << "' is nested deeper than "
          << MaxDepth << " levels\n";
  return std::make_error_code(std::errc::invalid_argument);
}

/// Of clang-tidy's, which reads .clang-tidy beside and above a file.
template <class Base> class Bounded : public Base {
public:
  template <class... Arguments>
  explicit Bounded(Arguments &&...Given)
      : Base(std::forward<Arguments>(Given)...) {
    for (auto &[Name, Parse] : this->ConfigHandlers)
      Parse = parseBounded;
  }
};

std::unique_ptr<ClangTidyOptionsProvider>
providerForText(const Options &Line, StringRef Text, StringRef Name,
                const ClangTidyGlobalOptions &Global,
                IntrusiveRefCntPtr<vfs::FileSystem> FS) {
  ErrorOr<ClangTidyOptions> Parsed = parseBounded(MemoryBufferRef(Text, Name));
  if (!Parsed) {
    error() << "invalid configuration in " << Name << ": "
            << Parsed.getError().message() << '\n';
    return nullptr;
  }
  return std::make_unique<Bounded<ConfigOptionsProvider>>(
      Global, ClangTidyOptions::getDefaults().merge(defaults(), 0),
      std::move(*Parsed), overrides(Line), std::move(FS));
}

std::unique_ptr<ClangTidyOptionsProvider>
makeBaseProvider(const Options &Line, IntrusiveRefCntPtr<vfs::FileSystem> FS) {
  ClangTidyGlobalOptions Global;
  if (isNestedTooDeep(Line.LineFilter)) {
    error() << "cannot read --line-filter: it is nested deeper than "
            << MaxDepth << " levels\n";
    return nullptr;
  }
  if (std::error_code Failure = parseLineFilter(Line.LineFilter, Global)) {
    error() << "cannot read --line-filter: " << Failure.message() << '\n';
    return nullptr;
  }
  if (Line.ConfigFile && Line.Config) {
    error() << "--config-file and --config exclude each other\n";
    return nullptr;
  }
  if (Line.ConfigFile) {
    ErrorOr<std::unique_ptr<MemoryBuffer>> Text =
        MemoryBuffer::getFile(*Line.ConfigFile);
    if (!Text) {
      error() << "cannot read the file of --config-file, '" << *Line.ConfigFile
              << "': " << Text.getError().message() << '\n';
      return nullptr;
    }
    return providerForText(Line, (*Text)->getBuffer(), *Line.ConfigFile, Global,
                           std::move(FS));
  }
  if (Line.Config)
    return providerForText(Line, *Line.Config, "<command-line-config>", Global,
                           std::move(FS));
  return std::make_unique<Bounded<FileOptionsProvider>>(
      std::move(Global), defaults(), overrides(Line), std::move(FS));
}

/// Says which items of a 'Checks' value match nothing.
bool verifyChecks(StringRef Globs, const StringSet<> &Known, StringRef Source) {
  bool Valid = true;
  for (const UnknownItem &Item : unknownItems(Globs, Known)) {
    Valid = false;
    raw_ostream &OS = WithColor::warning(errs(), Source);
    if (Item.isGlob())
      OS << "check glob '" << Item.Text << "' doesn't match any known check";
    else
      OS << "unknown check '" << Item.Text << '\'';
    if (!Item.Closest.empty())
      OS << "; did you mean '" << Item.Closest << '\'';
    OS << " [-verify-config]\n";
  }
  return Valid;
}

bool verifyExtensions(const ClangTidyOptions &Options, StringRef Source) {
  if (!Options.HeaderFileExtensions || !Options.ImplementationFileExtensions)
    return true;
  bool Valid = true;
  for (const std::string &Extension : *Options.HeaderFileExtensions) {
    if (!is_contained(*Options.ImplementationFileExtensions, Extension))
      continue;
    Valid = false;
    WithColor::warning(errs(), Source)
        << "HeaderFileExtension '" << Extension
        << "' is the same as ImplementationFileExtension '" << Extension
        << "' [-verify-config]\n";
  }
  return Valid;
}

bool verifyCheckOptions(const ClangTidyOptions::OptionMap &Options,
                        const StringSet<> &Known, StringRef Source) {
  bool Valid = true;
  for (StringRef Key : Options.keys()) {
    if (Key == LevelsOption) {
      auto Levels = parseLevels(Options.lookup(Key).Value);
      if (!Levels) {
        Valid = false;
        WithColor::warning(errs(), Source)
            << Key << ": " << toString(Levels.takeError())
            << " [-verify-config]\n";
      }
      continue;
    }
    if (Known.contains(Key))
      continue;
    Valid = false;
    raw_ostream &OS = WithColor::warning(errs(), Source);
    OS << "unknown check option '" << Key << '\'';
    StringRef Closest = closestName(Key, Known);
    if (!Closest.empty())
      OS << "; did you mean '" << Closest << '\'';
    OS << " [-verify-config]\n";
  }
  return Valid;
}

} // namespace

std::unique_ptr<ClangTidyOptionsProvider>
makeOptionsProvider(const Options &Line,
                    IntrusiveRefCntPtr<vfs::FileSystem> FS) {
  auto Provider = makeBaseProvider(Line, std::move(FS));
  return Provider ? withLevel(std::move(Provider), Line.Level, Line.FailOn)
                  : nullptr;
}

bool areConfigurationsValid(ArrayRef<std::string> Sources,
                            ClangTidyOptionsProvider &Provider) {
  for (const std::string &Source : Sources)
    Provider.getOptions(absolutePath(Source));
  if (IsAnyInvalid)
    error() << "nothing is done with a configuration that cannot be read; "
               "see above\n";
  return !IsAnyInvalid;
}

int explainConfig(const EffectiveConfig &Config) {
  std::vector<OptionsSource> Sources =
      Config.Provider.getRawOptions(Config.File);
  for (StringRef Check : Config.Checks) {
    // The last to say anything about it is the one that counts.
    auto Source =
        find_if(reverse(Sources), [&](const OptionsSource &Candidate) {
          return Candidate.first.Checks &&
                 GlobList(*Candidate.first.Checks).contains(Check);
        });
    if (Source != Sources.rend())
      outs() << '\'' << Check << "' is enabled in the " << Source->second
             << ".\n";
  }
  return 0;
}

int dumpConfig(EffectiveConfig Config, bool AlphaCheckers) {
  Config.Options.CheckOptions = getCheckOptions(Config.Options, AlphaCheckers);
  outs() << configurationAsText(
                ClangTidyOptions::getDefaults().merge(Config.Options, 0))
         << '\n';
  return 0;
}

int verifyConfig(const EffectiveConfig &Config, bool AlphaCheckers) {
  NamesAndOptions Known = getAllChecksAndOptions(AlphaCheckers);
  bool Valid = true;
  for (const auto &[Options, Source] :
       Config.Provider.getRawOptions(Config.File)) {
    if (Options.Checks)
      Valid &= verifyChecks(*Options.Checks, Known.Names, Source);
    Valid &= verifyExtensions(Options, Source);
    Valid &= verifyCheckOptions(Options.CheckOptions, Known.Options, Source);
  }
  if (!Valid)
    return 1;
  outs() << "No config errors detected.\n";
  return 0;
}

} // namespace torchtidy::tool
