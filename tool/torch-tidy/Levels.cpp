#include "Levels.h"
#include "Messages.h"
#include "Registry.h"
#include "clang-tidy/GlobList.h"
#include "inputs/Tree.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace clang::tidy;
using namespace llvm;

namespace torchtidy::tool {

std::optional<unsigned> parseLevel(StringRef Text) {
  unsigned Level;
  if (Text.getAsInteger(10, Level) || Level > HighestLevel)
    return std::nullopt;
  return Level;
}

StringRef levelTitle(unsigned Level) {
  constexpr llvm::StringLiteral Titles[] = {"defects", "measured costs",
                                            "advice that depends on the case"};
  return Titles[Level];
}

Expected<std::vector<LevelOfFiles>> parseLevels(StringRef Text) {
  std::vector<LevelOfFiles> Result;
  SmallVector<StringRef, 4> Items;
  Text.split(Items, ';', -1, /*KeepEmpty=*/false);
  for (StringRef Item : Items) {
    const auto [Files, Number] = Item.trim().rsplit('=');
    const std::optional<unsigned> Level = parseLevel(Number.trim());
    if (!Level || Files.trim().empty())
      return createStringError("'" + Item.trim() +
                               "' is no pattern with a level behind it, as in "
                               "'tests/*=0'");
    Expected<GlobPattern> Pattern = GlobPattern::create(Files.trim());
    if (!Pattern)
      return Pattern.takeError();
    Result.push_back({std::move(*Pattern), *Level});
  }
  return Result;
}

std::string defaultChecks() {
  // Compiler warnings stay off, as clang-analyzer does: both are asked for by
  // name. Errors are shown in any case.
  return "clang-diagnostic-error," + checksUpToLevel(DefaultLevel);
}

namespace {

using OptionsSource = ClangTidyOptionsProvider::OptionsSource;

/// The checks that a configuration file turns off by a glob about torch checks
/// and does not turn on again. A general "-*" is no word about torch: projects
/// that pick their stock checks begin with it.
StringSet<> disabledByName(ArrayRef<OptionsSource> Files) {
  StringSet<> Disabled;
  for (const auto &[Options, Name] : Files) {
    if (!Options.Checks)
      continue;
    GlobList Globs(*Options.Checks);
    for (const auto &Item : Globs.getItems())
      for (const CheckInfo &Check : registry()) {
        if (!Item.Regex.match(Check.Name))
          continue;
        if (Item.IsPositive)
          Disabled.erase(Check.Name);
        else if (Item.Text.starts_with("torch-"))
          Disabled.insert(Check.Name);
      }
  }
  return Disabled;
}

class LevelProvider : public ClangTidyOptionsProvider {
public:
  LevelProvider(std::unique_ptr<ClangTidyOptionsProvider> Base,
                std::optional<unsigned> Level, std::optional<unsigned> FailOn)
      : Base(std::move(Base)), Level(Level), FailOn(FailOn) {}

  const ClangTidyGlobalOptions &getGlobalOptions() override {
    return Base->getGlobalOptions();
  }

  std::vector<OptionsSource> getRawOptions(StringRef File) override {
    // The first source is the defaults, the last the command line.
    std::vector<OptionsSource> Sources = Base->getRawOptions(File);
    Sources.front().second = "torch-tidy binary";
    const auto Files = ArrayRef(Sources).drop_front().drop_back();
    std::optional<unsigned> Chosen = Level;
    std::string By = "command-line option '--level'";
    if (!Chosen)
      for (const OptionsSource &Each : Files)
        if (const std::optional<unsigned> Given = levelIn(Each, File)) {
          Chosen = Given;
          By = (LevelsOption + " of " + Each.second).str();
        }
    if (!Chosen)
      return Sources;
    ClangTidyOptions Result;
    Result.Checks = join(*Chosen, disabledByName(Files));
    if (*Chosen == HighestLevel && FailOn.value_or(HighestLevel) == *Chosen)
      tellMinor(Result.CheckOptions, Files);
    Sources.insert(std::prev(Sources.end()), {Result, By});
    return Sources;
  }

private:
  /// What a configuration file gives to a file: of the patterns that match it
  /// the last one's. They are about the path from the folder of the
  /// configuration.
  std::optional<unsigned> levelIn(const OptionsSource &Source, StringRef File) {
    const auto Said = Source.first.CheckOptions.find(LevelsOption);
    if (Said == Source.first.CheckOptions.end())
      return std::nullopt;
    auto Levels = parseLevels(Said->second.Value);
    if (!Levels) {
      const std::string What = toString(Levels.takeError());
      if (Told.insert(Source.second).second)
        warning() << Source.second << ": " << LevelsOption << ": " << What
                  << '\n';
      return std::nullopt;
    }
    const std::string Whole = comparablePath(File);
    const std::string Below = relativeTo(
        comparablePath(sys::path::parent_path(Source.second)), Whole);
    std::optional<unsigned> Result;
    for (const LevelOfFiles &Each : *Levels)
      if (Each.Files.match(Below.empty() ? Whole : Below))
        Result = Each.Level;
    return Result;
  }

  /// But for what a configuration file says itself.
  static void tellMinor(ClangTidyOptions::OptionMap &Options,
                        ArrayRef<OptionsSource> Files) {
    for (const CheckInfo &Check : registry()) {
      const std::string Key = (Check.Name + ".Minor").str();
      if (tellsMinor(Check.Name) &&
          none_of(Files, [&](const OptionsSource &Each) {
            return Each.first.CheckOptions.contains(Key);
          }))
        Options[Key] = ClangTidyOptions::ClangTidyValue("true");
    }
  }

  static std::string join(unsigned Level, const StringSet<> &Disabled) {
    std::string Globs;
    for (const CheckInfo &Check : registry()) {
      bool Enabled = Check.Level <= Level && !Disabled.contains(Check.Name);
      if (!Globs.empty())
        Globs += ',';
      Globs += Enabled ? "" : "-";
      Globs += Check.Name;
    }
    return Globs;
  }

  std::unique_ptr<ClangTidyOptionsProvider> Base;
  std::optional<unsigned> Level, FailOn;
  /// The files whose levels cannot be read, each told once.
  StringSet<> Told;
};

} // namespace

std::unique_ptr<ClangTidyOptionsProvider>
withLevel(std::unique_ptr<ClangTidyOptionsProvider> Base,
          std::optional<unsigned> Level, std::optional<unsigned> FailOn) {
  return std::make_unique<LevelProvider>(std::move(Base), Level, FailOn);
}

} // namespace torchtidy::tool
