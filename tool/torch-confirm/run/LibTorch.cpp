#include "run/LibTorch.h"
#include "support/Files.h"
#include <filesystem>
#include <regex>

namespace fs = std::filesystem;

namespace torchtidy::confirm {

std::string libTorchOf(const std::string &Library) {
  constexpr const char *Header = "torch/csrc/api/include/torch/torch.h";
  std::error_code Error;
  fs::path Folder = fs::weakly_canonical(Library, Error).parent_path();
  // <root>/lib, or Debian's <root>/lib/<triple>.
  for (int Level = 0; Level < 2 && !Folder.empty(); ++Level) {
    Folder = Folder.parent_path();
    if (fs::exists(Folder / "include" / Header, Error))
      return Folder.string();
  }
  return {};
}

std::string versionOfHeaders(const std::string &LibTorch) {
  static const std::regex Number(
      "define TORCH_VERSION_(MAJOR|MINOR|PATCH) +([0-9]+)");
  for (const char *Name : {"/include/torch/headeronly/version.h",
                           "/include/torch/csrc/api/include/torch/version.h"}) {
    std::error_code Ignored;
    if (!fs::is_regular_file(LibTorch + Name, Ignored))
      continue;
    const std::string Text = readFile(LibTorch + Name);
    std::string Result;
    for (std::sregex_iterator It(Text.begin(), Text.end(), Number), End;
         It != End; ++It)
      Result += (Result.empty() ? "" : ".") + (*It)[2].str();
    if (!Result.empty())
      return Result;
  }
  return "";
}

} // namespace torchtidy::confirm
