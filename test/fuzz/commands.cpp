// compile_commands.json: as it is found above a source, and with -p. LLVM
// parses it; which of its commands are used, and for what, we say.
#include "Input.h"
#include "inputs/Compilations.h"
#include "inputs/InferredFlags.h"
#include "inputs/Sources.h"

using namespace torchtidy::tool;

namespace torchtidy::tool {

/// What is looked for where it cannot be read is none of it.
InferredFlags inferFlags(llvm::StringRef, llvm::StringRef, llvm::StringRef,
                         llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>) {
  InferredFlags Result;
  Result.Database = std::make_unique<clang::tooling::FixedCompilationDatabase>(
      ".", std::vector<std::string>());
  return Result;
}

} // namespace torchtidy::tool

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  static const Folder Project;
  static const bool IsMade = [] {
    Project.write("src/a.cpp", "int a;\n");
    Project.write("b.cpp", "int b;\n");
    return true;
  }();
  (void)IsMade;
  Project.write("compile_commands.json", Project.named(Data, Size));
  const auto FS = llvm::vfs::getRealFileSystem();
  for (const bool IsNamed : {false, true}) {
    Options Line;
    Line.Sources = {Project.path("src/a.cpp")};
    if (IsNamed)
      Line.BuildPath = Project.path("");
    const Compilations Found = loadCompilations(Line, FS);
    if (!Found.Database)
      continue;
    for (const std::vector<std::string> &Names :
         {std::vector<std::string>(),
          {Project.path("src")},
          {Project.path("*.cpp"), Project.path("b.cpp")}})
      findSources(Names, Found, *FS);
  }
  return 0;
}
