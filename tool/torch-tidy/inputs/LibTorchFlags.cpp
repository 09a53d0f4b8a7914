#include "inputs/FindLibTorch.h"
#include "inputs/Tree.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace torchtidy::tool {

std::vector<std::string> libTorchFlags(StringRef Include, vfs::FileSystem &FS) {
  std::vector<std::string> Flags;
  auto Add = [&](std::string Folder) {
    if (FS.exists(Folder)) {
      Flags.emplace_back("-isystem");
      Flags.push_back(std::move(Folder));
    }
  };
  if (Include.empty())
    return Flags;
  // Clang knows this folder, and in this place it would come before those of
  // the standard library.
  if (Include != "/usr/include")
    Add(Include.str());
  Add(below(Include, FrontEnd));
  // The wheels of CUDA's headers lie beside that of LibTorch.
  const std::string Wheels = comparablePath(below(Include, "../../nvidia"));
  std::error_code Failure;
  std::vector<std::string> Found;
  for (vfs::directory_iterator It = FS.dir_begin(Wheels, Failure), End;
       It != End && !Failure; It.increment(Failure))
    Found.push_back(below(It->path(), "include"));
  llvm::sort(Found);
  for (std::string &Folder : Found)
    Add(std::move(Folder));
  return Flags;
}

} // namespace torchtidy::tool
