#include "run/Target.h"
#include "run/Elf.h"
#include "run/LibTorch.h"
#include "support/Capture.h"
#include "support/Errors.h"
#include "support/Paths.h"
#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <unistd.h>

namespace fs = std::filesystem;

namespace torchtidy::confirm {
namespace {

/// From where on the probe's measures are known.
constexpr int OldestMajor = 1, OldestMinor = 13;

using Libraries = std::vector<std::pair<std::string, std::string>>;

/// What the loader would load, in the environment at hand; the program itself
/// does not run.
Libraries librariesOf(const std::string &Program, const ElfFile &Elf) {
  return parseLoaderList(capture({Elf.Interpreter, "--list", Program}).Output);
}

bool isLibTorch(const std::string &Name) {
  return Name.rfind("libtorch_cpu", 0) == 0 || Name.rfind("libc10.", 0) == 0 ||
         Name.rfind("libc10-", 0) == 0 || Name.rfind("libtorch.", 0) == 0;
}

/// A library that is the user's: not of the system, not of LibTorch.
bool mayBeOfUser(const std::string &Path, const std::string &OfLibTorch) {
  const std::string Folder = fs::path(OfLibTorch).parent_path().string();
  return !Path.empty() && Path.rfind("/lib", 0) != 0 &&
         Path.rfind("/usr/", 0) != 0 &&
         fs::path(Path).parent_path().string() != Folder &&
         Path.find("/nvidia/") == std::string::npos;
}

/// Shared libraries in the folder of the program and below it; of bin/, also
/// those beside that.
std::vector<fs::path> librariesNear(const fs::path &Program) {
  constexpr int MostFolders = 4;
  constexpr size_t MostFiles = 4096, MostLibraries = 64;
  std::error_code Error;
  fs::path Folder = fs::canonical(Program, Error).parent_path();
  std::vector<fs::path> Result;
  // Not a folder of the system's.
  if (Error || Folder.string().rfind("/usr/", 0) == 0 ||
      Folder.string().rfind("/bin", 0) == 0 || Folder == "/")
    return Result;
  if (Folder.filename() == "bin" && Folder.parent_path() != "/")
    Folder = Folder.parent_path();
  size_t Files = 0;
  fs::recursive_directory_iterator It(
      Folder, fs::directory_options::skip_permission_denied, Error);
  for (; !Error && It != fs::recursive_directory_iterator() &&
         ++Files <= MostFiles && Result.size() < MostLibraries;
       It.increment(Error)) {
    if (It.depth() >= MostFolders)
      It.disable_recursion_pending();
    const std::string Name = It->path().filename().string();
    if ((It->path().extension() == ".so" ||
         Name.find(".so.") != std::string::npos) &&
        It->is_regular_file(Error))
      Result.push_back(It->path());
  }
  std::sort(Result.begin(), Result.end());
  return Result;
}

/// Checks the folder of LibTorch that is given against the library that the
/// program loads.
void compareVersions(const Target &Which, const std::string &Given) {
  if (Which.Library.empty())
    return;
  std::error_code Ignored;
  const std::string Own = libTorchOf(Which.Library);
  const fs::path Twin =
      fs::path(Given) / "lib" / fs::path(Which.Library).filename();
  if (fs::equivalent(Own, Given, Ignored) ||
      fs::equivalent(Twin, Which.Library, Ignored))
    return;
  // Without headers its version is not known; that of another build differs in
  // size.
  if (Own.empty() && fs::exists(Twin, Ignored) &&
      fs::file_size(Twin, Ignored) != fs::file_size(Which.Library, Ignored))
    throw UserError("--libtorch='" + Given + "' (" + Which.Version +
                    ") is not the LibTorch that '" + Which.Program +
                    "' runs with: " + Which.Library +
                    " is another library than " + Twin.string());
  if (Own.empty())
    return;
  const std::string OwnVersion = versionOfHeaders(Own);
  if (!OwnVersion.empty() && OwnVersion != Which.Version)
    throw UserError("--libtorch='" + Given + "' is LibTorch " + Which.Version +
                    ", and '" + Which.Program + "' runs with " + OwnVersion +
                    " (" + Which.Library +
                    "); the probe has to be compiled with the headers of the "
                    "LibTorch that runs");
}

void requireSupported(const Target &Which) {
  int Major = 0, Minor = 0;
  if (std::sscanf(Which.Version.c_str(), "%d.%d", &Major, &Minor) == 2 &&
      (Major < OldestMajor || (Major == OldestMajor && Minor < OldestMinor)))
    throw UserError("'" + Which.Program + "' uses LibTorch " + Which.Version +
                    "; the oldest that can be watched is 1.13");
}

} // namespace

std::string findProgram(const std::string &Program) {
  const fs::path Found = findOnPath(Program);
  std::error_code Ignored;
  if (Found.empty())
    throw UserError(
        "there is no program '" + Program + "'" +
        (Program.find('/') == std::string::npos
             ? " on PATH; for one in this folder write './" + Program + "'"
             : ""));
  if (fs::is_directory(Found, Ignored))
    throw UserError("'" + Program + "' is a folder, not a program");
  if (access(Found.c_str(), X_OK) != 0)
    throw UserError("'" + Program + "' is not executable");
  return Found.lexically_normal().string();
}

Libraries parseLoaderList(const std::string &Text) {
  static const std::regex Line("\\s*(\\S+) => (.*?)( \\(0x[0-9a-f]+\\))?");
  Libraries Result;
  std::istringstream Lines(Text);
  for (std::string Each; std::getline(Lines, Each);) {
    std::smatch Part;
    if (!std::regex_match(Each, Part, Line))
      continue;
    const std::string Path = Part[2];
    Result.emplace_back(Part[1], Path[0] == '/' ? Path : "");
  }
  return Result;
}

Target inspect(const std::string &Program, const std::string &LibTorch) {
  Target Result;
  Result.Program = findProgram(Program);
  const auto Elf = readElf(Result.Program);
  if (!Elf)
    throw UserError(
        "'" + Program +
        "' is no ELF program of 64 bits; if it is a script, give "
        "the program that it starts (for 'run' with --program=FILE)");
  if (Elf->Interpreter.empty())
    throw UserError("'" + Program +
                    "' is statically linked: no probe can be loaded into it");
  Result.IsSanitized = Elf->IsSanitized;
  const Libraries All = librariesOf(Result.Program, *Elf);
  bool HasLines = Elf->HasLines;
  for (const auto &[Name, Path] : All) {
    if (!isLibTorch(Name))
      continue;
    if (Path.empty())
      throw UserError("'" + Program +
                      "' cannot run: the loader does not find " + Name +
                      "; set LD_LIBRARY_PATH to the folder that holds it");
    if (Result.Library.empty() || Name.rfind("libc10", 0) == 0)
      Result.Library = Path;
  }
  if (Result.Library.empty() && Elf->HoldsLibTorch)
    throw UserError("'" + Program +
                    "' holds LibTorch itself (it is linked statically), which "
                    "the probe cannot watch; link the shared libraries");
  if (Result.Library.empty() && LibTorch.empty())
    throw UserError(
        "'" + Program +
        "' is no LibTorch program: none of the libraries that it "
        "loads is LibTorch's; if it opens LibTorch itself, say "
        "where that is with --libtorch=FOLDER; if it starts a program "
        "that uses it, say which with --program=FILE");
  for (const auto &[Name, Path] : All)
    if (!HasLines && mayBeOfUser(Path, Result.Library))
      if (const auto Other = readElf(Path))
        HasLines |= Other->HasLines;
  if (!HasLines)
    throw UserError("'" + Program +
                    "' has no line numbers, so nothing that is measured could "
                    "be told by line; compile it with -g (with CMake "
                    "-DCMAKE_BUILD_TYPE=RelWithDebInfo)");

  Result.LibTorch = LibTorch.empty()
                        ? libTorchOf(Result.Library)
                        : fs::absolute(LibTorch).lexically_normal().string();
  Result.Version = versionOfHeaders(Result.LibTorch);
  if (Result.Version.empty()) {
    if (LibTorch.empty())
      throw UserError("there are no headers beside '" + Result.Library +
                      "', and the probe has to be compiled with them; say with "
                      "--libtorch=FOLDER where the same LibTorch lies with its "
                      "include/ and lib/");
    throw UserError("'" + LibTorch +
                    "' (--libtorch) is no LibTorch: it has no "
                    "include/torch/csrc/api/include/torch/version.h");
  }
  if (!LibTorch.empty())
    compareVersions(Result, Result.LibTorch);
  requireSupported(Result);
  return Result;
}

std::vector<std::string> userModules(const Target &Which) {
  std::vector<std::string> Result{Which.Program};
  const auto Elf = readElf(Which.Program);
  std::set<fs::path> Known;
  auto Add = [&](const fs::path &Path) {
    std::error_code Ignored;
    const fs::path Real = fs::canonical(Path, Ignored);
    if (!Ignored && Known.insert(Real).second)
      Result.push_back(Path.string());
  };
  if (Elf)
    for (const auto &[Name, Path] : librariesOf(Which.Program, *Elf))
      if (mayBeOfUser(Path, Which.Library))
        Add(Path);
  for (const fs::path &Path : librariesNear(Which.Program))
    if (mayBeOfUser(Path.string(), Which.Library))
      Add(Path);
  return Result;
}

void requireSources(const Target &Which,
                    const std::vector<DiagnosedFinding> &Findings) {
  if (Findings.empty())
    return;
  const auto Elf = readElf(Which.Program);
  std::vector<ElfFile> Own{*Elf};
  for (const auto &[Name, Path] : librariesOf(Which.Program, *Elf))
    if (mayBeOfUser(Path, Which.Library))
      if (auto Other = readElf(Path); Other && Other->HasLines)
        Own.push_back(std::move(*Other));
  for (const DiagnosedFinding &Finding : Findings)
    for (const ElfFile &Each : Own)
      if (mayHoldSource(Each, Finding.Statement.File))
        return;
  throw UserError("these findings are about other sources: '" + Which.Program +
                  "' was compiled from none of their files, for example '" +
                  Findings.front().Statement.File + "'");
}

} // namespace torchtidy::confirm
