// Baselines. What is read is written as it was.
#include "report/Baseline.h"
#include "Input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  const auto Write = [](const torchtidy::tool::Baseline &Known) {
    std::string Text;
    llvm::raw_string_ostream OS(Text);
    Known.write(OS);
    return Text;
  };
  const FileOf File(Data, Size);
  torchtidy::tool::Baseline Known(File.path(), llvm::vfs::getRealFileSystem());
  if (!Known.read())
    return 0;
  Known.numGone({"a.cpp", "src/b.cpp"});
  torchtidy::tool::Findings None;
  Known.subtract(None);
  const std::string Text = Write(Known);
  const FileOf Written(Text);
  torchtidy::tool::Baseline Again(Written.path(),
                                  llvm::vfs::getRealFileSystem());
  if (!Again.read() || Write(Again) != Text || Again.size() != Known.size())
    abort();
  return 0;
}
