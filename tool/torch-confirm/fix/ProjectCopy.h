// A copy of the user's sources, so that fixes touch nothing of his.
#ifndef TORCHTIDY_CONFIRM_FIX_PROJECTCOPY_H
#define TORCHTIDY_CONFIRM_FIX_PROJECTCOPY_H

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace torchtidy::confirm::fix {

/// What is to be copied where.
struct Project {
  /// The folder with all sources; absolute.
  std::filesystem::path Root;
  /// Whether git says which files belong to it. Otherwise all do, but those of
  /// build folders.
  bool HasGit = false;
};

/// The project of a folder: the whole of its git work tree, where it is in one
/// and git does not ignore it; otherwise the folder.
Project projectOf(const std::filesystem::path &Folder);

class ProjectCopy {
public:
  /// Copies what git tracks and what is new and not ignored, submodules
  /// included; without git all but build folders. Also: further files and
  /// folders of the project that are needed. Throws UserError.
  ProjectCopy(const Project &From, const std::filesystem::path &To,
              const std::vector<std::string> &Also);

  const std::filesystem::path &original() const { return From; }
  const std::filesystem::path &root() const { return To; }
  /// Where a file or folder of the project is in the copy, whether it is there
  /// or not; empty for what is not below the project.
  std::filesystem::path of(const std::filesystem::path &Original) const;
  /// Replaces the file in the copy. Throws UserError where it is not really
  /// there, but by a link elsewhere.
  void write(const std::filesystem::path &Copied,
             const std::string &Text) const;

private:
  std::filesystem::path From, To;
};

/// Whether a folder is one that CMake builds in.
bool isBuildFolder(const std::filesystem::path &Folder);
/// The path from a folder to what is in it or below, links followed in both;
/// nothing where it is elsewhere.
std::optional<std::filesystem::path> below(const std::filesystem::path &Folder,
                                           const std::filesystem::path &Path);

} // namespace torchtidy::confirm::fix

#endif
