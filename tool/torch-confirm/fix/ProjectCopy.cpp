#include "fix/ProjectCopy.h"
#include "support/Capture.h"
#include "support/Errors.h"
#include "support/Files.h"
#include <iostream>
#include <map>
#include <set>
#include <sstream>

namespace fs = std::filesystem;

namespace torchtidy::confirm::fix {
namespace {

std::string sizeText(uintmax_t Bytes) {
  std::ostringstream Text;
  Text.precision(1);
  Text << std::fixed << double(Bytes) / (1 << 20) << " MiB";
  return Text.str();
}

/// Names that git prints with a zero behind each.
void addNames(const std::vector<std::string> &Command, const fs::path &Root,
              std::set<fs::path> &Into) {
  CaptureSettings How;
  How.Folder = Root;
  const Captured Done = capture(Command, How);
  if (!Done.succeeded())
    throw UserError(shown(Command) + " in '" + Root.string() + "' ended with " +
                    std::to_string(Done.Code) + ": " + Done.Errors);
  std::istringstream Names(Done.Output);
  for (std::string Name; std::getline(Names, Name, '\0');)
    if (!Name.empty())
      Into.insert(Name);
}

/// All below a folder, but build folders and what git keeps for itself.
void addAll(const fs::path &Root, const fs::path &Folder,
            std::set<fs::path> &Into) {
  fs::recursive_directory_iterator It(Root / Folder), End;
  for (; It != End; ++It) {
    const bool IsFolder = It->is_directory() && !It->is_symlink();
    if (IsFolder &&
        (isBuildFolder(It->path()) || It->path().filename() == ".git"))
      It.disable_recursion_pending();
    else if (!IsFolder)
      Into.insert(It->path().lexically_relative(Root));
  }
}

/// Names of the files of a project that are not in a build folder.
std::set<fs::path> filesOf(const Project &From,
                           const std::vector<std::string> &Also) {
  std::set<fs::path> Found, Result;
  if (From.HasGit) {
    addNames({"git", "ls-files", "-z", "--cached", "--recurse-submodules"},
             From.Root, Found);
    addNames({"git", "ls-files", "-z", "--others", "--exclude-standard"},
             From.Root, Found);
  } else {
    addAll(From.Root, "", Found);
  }
  std::map<fs::path, bool> Known;
  for (const fs::path &File : Found) {
    bool IsBuilt = File == "CMakeCache.txt";
    for (fs::path Folder = File.parent_path(); !Folder.empty() && !IsBuilt;
         Folder = Folder.parent_path()) {
      auto [It, IsNew] = Known.try_emplace(Folder, false);
      // Of a build in the source folder.
      if (IsNew)
        It->second =
            isBuildFolder(From.Root / Folder) || Folder == "CMakeFiles";
      IsBuilt = It->second;
    }
    if (!IsBuilt)
      Result.insert(File);
  }
  for (const std::string &Each : Also) {
    const auto Inside = below(From.Root, fs::absolute(Each));
    if (!fs::exists(Each) || !Inside)
      throw UserError("--copy: '" + Each + "' is no file or folder of '" +
                      From.Root.string() + "'");
    if (fs::is_directory(Each))
      addAll(From.Root, *Inside, Result);
    else
      Result.insert(*Inside);
  }
  return Result;
}

} // namespace

bool isBuildFolder(const fs::path &Folder) {
  std::error_code Ignored;
  return fs::exists(Folder / "CMakeCache.txt", Ignored);
}

std::optional<fs::path> below(const fs::path &Folder, const fs::path &Path) {
  std::error_code Ignored;
  fs::path Way = fs::weakly_canonical(Path, Ignored)
                     .lexically_relative(fs::weakly_canonical(Folder, Ignored));
  if (Way.empty() || *Way.begin() == "..")
    return std::nullopt;
  return Way;
}

Project projectOf(const fs::path &Folder) {
  CaptureSettings Inside;
  Inside.Folder = Folder;
  const Captured Top = capture({"git", "rev-parse", "--show-toplevel"}, Inside);
  // 0: it is ignored.
  if (!Top.succeeded() ||
      capture({"git", "check-ignore", "-q", "."}, Inside).Code == 0)
    return {fs::weakly_canonical(Folder), false};
  std::string Root = Top.Output;
  Root.erase(Root.find_last_not_of('\n') + 1);
  return {fs::weakly_canonical(Root), true};
}

ProjectCopy::ProjectCopy(const Project &From, const fs::path &To,
                         const std::vector<std::string> &Also)
    : From(From.Root), To(To) {
  std::set<fs::path> Files = filesOf(From, Also);
  uintmax_t Bytes = 0;
  std::error_code Error;
  for (auto It = Files.begin(); It != Files.end();) {
    const fs::file_status What = fs::symlink_status(this->From / *It, Error);
    // Deleted, but known to git; or a socket.
    if (!fs::is_regular_file(What) && !fs::is_symlink(What)) {
      It = Files.erase(It);
      continue;
    }
    if (fs::is_regular_file(What))
      Bytes += fs::file_size(this->From / *It, Error);
    ++It;
  }
  if (Files.empty())
    throw UserError("there are no files in '" + From.Root.string() + "'");
  fs::create_directories(To);
  if (const auto Space = fs::space(To, Error);
      !Error && Space.available < Bytes)
    throw UserError("a copy of '" + From.Root.string() + "' takes " +
                    sizeText(Bytes) + ", and '" + To.string() + "' has " +
                    sizeText(Space.available) +
                    " left; --keep=FOLDER or TMPDIR names another place");
  std::cerr << "torch-confirm: copying " << Files.size() << " files ("
            << sizeText(Bytes) << ") of " << From.Root.string()
            << (From.HasGit ? ", which git knows or does not ignore" : "")
            << '\n';
  for (const fs::path &File : Files) {
    fs::create_directories((To / File).parent_path());
    fs::copy(this->From / File, To / File, fs::copy_options::copy_symlinks);
  }
}

fs::path ProjectCopy::of(const fs::path &Original) const {
  const auto Way = below(From, Original);
  return Way ? (To / *Way).lexically_normal() : fs::path();
}

void ProjectCopy::write(const fs::path &Copied, const std::string &Text) const {
  if (!below(To, Copied))
    throw UserError("'" + Copied.string() +
                    "' leads out of the copy by a link, so a fix of it would "
                    "change a file of yours");
  writeFile(fs::weakly_canonical(Copied).string(), Text);
}

} // namespace torchtidy::confirm::fix
