#include "run/Elf.h"
#include "run/Mapping.h"
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <string_view>

namespace fs = std::filesystem;

namespace torchtidy::confirm {
namespace {

/// Debian's and others' packages put the debug information elsewhere.
std::string debugFileOf(const std::string &Path, const std::string &Link,
                        const std::string &BuildId) {
  const fs::path Folder = fs::path(Path).parent_path();
  std::error_code Ignored;
  if (!Link.empty())
    for (const fs::path &Each :
         {Folder / Link, Folder / ".debug" / Link,
          fs::path("/usr/lib/debug" + Folder.string()) / Link})
      if (fs::exists(Each, Ignored) && !fs::equivalent(Each, Path, Ignored))
        return Each.string();
  if (BuildId.size() <= 2)
    return "";
  const std::string ById = "/usr/lib/debug/.build-id/" + BuildId.substr(0, 2) +
                           "/" + BuildId.substr(2) + ".debug";
  return fs::exists(ById, Ignored) ? ById : "";
}

std::string hexadecimal(std::string_view Bytes) {
  static const char Digits[] = "0123456789abcdef";
  std::string Result;
  for (unsigned char C : Bytes) {
    Result += Digits[C >> 4];
    Result += Digits[C & 15];
  }
  return Result;
}

} // namespace

std::optional<ElfFile> readElf(const std::string &Path) {
  const Mapping File(Path);
  const auto *Head = File.at<Elf64_Ehdr>(0);
  if (!Head || std::memcmp(Head->e_ident, ELFMAG, SELFMAG) != 0 ||
      Head->e_ident[EI_CLASS] != ELFCLASS64)
    return std::nullopt;
  ElfFile Result;
  const auto *Segments = File.at<Elf64_Phdr>(Head->e_phoff, Head->e_phnum);
  for (unsigned I = 0; Segments && I < Head->e_phnum; ++I) {
    const Elf64_Phdr &S = Segments[I];
    Result.IsDynamic |= S.p_type == PT_DYNAMIC;
    if (S.p_type == PT_INTERP && S.p_filesz > 1)
      if (const char *Name = File.at<char>(S.p_offset, S.p_filesz))
        Result.Interpreter.assign(Name, S.p_filesz - 1);
  }
  const auto *Sections = File.at<Elf64_Shdr>(Head->e_shoff, Head->e_shnum);
  if (!Sections || Head->e_shstrndx >= Head->e_shnum)
    return Result;
  const Elf64_Shdr &Names = Sections[Head->e_shstrndx];
  std::string Link, BuildId;
  for (unsigned I = 0; I < Head->e_shnum; ++I) {
    const Elf64_Shdr &S = Sections[I];
    if (S.sh_type == SHT_NOBITS || S.sh_name >= Names.sh_size)
      continue;
    const char *Bytes = File.at<char>(S.sh_offset, S.sh_size);
    const char *NameAt = File.at<char>(Names.sh_offset, Names.sh_size);
    if (!Bytes || !NameAt)
      continue;
    const std::string Name(
        NameAt + S.sh_name,
        strnlen(NameAt + S.sh_name, Names.sh_size - S.sh_name));
    const std::string_view Content(Bytes, S.sh_size);
    if (Name == ".debug_line" || Name == ".zdebug_line")
      Result.HasLines |= S.sh_size > 0;
    else if (Name == ".gnu_debuglink")
      Link.assign(Bytes, strnlen(Bytes, S.sh_size));
    else if (Name == ".note.gnu.build-id" && S.sh_size > 16)
      BuildId = hexadecimal(Content.substr(16));
    if (Name == ".strtab" || Name == ".dynstr")
      Result.IsSanitized |=
          Content.find("__asan_init") != std::string_view::npos;
    if (Name == ".strtab")
      // at::_ops: the operators themselves.
      Result.HoldsLibTorch |=
          Content.find("_ZN2at4_ops3add4callE") != std::string_view::npos &&
          Content.find("_ZN2at4_ops10empty_like4callE") !=
              std::string_view::npos &&
          Content.find("_ZN3c1014SetCPUAllocator") != std::string_view::npos;
    // DWARF 5 has them in a section of their own; before they were in
    // .debug_line, and the name of each unit's source in .debug_str.
    if ((Name == ".debug_line_str" || Name == ".debug_str" ||
         Name == ".debug_line") &&
        !(S.sh_flags & SHF_COMPRESSED))
      Result.SourceNames.append(Content);
  }
  if (!Result.HasLines)
    Result.DebugFile = debugFileOf(Path, Link, BuildId);
  Result.HasLines |= !Result.DebugFile.empty();
  return Result;
}

bool mayHoldSource(const ElfFile &Program, const std::string &File) {
  return Program.SourceNames.empty() ||
         Program.SourceNames.find(fs::path(File).filename().string()) !=
             std::string::npos;
}

} // namespace torchtidy::confirm
