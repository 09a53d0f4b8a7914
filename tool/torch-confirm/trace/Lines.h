// The file of lines whose hits are wanted: torch-confirm makes it before the
// run, and every process of the run maps it shared.
//
// torch-confirm knows where the code of a flagged line begins
// (run/LineTable.h); the probe puts a breakpoint there that goes when it is hit
// (probe/preload/Lines.h), and marks the address in here. Nothing is written at
// the end, as with the trace, so the marks are there however a process ends.
//
// Plain data, so that both the probe and torch-confirm include it.
#ifndef TORCHTIDY_CONFIRM_TRACE_LINES_H
#define TORCHTIDY_CONFIRM_TRACE_LINES_H

#include <atomic>
#include <cstdint>

namespace torchtidy::confirm::trace {

constexpr char LinesMagic[8] = {'T', 'O', 'R', 'C', 'H', 'L', 'I', 'N'};
constexpr uint32_t LinesVersion = 1;
constexpr const char *LinesVariable = "TORCH_CONFIRM_LINES";

constexpr uint32_t MaxLineModules = 64;
/// Each costs a process one trap at most.
constexpr uint32_t MaxLineAddresses = 65536;
constexpr uint32_t MaxOtherModules = 128;
constexpr uint32_t MaxCodeBytes = 8;

/// Why a process has put no breakpoints.
enum class LinesProblem : uint32_t {
  None,
  /// It is no x86-64.
  Processor,
  /// A debugger, or another tracer, is attached.
  Traced,
  /// It was started with SIGTRAP blocked and has several threads already.
  Blocked,
  /// A breakpoint of the probe's own did not work: code cannot be written here,
  /// or is not what runs (valgrind).
  Trial,
  /// The program itself was sent a SIGTRAP that it does not handle, or had
  /// blocked: all breakpoints were taken away.
  Taken,
  /// The loader cannot be watched, and libraries that are opened later are not
  /// seen.
  Loader,
};
constexpr uint32_t LinesProblemCount = 7;

/// A program or library that torch-confirm has looked at. The program is always
/// among them; others only where there is room.
struct LinesModule {
  /// Without a build id it is told by its file.
  uint64_t Device, Inode, Size;
  uint32_t BuildIdSize;
  uint8_t BuildId[36];
  /// Its addresses, in order of their values; none where no flagged line has
  /// code in it.
  uint32_t First, Count;
  /// Times that a process had it loaded.
  std::atomic<uint32_t> Loads;
  uint32_t Unused;
};

/// States of an address: bits.
constexpr uint32_t LineIsPlanted = 1, LineIsHit = 2,
                   /// In some process it was not watched, or not to the end.
    LineIsLost = 4;

struct LinesAddress {
  /// As the file numbers it; an instruction begins there.
  uint64_t Address;
  /// What the file has there: nothing is written where the process has
  /// something else.
  uint8_t Code[MaxCodeBytes];
  uint32_t CodeSize;
  std::atomic<uint32_t> State;
};

struct LinesHeader {
  char Magic[8];
  uint32_t Version;
  uint32_t ModuleCount, AddressCount;
  /// Processes that were watched, or had a problem: those with one of the
  /// modules, or with LibTorch.
  std::atomic<uint32_t> Processes;
  /// Of LinesProblem, by its number: processes that had it.
  std::atomic<uint32_t> Problems[LinesProblemCount];
  /// Programs and libraries of the user's in such a process that are not among
  /// the modules: their paths, cut. The count may be larger than the room.
  std::atomic<uint32_t> OtherCount;
  char Others[MaxOtherModules][512];
};

constexpr uint64_t LinesModulesAt = (sizeof(LinesHeader) + 63) / 64 * 64;
constexpr uint64_t LinesAddressesAt =
    LinesModulesAt + sizeof(LinesModule) * MaxLineModules;
constexpr uint64_t linesFileSize(uint32_t Addresses) {
  return LinesAddressesAt + sizeof(LinesAddress) * Addresses;
}

} // namespace torchtidy::confirm::trace

#endif
