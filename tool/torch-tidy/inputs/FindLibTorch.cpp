#include "inputs/FindLibTorch.h"
#include "headers/HeaderCache.h"
#include "inputs/Tree.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace torchtidy::tool {
namespace {

/// Folder or its "include", whichever has the headers.
std::string headersIn(StringRef Folder, vfs::FileSystem &FS) {
  if (Folder.empty())
    return {};
  for (const std::string &Each :
       {absolutePath(Folder), below(absolutePath(Folder), "include")})
    if (FS.exists(below(Each, FrontEnd + "/torch/torch.h")) ||
        FS.exists(below(Each, "torch/torch.h")))
      return Each;
  return {};
}

/// What a program prints; empty where it fails.
std::string outputOf(StringRef Program, ArrayRef<StringRef> Arguments) {
  const ErrorOr<std::string> Path = sys::findProgramByName(Program);
  SmallString<128> Output;
  if (!Path || sys::fs::createTemporaryFile("torch-tidy", "txt", Output))
    return {};
  std::vector<StringRef> Words = {*Path};
  llvm::append_range(Words, Arguments);
  const std::optional<StringRef> Redirects[] = {StringRef(""), Output.str(),
                                                StringRef("")};
  const int Code = sys::ExecuteAndWait(*Path, Words, /*Env=*/std::nullopt,
                                       Redirects, /*SecondsToWait=*/20);
  std::string Result;
  if (Code == 0)
    if (ErrorOr<std::unique_ptr<MemoryBuffer>> Text =
            MemoryBuffer::getFile(Output))
      Result = (*Text)->getBuffer().trim().str();
  sys::fs::remove(Output);
  return Result;
}

/// The newest that tool/quickstart has fetched.
std::string fetched(vfs::FileSystem &FS) {
  // 2.11 comes after 2.9.
  std::string Newest;
  for (const std::string &Each : foldersIn(defaultCacheFolder(), FS))
    if (sys::path::filename(Each).starts_with("libtorch-") &&
        StringRef(Newest).compare_numeric(Each) < 0)
      Newest = Each;
  return Newest.empty() ? Newest : below(Newest, "torch");
}

std::string variable(StringRef Name) {
  return sys::Process::GetEnv(Name).value_or("");
}

/// Looks at one place after the other, and keeps which.
class Search {
public:
  Search(StringRef From, StringRef Root, StringRef BuildFolder,
         vfs::FileSystem &FS)
      : From(From), Root(Root), BuildFolder(BuildFolder), FS(FS) {}

  FoundLibTorch run() {
    // NOLINTNEXTLINE(readability-simplify-boolean-expr): in this order
    (void)(byVariables() || byCMake() || besideProject() || byEnvironments() ||
           byPackages() || inUsualPlaces());
    return std::move(Result);
  }

private:
  bool at(const std::string &Folder) {
    Result.Include = headersIn(Folder, FS);
    return !Result.Include.empty();
  }
  void told(const Twine &Place) { Result.Places.push_back(Place.str()); }

  /// That of find_package(Torch), or one of the folders that it looks in.
  bool atConfig(const std::string &Config) {
    // .../share/cmake/Torch
    return !Config.empty() && (at(comparablePath(below(Config, "../../.."))) ||
                               atConanPackage(Config));
  }
  /// Conan's CMakeDeps writes a package configuration of its own into the build
  /// folder, and where the package lies beside it.
  bool atConanPackage(StringRef Config) {
    std::error_code Failure;
    for (vfs::directory_iterator It = FS.dir_begin(Config, Failure), End;
         It != End && !Failure; It.increment(Failure)) {
      if (!It->path().ends_with("-data.cmake"))
        continue;
      const auto Text = FS.getBufferForFile(It->path());
      if (!Text)
        continue;
      // set(libtorch_PACKAGE_FOLDER_RELEASE "...")
      const StringRef Behind =
          (*Text)->getBuffer().split("_PACKAGE_FOLDER_").second;
      if (at(Behind.split('"').second.split('"').first.str()))
        return true;
    }
    return false;
  }
  bool atPrefixes(StringRef Prefixes, char Separator) {
    SmallVector<StringRef> Folders;
    Prefixes.split(Folders, Separator, -1, false);
    return llvm::any_of(Folders, [&](StringRef Folder) {
      // A wheel's is .../torch/share/cmake.
      return at(Folder.str()) || atConfig(below(Folder, "Torch"));
    });
  }

  bool byVariables() {
    if (at(variable("LIBTORCH")) || at(variable("LIBTORCH_PATH")) ||
        atConfig(variable("Torch_DIR")) ||
        atPrefixes(variable("CMAKE_PREFIX_PATH"), sys::EnvPathSeparator))
      return true;
    std::string Unset, Wrong;
    for (StringRef Name :
         {"LIBTORCH", "LIBTORCH_PATH", "Torch_DIR", "CMAKE_PREFIX_PATH"}) {
      std::string &To = variable(Name).empty() ? Unset : Wrong;
      To += (To.empty() ? "$" : ", $") + Name.str();
    }
    if (!Wrong.empty())
      told(Wrong + (StringRef(Wrong).contains(',') ? " (none leads to it)"
                                                   : " (does not lead to it)"));
    if (!Unset.empty())
      told(Unset + " (not set)");
    return false;
  }

  bool byCMake() {
    constexpr llvm::StringLiteral Configured = "CMakeCache.txt";
    std::vector<std::string> Folders;
    if (!BuildFolder.empty() && FS.exists(below(BuildFolder, Configured)))
      Folders.push_back(BuildFolder.str());
    for (StringRef Folder = From; Folder.starts_with(Root) && !Folder.empty();
         Folder = sys::path::parent_path(Folder))
      llvm::append_range(Folders, buildFolders(Folder, Configured, FS));
    for (const std::string &Each : Folders) {
      if (atCache(below(Each, Configured)))
        return true;
      told("Torch_DIR and CMAKE_PREFIX_PATH in '" + Each + "/CMakeCache.txt'");
    }
    return false;
  }

  bool atCache(const std::string &File) {
    const ErrorOr<std::unique_ptr<MemoryBuffer>> Text =
        FS.getBufferForFile(File);
    if (!Text)
      return false;
    SmallVector<StringRef> Lines;
    (*Text)->getBuffer().split(Lines, '\n');
    for (StringRef Line : Lines) {
      const auto [Key, Value] = Line.rtrim("\r").split('=');
      const StringRef Name = Key.split(':').first;
      if ((Name == "Torch_DIR" && atConfig(Value.str())) ||
          (Name == "CMAKE_PREFIX_PATH" && atPrefixes(Value, ';')))
        return true;
    }
    return false;
  }

  bool besideProject() {
    for (StringRef Folder = From; !Folder.empty();
         Folder = sys::path::parent_path(Folder))
      if (at(below(Folder, "libtorch")))
        return true;
    told("'libtorch' in '" + From + "' and above it");
    return false;
  }

  /// The package of an environment of Python, wherever that keeps them.
  bool inEnvironment(StringRef Environment) {
    if (Environment.empty())
      return false;
    for (StringRef Library : {"lib", "lib64"})
      for (const std::string &Python :
           foldersIn(below(Environment, Library), FS))
        if (sys::path::filename(Python).starts_with("python3"))
          for (StringRef Packages : {"site-packages", "dist-packages"})
            if (at(below(Python, Packages + "/torch")))
              return true;
    return false;
  }

  bool byEnvironments() {
    const std::string Active = variable("VIRTUAL_ENV"),
                      Conda = variable("CONDA_PREFIX");
    if (inEnvironment(Active) || inEnvironment(Conda) || at(Conda))
      return true;
    for (const auto &[Name, Folder] :
         {std::pair("VIRTUAL_ENV", Active), std::pair("CONDA_PREFIX", Conda)})
      if (!Folder.empty())
        told("the environment of $" + Twine(Name) + ", '" + Folder + "'");
    for (StringRef Folder = From; !Folder.empty();
         Folder = sys::path::parent_path(Folder))
      for (StringRef Name : {".venv", "venv"})
        if (inEnvironment(below(Folder, Name)))
          return true;
    told("'.venv' and 'venv' there");
    static int Anchor;
    const std::string Executable = sys::fs::getMainExecutable(nullptr, &Anchor);
    const StringRef Own =
        sys::path::parent_path(sys::path::parent_path(Executable));
    if (inEnvironment(Own))
      return true;
    told("the Python of '" + Own + "', where torch-tidy is");
    // Without importing it, which takes seconds.
    if (at(outputOf("python3", {"-c", "import importlib.util as u\n"
                                      "s = u.find_spec('torch')\n"
                                      "print(s.submodule_search_locations[0] "
                                      "if s else '')"})))
      return true;
    told("the package 'torch' of python3");
    return false;
  }

  bool byPackages() {
    for (StringRef Name : {"libtorch", "torch"}) {
      const std::string Flags =
          outputOf("pkg-config", {"--cflags-only-I", Name});
      SmallVector<StringRef> Words;
      SplitString(Flags, Words);
      for (StringRef Word : Words)
        if (Word.consume_front("-I") && at(Word.str()))
          return true;
    }
    told("pkg-config");
    const std::string Prefixes = variable("AMENT_PREFIX_PATH");
    SmallVector<StringRef> Folders;
    StringRef(Prefixes).split(Folders, sys::EnvPathSeparator, -1, false);
    for (StringRef Folder : Folders)
      for (const char *Part : {"", "opt/libtorch_vendor", "opt/libtorch"})
        if (at(below(Folder, Part)))
          return true;
    if (!Folders.empty())
      told("the workspaces of $AMENT_PREFIX_PATH");
    return false;
  }

  bool inUsualPlaces() {
    SmallString<128> Home;
    sys::path::home_directory(Home);
    for (const std::string &Folder :
         {std::string("/opt/libtorch"), std::string("/usr/local/libtorch"),
          below(Home, "libtorch"), fetched(FS),
          std::string("/usr/local/include"), std::string("/usr/include")})
      if (at(Folder))
        return true;
    told("/opt/libtorch, /usr/local/libtorch, ~/libtorch, /usr/local/include, "
         "/usr/include");
    return false;
  }

  StringRef From, Root, BuildFolder;
  vfs::FileSystem &FS;
  FoundLibTorch Result;
};

} // namespace

FoundLibTorch findLibTorch(StringRef Given, StringRef From, StringRef Root,
                           StringRef BuildFolder, vfs::FileSystem &FS) {
  if (Given.empty())
    return Search(From, Root, BuildFolder, FS).run();
  FoundLibTorch Result;
  Result.Include = headersIn(Given, FS);
  if (Result.Include.empty())
    Result.Places = {"'" + absolutePath(Given) + "' (--libtorch)"};
  return Result;
}

} // namespace torchtidy::tool
