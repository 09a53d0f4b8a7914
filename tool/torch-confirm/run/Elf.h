// What an ELF file says of itself, as far as it decides whether the probe can
// watch it.
#ifndef TORCHTIDY_CONFIRM_RUN_ELF_H
#define TORCHTIDY_CONFIRM_RUN_ELF_H

#include <optional>
#include <string>
#include <vector>

namespace torchtidy::confirm {

struct ElfFile {
  /// The loader that it asks for; empty where it is statically linked, or a
  /// library.
  std::string Interpreter;
  bool IsDynamic = false;
  /// It has line numbers, in it or in a file of its own.
  bool HasLines = false;
  /// The file of its own that holds them; empty where they are in it.
  std::string DebugFile;
  /// It is built with AddressSanitizer.
  bool IsSanitized = false;
  /// Its names of LibTorch, where it holds LibTorch itself.
  bool HoldsLibTorch = false;
  /// Where the compiler's names of source files are, one after the other; empty
  /// where they are packed or in another file.
  std::string SourceNames;
};

/// Nothing where it is no ELF file of 64 bits.
std::optional<ElfFile> readElf(const std::string &Path);

/// Whether the program was compiled from a file of this name, as far as can be
/// told: true in doubt.
bool mayHoldSource(const ElfFile &Program, const std::string &File);

} // namespace torchtidy::confirm

#endif
