#include "run/Code.h"
#include <algorithm>
#include <cstring>
#include <elf.h>

namespace torchtidy::confirm {

Code::Code(const std::string &Path) : File(Path) {
  const auto *Head = File.at<Elf64_Ehdr>(0);
  if (!Head || std::memcmp(Head->e_ident, ELFMAG, SELFMAG) != 0 ||
      Head->e_ident[EI_CLASS] != ELFCLASS64)
    return;
  const auto *All = File.at<Elf64_Shdr>(Head->e_shoff, Head->e_shnum);
  for (unsigned I = 0; All && I < Head->e_shnum; ++I) {
    const Elf64_Shdr &S = All[I];
    if (S.sh_type == SHT_PROGBITS && (S.sh_flags & SHF_EXECINSTR) &&
        File.at<char>(S.sh_offset, S.sh_size))
      Sections.push_back({S.sh_addr, S.sh_addr + S.sh_size, S.sh_offset});
  }
  // By segments, as the probe sees them.
  const auto *Segments = File.at<Elf64_Phdr>(Head->e_phoff, Head->e_phnum);
  for (unsigned I = 0; Segments && I < Head->e_phnum; ++I) {
    if (Segments[I].p_type != PT_NOTE)
      continue;
    const uint64_t End = Segments[I].p_offset + Segments[I].p_filesz;
    for (uint64_t At = Segments[I].p_offset; At < End;) {
      const auto *Note = File.at<Elf64_Nhdr>(At);
      if (!Note)
        break;
      const uint64_t Name = At + sizeof(Elf64_Nhdr);
      const uint64_t Data = Name + (uint64_t(Note->n_namesz) + 3) / 4 * 4;
      const char *Owner = File.at<char>(Name, Note->n_namesz);
      const char *Bytes = File.at<char>(Data, Note->n_descsz);
      if (!Owner || !Bytes)
        break;
      if (Note->n_type == NT_GNU_BUILD_ID && Note->n_namesz == 4 &&
          std::memcmp(Owner, "GNU", 4) == 0 && BuildId.empty())
        BuildId = {Bytes, Note->n_descsz};
      At = Data + (uint64_t(Note->n_descsz) + 3) / 4 * 4;
    }
  }
}

const Code::Section *Code::find(uint64_t Address) const {
  auto It = std::find_if(Sections.begin(), Sections.end(), [&](const auto &S) {
    return Address >= S.Begin && Address < S.End;
  });
  return It == Sections.end() ? nullptr : &*It;
}

bool Code::holds(uint64_t First, uint64_t Last) const {
  const Section *Here = find(First);
  return Here && Last >= First && Last <= Here->End;
}

std::string_view Code::at(uint64_t Address, size_t Size) const {
  const Section *Here = find(Address);
  if (!Here)
    return {};
  Size = std::min<uint64_t>(Size, Here->End - Address);
  return {File.at<char>(Here->Offset + (Address - Here->Begin), Size), Size};
}

} // namespace torchtidy::confirm
