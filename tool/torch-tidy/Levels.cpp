#include "Levels.h"
#include "Registry.h"
#include "clang-tidy/GlobList.h"
#include "llvm/ADT/StringSet.h"

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
  constexpr StringLiteral Titles[] = {"defects", "measured costs",
                                      "advice that depends on the case"};
  return Titles[Level];
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
                std::optional<unsigned> Level)
      : Base(std::move(Base)), Level(Level) {}

  const ClangTidyGlobalOptions &getGlobalOptions() override {
    return Base->getGlobalOptions();
  }

  std::vector<OptionsSource> getRawOptions(StringRef File) override {
    // The first source is the defaults, the last the command line.
    std::vector<OptionsSource> Sources = Base->getRawOptions(File);
    Sources.front().second = "torch-tidy binary";
    if (!Level)
      return Sources;
    StringSet<> Disabled =
        disabledByName(ArrayRef(Sources).drop_front().drop_back());
    ClangTidyOptions Chosen;
    Chosen.Checks = join(Disabled);
    Sources.insert(std::prev(Sources.end()),
                   {Chosen, "command-line option '--level'"});
    return Sources;
  }

private:
  std::string join(const StringSet<> &Disabled) const {
    std::string Globs;
    for (const CheckInfo &Check : registry()) {
      bool Enabled = Check.Level <= *Level && !Disabled.contains(Check.Name);
      if (!Globs.empty())
        Globs += ',';
      Globs += Enabled ? "" : "-";
      Globs += Check.Name;
    }
    return Globs;
  }

  std::unique_ptr<ClangTidyOptionsProvider> Base;
  std::optional<unsigned> Level;
};

} // namespace

std::unique_ptr<ClangTidyOptionsProvider>
withLevel(std::unique_ptr<ClangTidyOptionsProvider> Base,
          std::optional<unsigned> Level) {
  return std::make_unique<LevelProvider>(std::move(Base), Level);
}

} // namespace torchtidy::tool
