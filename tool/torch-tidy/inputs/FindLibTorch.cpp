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

/// The front end lies in a folder of its own, in Debian's package too.
constexpr StringLiteral FrontEnd = "torch/csrc/api/include";

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

/// Without importing it, which takes seconds.
std::string packageOfPython() {
  const ErrorOr<std::string> Python = sys::findProgramByName("python3");
  if (!Python)
    return {};
  SmallString<128> Output;
  if (sys::fs::createTemporaryFile("torch-tidy", "txt", Output))
    return {};
  const StringRef Words[] = {
      *Python, "-c",
      "import importlib.util as u\n"
      "s = u.find_spec('torch')\n"
      "print(s.submodule_search_locations[0] if s else '')"};
  const std::optional<StringRef> Redirects[] = {StringRef(""), Output.str(),
                                                StringRef("")};
  const int Code = sys::ExecuteAndWait(*Python, Words, /*Env=*/std::nullopt,
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
  std::string Newest;
  std::error_code Failure;
  for (vfs::directory_iterator It = FS.dir_begin(defaultCacheFolder(), Failure),
                               End;
       It != End && !Failure; It.increment(Failure))
    if (sys::path::filename(It->path()).starts_with("libtorch-") &&
        It->type() == sys::fs::file_type::directory_file)
      Newest = std::max(Newest, below(It->path(), "torch"));
  return Newest;
}

} // namespace

std::string findLibTorch(StringRef Given, StringRef Root, vfs::FileSystem &FS) {
  if (!Given.empty())
    return headersIn(Given, FS);
  auto Variable = [](StringRef Name) {
    return sys::Process::GetEnv(Name).value_or("");
  };
  for (StringRef Name : {"LIBTORCH", "LIBTORCH_PATH"})
    if (std::string Found = headersIn(Variable(Name), FS); !Found.empty())
      return Found;
  // .../share/cmake/Torch
  if (std::string Found = headersIn(
          comparablePath(below(Variable("Torch_DIR"), "../../..")), FS);
      !Variable("Torch_DIR").empty() && !Found.empty())
    return Found;
  const std::string Prefixes = Variable("CMAKE_PREFIX_PATH");
  SmallVector<StringRef> Folders;
  StringRef(Prefixes).split(Folders, sys::EnvPathSeparator, -1, false);
  for (StringRef Folder : Folders)
    if (std::string Found = headersIn(Folder, FS); !Found.empty())
      return Found;
  for (StringRef Folder = Root; !Folder.empty();
       Folder = sys::path::parent_path(Folder))
    if (std::string Found = headersIn(below(Folder, "libtorch"), FS);
        !Found.empty())
      return Found;
  if (std::string Found = headersIn(packageOfPython(), FS); !Found.empty())
    return Found;
  SmallString<128> Home;
  sys::path::home_directory(Home);
  for (const std::string &Folder :
       {std::string("/opt/libtorch"), std::string("/usr/local/libtorch"),
        below(Home, "libtorch"), fetched(FS), std::string("/usr/local/include"),
        std::string("/usr/include")})
    if (std::string Found = headersIn(Folder, FS); !Found.empty())
      return Found;
  return {};
}

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
