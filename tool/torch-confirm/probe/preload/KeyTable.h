// From a 64-bit key (an address of memory, the name of a graph node) to where
// it came from. Grows and shrinks with what is alive; split, so that threads
// seldom wait for each other.
#ifndef TORCHTIDY_CONFIRM_PROBE_KEYTABLE_H
#define TORCHTIDY_CONFIRM_PROBE_KEYTABLE_H

#include "State.h"

#include <cstring>

#include <sys/mman.h>

namespace torchtidy::confirm::probe {

class KeyTable {
public:
  struct Row {
    /// 0 is free.
    uint64_t Key;
    int64_t Size;
    uint32_t Site;
    uint32_t Extra;
  };

  /// Replaces what is there.
  void put(const Row &New) {
    Part &In = partOf(New.Key);
    Locked Lock(In.Lock);
    if (In.Count * 4 >= In.Capacity * 3 && !grow(In))
      return;
    Row &At = find(In, New.Key);
    In.Count += At.Key == 0;
    At = New;
  }

  /// Changes the row of a key. \returns whether it is there.
  template <typename Change> bool update(uint64_t Key, const Change &Do) {
    Part &In = partOf(Key);
    Locked Lock(In.Lock);
    Row *Found = findKnown(In, Key);
    if (Found)
      Do(*Found);
    return Found;
  }

  /// All rows, while all parts are locked by the caller.
  template <typename Action> void forEachLocked(const Action &Do) {
    for (Part &In : Parts)
      for (uint64_t I = 0; I < In.Capacity; ++I)
        if (In.Rows[I].Key)
          Do(In.Rows[I]);
  }

  /// \returns whether it was there.
  bool take(uint64_t Key, Row &Out) { return get(Key, Out, true); }
  bool look(uint64_t Key, Row &Out) { return get(Key, Out, false); }

  // Around a fork, so that the child finds the table whole.
  void lock() {
    for (Part &Each : Parts)
      Each.Lock.lock();
  }
  void unlock() {
    for (Part &Each : Parts)
      Each.Lock.unlock();
  }

private:
  struct alignas(64) Part {
    SpinLock Lock;
    Row *Rows;
    uint64_t Capacity, Count;
  };
  static constexpr uint32_t PartBits = 6;

  static uint64_t mix(uint64_t Key) {
    Key *= 0x9E3779B97F4A7C15ull;
    return Key ^ Key >> 32;
  }
  Part &partOf(uint64_t Key) { return Parts[mix(Key) >> (64 - PartBits)]; }

  static Row &find(Part &In, uint64_t Key) {
    uint64_t At = mix(Key) & (In.Capacity - 1);
    while (In.Rows[At].Key != 0 && In.Rows[At].Key != Key)
      At = (At + 1) & (In.Capacity - 1);
    return In.Rows[At];
  }

  /// Null where it is not there.
  static Row *findKnown(Part &In, uint64_t Key) {
    if (!In.Capacity)
      return nullptr;
    Row &Found = find(In, Key);
    return Found.Key ? &Found : nullptr;
  }

  static bool grow(Part &In) {
    const uint64_t Capacity = In.Capacity ? 2 * In.Capacity : 256;
    Row *Rows = static_cast<Row *>(reserve(Capacity * sizeof(Row)));
    if (!Rows)
      return false;
    Part Old = {};
    Old.Rows = In.Rows;
    Old.Capacity = In.Capacity;
    In.Rows = Rows;
    In.Capacity = Capacity;
    for (uint64_t I = 0; I < Old.Capacity; ++I)
      if (Old.Rows[I].Key)
        find(In, Old.Rows[I].Key) = Old.Rows[I];
    if (Old.Rows)
      munmap(Old.Rows, Old.Capacity * sizeof(Row));
    return true;
  }

  bool get(uint64_t Key, Row &Out, bool Removes) {
    Part &In = partOf(Key);
    Locked Lock(In.Lock);
    Row *Found = findKnown(In, Key);
    if (!Found)
      return false;
    Out = *Found;
    if (Removes)
      remove(In, static_cast<uint64_t>(Found - In.Rows));
    return true;
  }

  /// Moves later rows up, so that searches need no marks for what was removed.
  static void remove(Part &In, uint64_t Hole) {
    const uint64_t Mask = In.Capacity - 1;
    for (uint64_t At = (Hole + 1) & Mask; In.Rows[At].Key;
         At = (At + 1) & Mask) {
      const uint64_t Home = mix(In.Rows[At].Key) & Mask;
      if (((At - Home) & Mask) < ((At - Hole) & Mask))
        continue;
      In.Rows[Hole] = In.Rows[At];
      Hole = At;
    }
    In.Rows[Hole].Key = 0;
    --In.Count;
  }

  Part Parts[1 << PartBits];
};

} // namespace torchtidy::confirm::probe

#endif
