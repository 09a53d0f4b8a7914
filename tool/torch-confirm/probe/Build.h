// Compiles the probe against the user's LibTorch, once.
//
// The probe is two shared libraries that lie in one folder:
//   libtorch-confirm-probe.so  is preloaded (or linked first). Its sources see
//   no
//                              LibTorch header, and it needs no LibTorch
//                              library, so that it is inert and cheap in other
//                              programs.
//   libtorch-confirm-torch.so  is opened by the first one in a process that has
//                              LibTorch. Tensors and graph nodes are laid out
//                              differently in each version, so it is compiled
//                              against the headers of the LibTorch in use.
//
// The commands, from the folder of the probe's sources, where <flags> are
// -std=c++17 -O2 -DNDEBUG -fPIC -fvisibility=hidden -shared:
//   c++ <flags> -fno-threadsafe-statics -pthread preload/*.cpp
//       -o libtorch-confirm-probe.so -ldl
//   c++ <flags> -isystem <root>/include
//       -isystem <root>/include/torch/csrc/api/include torch/*.cpp
//       -o libtorch-confirm-torch.so -L<root>/lib -ltorch_cpu -lc10
//
// Neither LibTorch nor LLVM is needed to call this.
#ifndef TORCHTIDY_CONFIRM_PROBE_BUILD_H
#define TORCHTIDY_CONFIRM_PROBE_BUILD_H

#include <functional>
#include <string>

namespace torchtidy::confirm {

struct ProbeBuild {
  /// libtorch-confirm-probe.so, to be put into LD_PRELOAD. Empty when it
  /// failed.
  std::string Path;
  /// One line that says what is wrong, and below it the compiler's output.
  std::string Error;
};

/// \param Sources the folder tool/torch-confirm/probe, or an installed copy;
///        ../trace lies beside it.
/// \param LibTorch the folder that holds include/ and lib/.
/// \param Compiler a C++ compiler ("g++", "/usr/bin/clang++-19"); it has to be
///        of the standard library that LibTorch was made with (libstdc++).
/// \param Cache a folder that is made when it is missing. In it each LibTorch,
///        compiler and state of the sources has a folder of its own, which
///        appears at once and complete; of several callers one compiles and the
///        others wait.
/// \param Waits is told, before each wait that takes seconds, what for: half a
///        sentence ("compiling the probe ...").
ProbeBuild
buildProbe(const std::string &Sources, const std::string &LibTorch,
           const std::string &Compiler, const std::string &Cache,
           const std::function<void(const std::string &)> &Waits = {});

} // namespace torchtidy::confirm

#endif
