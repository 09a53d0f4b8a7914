// Builds the copy of a project as its user builds the project.
#ifndef TORCHTIDY_CONFIRM_FIX_COPYBUILD_H
#define TORCHTIDY_CONFIRM_FIX_COPYBUILD_H

#include "fix/ProjectCopy.h"
#include "support/Capture.h"
#include <memory>

namespace torchtidy::confirm::fix {

class CopyBuild {
public:
  virtual ~CopyBuild() = default;
  /// Once, before the first build. Throws UserError where it cannot be
  /// configured.
  virtual void configure() = 0;
  /// Builds the copy as it now is.
  virtual Captured build() const = 0;
  /// What is built, for people.
  virtual std::string name() const = 0;
  /// Where the program is when it is built.
  virtual std::filesystem::path program() const = 0;
};

/// Where the user's things are.
struct BuildSettings {
  /// The build folder of -p; absolute.
  std::filesystem::path Build;
  /// The program that it has made; absolute.
  std::filesystem::path Program;
  /// The folder that the copy is built in: in the copy where Build is in the
  /// project.
  std::filesystem::path NewBuild;
  /// How many compilers may run at once.
  unsigned Jobs = 1;
};

/// Configured with the entries of Build's CMakeCache.txt, of which those that
/// lead into the project or into Build lead into the copy; builds the target
/// that makes the program.
std::unique_ptr<CopyBuild> makeCMakeBuild(const BuildSettings &How,
                                          const ProjectCopy &Copy);

/// A command of the user's, run by a shell in the copy; "{source}" and
/// "{build}" in it are the folders of the copy and of its build.
std::unique_ptr<CopyBuild> makeCommandBuild(const BuildSettings &How,
                                            const ProjectCopy &Copy,
                                            const std::string &Command);

/// The line of the first error in what a build has printed, with the two lines
/// behind it; its end where no line says that it is one.
std::string firstError(const std::string &Printed);

} // namespace torchtidy::confirm::fix

#endif
