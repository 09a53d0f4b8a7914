#include "cache/BuildId.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <elf.h>
#include <link.h>

using namespace llvm;

namespace torchtidy::tool {

/// The GNU build ID among the notes of a segment, in hexadecimal.
static std::string buildId(StringRef Notes) {
  const auto Padded = [](uint64_t Size) { return alignTo(Size, 4); };
  while (Notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) Note;
    memcpy(&Note, Notes.data(), sizeof(Note));
    const StringRef Rest = Notes.drop_front(sizeof(Note));
    if (Rest.size() < Padded(Note.n_namesz) + Note.n_descsz)
      break;
    const StringRef Content = Rest.substr(Padded(Note.n_namesz), Note.n_descsz);
    if (Note.n_type == NT_GNU_BUILD_ID &&
        Rest.take_front(Note.n_namesz) == StringRef("GNU\0", 4))
      return toHex(Content, /*LowerCase=*/true);
    Notes = Rest.drop_front(std::min<uint64_t>(
        Padded(Note.n_namesz) + Padded(Note.n_descsz), Rest.size()));
  }
  return {};
}

std::string buildIdOfProgram() {
  std::string Found;
  dl_iterate_phdr(
      [](dl_phdr_info *Object, size_t, void *Result) {
        for (int I = 0; I < Object->dlpi_phnum; ++I) {
          const ElfW(Phdr) &Header = Object->dlpi_phdr[I];
          if (Header.p_type != PT_NOTE)
            continue;
          // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader's address
          const StringRef Notes(reinterpret_cast<const char *>(
                                    Object->dlpi_addr + Header.p_vaddr),
                                Header.p_memsz);
          std::string &Id = *static_cast<std::string *>(Result);
          Id = buildId(Notes);
          if (!Id.empty())
            break;
        }
        return 1; // The first object is the program.
      },
      &Found);
  return Found;
}

} // namespace torchtidy::tool
