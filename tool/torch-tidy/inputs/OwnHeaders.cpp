#include "inputs/OwnHeaders.h"
#include "clang/Basic/Version.h"
#include "clang/Tooling/CommonOptionsParser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace clang::tooling;
using namespace llvm;

namespace torchtidy::tool {

std::string ownResourceDir(StringRef Executable) {
  SmallString<256> Folder = sys::path::parent_path(Executable);
  sys::path::append(Folder, TORCH_TIDY_DATA_FROM_BIN, "clang",
                    CLANG_VERSION_MAJOR_STRING);
  sys::path::remove_dots(Folder, /*remove_dot_dot=*/true);
  return sys::fs::is_directory(Folder) ? std::string(Folder) : std::string();
}

std::unique_ptr<CompilationDatabase>
withResourceDir(std::unique_ptr<CompilationDatabase> Commands,
                std::string ResourceDir) {
  auto Result =
      std::make_unique<ArgumentsAdjustingCompilations>(std::move(Commands));
  Result->appendArgumentsAdjuster(
      [Flag = "-resource-dir=" + std::move(ResourceDir)](
          CommandLineArguments Arguments, StringRef) {
        if (llvm::none_of(Arguments, [](StringRef Each) {
              return Each.starts_with("-resource-dir");
            }))
          Arguments.insert(std::next(Arguments.begin()), Flag);
        return Arguments;
      });
  return Result;
}

} // namespace torchtidy::tool
