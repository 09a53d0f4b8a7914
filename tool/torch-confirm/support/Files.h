// Files as a whole, with errors that say which file it was.
#ifndef TORCHTIDY_CONFIRM_SUPPORT_FILES_H
#define TORCHTIDY_CONFIRM_SUPPORT_FILES_H

#include <string>

namespace torchtidy::confirm {

/// All throw UserError.
std::string readFile(const std::string &Path);
/// Written beside it and renamed, so that a full disk leaves the old one.
void writeFile(const std::string &Path, const std::string &Text);
/// The same; when it returns, the file outlasts a machine that is switched off.
void writeFileToDisk(const std::string &Path, const std::string &Text);

/// Whether a file can be written there, which is better known before a long run
/// than after it. Leaves none, and one that is there as it is.
void requireWritable(const std::string &Path);

} // namespace torchtidy::confirm

#endif
