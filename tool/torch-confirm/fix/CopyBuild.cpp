#include "fix/CopyBuild.h"
#include "fix/CMakeCache.h"
#include "support/Errors.h"
#include "support/Files.h"
#include "support/Paths.h"
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

using nlohmann::json;
namespace fs = std::filesystem;

namespace torchtidy::confirm::fix {
namespace {

/// A target of the build, as CMake's file API has it.
struct Made {
  std::string Target, Configuration;
};

class CMakeBuild : public CopyBuild {
public:
  CMakeBuild(const BuildSettings &How, const ProjectCopy &Copy)
      : How(How), Copy(Copy),
        Cache(readFile((How.Build / "CMakeCache.txt").string())) {}

  void configure() override;
  Captured build() const override;
  std::string name() const override {
    return What.Target.empty() ? "all targets" : "'" + What.Target + "'";
  }
  fs::path program() const override {
    if (const auto Way = below(How.Build, How.Program))
      return How.NewBuild / *Way;
    return Copy.of(How.Program);
  }

private:
  std::string mapped(const std::string &Value) const;
  std::string cmake() const;
  std::string fetched() const;
  Made maker() const;

  BuildSettings How;
  const ProjectCopy &Copy;
  CMakeCache Cache;
  Made What;
};

std::string CMakeBuild::cmake() const {
  std::string Own = Cache.value("CMAKE_COMMAND");
  if (!Own.empty() && fs::exists(Own))
    return Own;
  const fs::path Found = findOnPath("cmake");
  if (Found.empty())
    throw UserError("there is no cmake on PATH to build the copy with");
  return Found.string();
}

/// What leads into the build folder leads into the new one, and what leads to
/// sources that were copied to the copy. Other files of the project, such as a
/// library that git ignores, are used where they are.
std::string CMakeBuild::mapped(const std::string &Value) const {
  const auto Never = [](const std::string &) { return false; };
  std::string Result = Value;
  for (const fs::path &Old : {How.Build, fs::weakly_canonical(How.Build),
                              fs::path(Cache.value("CMAKE_CACHEFILE_DIR"))})
    Result = withFolder(Result, Old.string(), How.NewBuild.string(), Never);
  const fs::path Home = Cache.value("CMAKE_HOME_DIRECTORY");
  for (const auto &[Old, New] : {std::pair(Copy.original(), Copy.root()),
                                 std::pair(Home, Copy.of(Home))})
    Result = withFolder(
        Result, Old.string(), New.string(),
        [&](const std::string &Path) { return !fs::exists(Copy.of(Path)); });
  return Result;
}

/// What FetchContent has downloaded is not downloaded again.
std::string CMakeBuild::fetched() const {
  std::string Result;
  std::error_code None;
  for (const auto &Each : fs::directory_iterator(How.Build / "_deps", None)) {
    std::string Name = Each.path().filename().string();
    if (Name.size() <= 4 || Name.compare(Name.size() - 4, 4, "-src") != 0)
      continue;
    Name.resize(Name.size() - 4);
    std::transform(Name.begin(), Name.end(), Name.begin(),
                   [](unsigned char C) { return char(std::toupper(C)); });
    Result += "set(FETCHCONTENT_SOURCE_DIR_" + Name + " [==[" +
              Each.path().string() + "]==] CACHE PATH \"\")\n";
  }
  return Result;
}

void CMakeBuild::configure() {
  const fs::path Query =
      How.NewBuild / ".cmake" / "api" / "v1" / "query" / "codemodel-v2";
  fs::create_directories(Query.parent_path());
  writeFile(Query.string(), "");
  const fs::path Script = How.NewBuild / "torch-confirm-cache.cmake";
  writeFile(Script.string(),
            // First: CMake has empty entries of the same names.
            fetched() +
                Cache.script([&](const std::string &V) { return mapped(V); }));
  const fs::path Home = Copy.of(Cache.value("CMAKE_HOME_DIRECTORY"));
  if (!fs::exists(Home / "CMakeLists.txt"))
    throw UserError("'" + How.Build.string() + "' was configured for '" +
                    Cache.value("CMAKE_HOME_DIRECTORY") +
                    "', and the copy has no CMakeLists.txt of it; --source="
                    "FOLDER says where the sources are");
  std::vector<std::string> Command = {
      cmake(), "-S",           Home.string(), "-B", How.NewBuild.string(),
      "-C",    Script.string()};
  for (const auto &[Name, Option] :
       {std::pair("CMAKE_GENERATOR", "-G"),
        std::pair("CMAKE_GENERATOR_PLATFORM", "-A"),
        std::pair("CMAKE_GENERATOR_TOOLSET", "-T")})
    if (const std::string Value = Cache.value(Name); !Value.empty())
      Command.insert(Command.end(), {Option, Value});
  std::cerr << "torch-confirm: configuring it in " << How.NewBuild.string()
            << '\n';
  const Captured Done = capture(Command);
  if (!Done.succeeded())
    throw UserError("the copy of the project cannot be configured: " +
                    firstError(Done.All) +
                    "\nwhat git ignores is not copied; --copy=PATH adds what "
                    "the build needs of that, and --source=FOLDER names a "
                    "folder that holds all sources");
  What = maker();
}

/// Which target makes the program.
Made CMakeBuild::maker() const {
  const fs::path Replies = How.NewBuild / ".cmake" / "api" / "v1" / "reply";
  const fs::path Wanted = program();
  std::error_code None;
  Made Result;
  for (const auto &Each : fs::directory_iterator(Replies, None)) {
    if (Each.path().filename().string().rfind("target-", 0) != 0)
      continue;
    const json Target =
        json::parse(readFile(Each.path().string()), nullptr, false);
    if (!Target.is_object() || Target.value("type", "") != "EXECUTABLE" ||
        !Target.contains("artifacts"))
      continue;
    for (const json &Artifact : Target["artifacts"]) {
      const fs::path Path = How.NewBuild / Artifact.value("path", "");
      if (Path.lexically_normal() != Wanted.lexically_normal())
        continue;
      Result.Target = Target.value("name", "");
      // target-<name>-<configuration>-<hash>.json
      std::string Name = Each.path().stem().string();
      Name.resize(Name.find_last_of('-'));
      Result.Configuration = Name.substr(Name.find_last_of('-') + 1);
    }
  }
  return Result;
}

Captured CMakeBuild::build() const {
  std::vector<std::string> Command = {cmake(), "--build", How.NewBuild.string(),
                                      "--parallel", std::to_string(How.Jobs)};
  if (!What.Target.empty())
    Command.insert(Command.end(), {"--target", What.Target});
  if (!Cache.value("CMAKE_CONFIGURATION_TYPES").empty() &&
      !What.Configuration.empty())
    Command.insert(Command.end(), {"--config", What.Configuration});
  return capture(Command);
}

class CommandBuild : public CopyBuild {
public:
  CommandBuild(const BuildSettings &How, const ProjectCopy &Copy,
               std::string Command)
      : How(How), Copy(Copy), Command(std::move(Command)) {
    for (const auto &[Name, Path] :
         {std::pair<std::string, fs::path>("{source}", Copy.root()),
          std::pair<std::string, fs::path>("{build}", How.NewBuild)})
      for (size_t At = 0;
           (At = this->Command.find(Name, At)) != std::string::npos;) {
        const std::string Quoted = shellQuoted(Path.string());
        this->Command.replace(At, Name.size(), Quoted);
        At += Quoted.size();
      }
  }

  void configure() override { fs::create_directories(How.NewBuild); }
  Captured build() const override {
    CaptureSettings Inside;
    Inside.Folder = Copy.root();
    return capture({"sh", "-c", Command}, Inside);
  }
  std::string name() const override { return "by '" + Command + "'"; }
  fs::path program() const override {
    if (const auto Way = below(How.Build, How.Program);
        Way && fs::exists(How.NewBuild / *Way))
      return How.NewBuild / *Way;
    return Copy.of(How.Program);
  }

private:
  static std::string shellQuoted(const std::string &Text) {
    std::string Result = "'";
    for (const char C : Text)
      Result += C == '\'' ? std::string("'\\''") : std::string(1, C);
    return Result + "'";
  }

  BuildSettings How;
  const ProjectCopy &Copy;
  std::string Command;
};

} // namespace

std::unique_ptr<CopyBuild> makeCMakeBuild(const BuildSettings &How,
                                          const ProjectCopy &Copy) {
  return std::make_unique<CMakeBuild>(How, Copy);
}

std::unique_ptr<CopyBuild> makeCommandBuild(const BuildSettings &How,
                                            const ProjectCopy &Copy,
                                            const std::string &Command) {
  return std::make_unique<CommandBuild>(How, Copy, Command);
}

std::string firstError(const std::string &Printed) {
  std::vector<std::string> Lines;
  std::istringstream Text(Printed);
  for (std::string Line; std::getline(Text, Line);)
    Lines.push_back(Line);
  for (const char *Sign : {"error: ", "undefined reference", "CMake Error",
                           "*** ", "rror:", "rror"})
    for (size_t I = 0; I < Lines.size(); ++I) {
      if (Lines[I].find(Sign) == std::string::npos)
        continue;
      std::string Result = Lines[I];
      for (size_t More = I + 1; More < std::min(I + 3, Lines.size()); ++More)
        Result += "\n" + Lines[More];
      return Result;
    }
  constexpr size_t Most = 2000;
  return Printed.size() <= Most ? Printed
                                : "..." + Printed.substr(Printed.size() - Most);
}

} // namespace torchtidy::confirm::fix
