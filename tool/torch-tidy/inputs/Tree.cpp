#include "inputs/Tree.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace torchtidy::tool {

std::string absolutePath(StringRef Path) {
  if (Path.empty())
    return {};
  SmallString<256> Result(Path);
  sys::fs::make_absolute(Result);
  return std::string(Result);
}

std::string comparablePath(StringRef Path) {
  SmallString<256> Result(absolutePath(Path));
  sys::path::remove_dots(Result, /*remove_dot_dot=*/true);
  return std::string(Result);
}

std::string absoluteIn(StringRef Folder, StringRef Path) {
  SmallString<256> Result(Path);
  sys::fs::make_absolute(Folder, Result);
  return std::string(Result);
}

std::string relativeTo(StringRef Root, StringRef Path) {
  // The root of the file system ends with a slash already.
  if (Path.consume_front(Root) &&
      (Root.ends_with("/") || Path.consume_front("/")))
    return Path.str();
  return "";
}

std::string below(StringRef Folder, const Twine &Name) {
  SmallString<256> Path(Folder);
  sys::path::append(Path, Name);
  return std::string(Path);
}

static bool isBuildFolder(StringRef Folder, vfs::FileSystem &FS) {
  return FS.exists(below(Folder, "CMakeCache.txt")) ||
         FS.exists(below(Folder, "meson-private"));
}

std::vector<std::string> filesBelow(StringRef Folder, vfs::FileSystem &FS,
                                    size_t MaxFiles) {
  std::vector<std::string> Result;
  std::error_code Failure;
  for (vfs::recursive_directory_iterator It(FS, Folder, Failure), End;
       It != End && !Failure && Result.size() < MaxFiles;
       It.increment(Failure)) {
    const StringRef Path = It->path();
    if (It->type() == sys::fs::file_type::directory_file) {
      if (sys::path::filename(Path).starts_with(".") ||
          sys::path::filename(Path) == "CMakeFiles" || isBuildFolder(Path, FS))
        It.no_push();
      continue;
    }
    Result.push_back(Path.str());
  }
  llvm::sort(Result);
  return Result;
}

std::vector<std::string> foldersIn(StringRef Folder, vfs::FileSystem &FS) {
  std::vector<std::string> Result;
  std::error_code Failure;
  for (vfs::directory_iterator It = FS.dir_begin(Folder, Failure), End;
       It != End && !Failure; It.increment(Failure))
    if (It->type() == sys::fs::file_type::directory_file)
      Result.push_back(It->path().str());
  llvm::sort(Result);
  return Result;
}

static void findBuilds(StringRef Folder, StringRef File, unsigned Depth,
                       vfs::FileSystem &FS, std::vector<std::string> &To) {
  constexpr unsigned MaxDepth = 2;
  if (FS.exists(below(Folder, File))) {
    To.push_back(Folder.str());
    return;
  }
  if (Depth < MaxDepth)
    for (const std::string &Each : foldersIn(Folder, FS))
      findBuilds(Each, File, Depth + 1, FS, To);
}

std::vector<std::string> buildFolders(StringRef Folder, StringRef File,
                                      vfs::FileSystem &FS) {
  std::vector<std::string> Result;
  for (const std::string &Each : foldersIn(Folder, FS)) {
    const StringRef Name = sys::path::filename(Each);
    if (Name.starts_with("build") || Name.starts_with("cmake-build") ||
        Name == "_build" || Name == "out")
      findBuilds(Each, File, /*Depth=*/0, FS, Result);
  }
  return Result;
}

std::string projectRoot(StringRef Folder, vfs::FileSystem &FS) {
  std::string Outermost;
  for (StringRef Each = Folder; !Each.empty();
       Each = sys::path::parent_path(Each)) {
    if (FS.exists(below(Each, ".git")))
      return Each.str();
    if (FS.exists(below(Each, "CMakeLists.txt")))
      Outermost = Each.str();
  }
  return Outermost.empty() ? Folder.str() : Outermost;
}

bool isSourceName(StringRef Path) {
  return is_contained({".cpp", ".cc", ".cxx", ".c++", ".C"},
                      sys::path::extension(Path));
}

bool isBuildFile(StringRef Path) {
  static constexpr StringRef Names[] = {
      "CMakeLists.txt", "Makefile",  "makefile",    "GNUmakefile",
      "meson.build",    "BUILD",     "BUILD.bazel", "SConstruct",
      "SConscript",     "xmake.lua", "wscript",     "premake5.lua",
      "premake4.lua",   "Jamfile",   "Jamroot",     "setup.py",
      "build.rs",       "TARGETS",   "BUCK",        "build.gradle"};
  static constexpr StringRef Endings[] = {
      ".cmake", ".mk",      ".am",   ".make",    ".bzl",     ".pro",
      ".pri",   ".vcxproj", ".qbs",  ".vcproj",  ".pbxproj", ".gyp",
      ".gypi",  ".gn",      ".gni",  ".podspec", ".props",   ".vcxitems",
      ".build", ".ninja",   ".jucer"};
  return is_contained(Names, sys::path::filename(Path)) ||
         is_contained(Endings, sys::path::extension(Path));
}

bool isCode(StringRef Path) {
  static constexpr StringRef Endings[] = {
      ".c",   ".cc",  ".cpp", ".cxx", ".c++", ".C",   ".cu",  ".m",
      ".mm",  ".h",   ".hh",  ".hpp", ".hxx", ".h++", ".H",   ".cuh",
      ".inl", ".inc", ".ipp", ".tpp", ".txx", ".tcc", ".def", ".in",
      ".pyx", ".pxd", ".y",   ".l",   ".ui",  ".cl",  ".ino", ".metal"};
  return is_contained(Endings, sys::path::extension(Path));
}

std::vector<std::string> sourcesBelow(StringRef Folder, vfs::FileSystem &FS) {
  std::vector<std::string> Result = filesBelow(Folder, FS);
  llvm::erase_if(Result, [](StringRef Path) { return !isSourceName(Path); });
  return Result;
}

} // namespace torchtidy::tool
