// Addresses to lines, by llvm-symbolizer or addr2line.
#ifndef TORCHTIDY_CONFIRM_RECORDING_SYMBOLIZER_H
#define TORCHTIDY_CONFIRM_RECORDING_SYMBOLIZER_H

#include "recording/Recording.h"
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace torchtidy::confirm {

/// The lines that one address belongs to, inlined calls innermost first.
using Frames = std::vector<SourceLine>;

/// One program or library.
struct AddressesOf {
  std::string Module;
  /// As the file numbers them.
  std::vector<uint64_t> Addresses;
};

/// Throws UserError where there is neither of the two programs.
void requireSymbolizer();
std::map<uint64_t, Frames> symbolize(const AddressesOf &What);

/// The same for many addresses: each with its lines, without names of
/// functions, one after the other.
void symbolizeEach(
    const AddressesOf &What,
    const std::function<void(uint64_t Address, const Frames &Lines)> &Take);

/// For who looks at a running program again and again: each address is asked
/// for once.
class SymbolCache {
public:
  /// At least those that are asked for.
  const std::map<uint64_t, Frames> &linesOf(const AddressesOf &What);

private:
  std::map<std::string, std::map<uint64_t, Frames>> Known;
};

/// Reads what both print with -a -i -f -C.
std::map<uint64_t, Frames> parseSymbols(const std::string &Text);

/// Whether a file belongs to LibTorch, the standard library or the system.
bool isOfLibraries(const std::string &File);

} // namespace torchtidy::confirm

#endif
