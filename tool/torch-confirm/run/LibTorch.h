// The folder of LibTorch that a program uses: what holds include/ and lib/.
#ifndef TORCHTIDY_CONFIRM_RUN_LIBTORCH_H
#define TORCHTIDY_CONFIRM_RUN_LIBTORCH_H

#include <string>

namespace torchtidy::confirm {

/// The folder, for a library of LibTorch that a program has loaded or is linked
/// with: .../lib/libc10.so gives "..." . Empty where there are no headers
/// beside it.
std::string libTorchOf(const std::string &Library);

/// "2.11.0" of the LibTorch in a folder; empty where it has no headers.
std::string versionOfHeaders(const std::string &LibTorch);

} // namespace torchtidy::confirm

#endif
