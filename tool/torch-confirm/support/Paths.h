// Where torch-confirm keeps and finds its files.
#ifndef TORCHTIDY_CONFIRM_SUPPORT_PATHS_H
#define TORCHTIDY_CONFIRM_SUPPORT_PATHS_H

#include <filesystem>
#include <string>

namespace torchtidy::confirm {

/// Of this process.
std::filesystem::path ownExecutable();
/// The folder that holds probe/ and trace/: beside the executable's bin/ folder
/// (share/torch-confirm), in a build as in an installation.
std::filesystem::path dataFolder();
/// $TORCH_TIDY_CACHE, or torch-tidy in the user's cache folder: probes that
/// were built are kept there.
std::filesystem::path cacheFolder();
/// The program as a shell finds it; empty where there is none.
std::filesystem::path findOnPath(const std::string &Name);

std::string version();

} // namespace torchtidy::confirm

#endif
