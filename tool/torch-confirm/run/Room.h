// Whether the probe can write where it is told to, which is better known before
// a long run than after it.
#ifndef TORCHTIDY_CONFIRM_RUN_ROOM_H
#define TORCHTIDY_CONFIRM_RUN_ROOM_H

#include <cstdint>
#include <string>

namespace torchtidy::confirm {

/// Throws UserError where a file at \p Path cannot be made \p Size bytes long,
/// with \p AtOnce of them on the disk. Leaves no file.
void requireRoom(const std::string &Path, uint64_t AtOnce, uint64_t Size);

} // namespace torchtidy::confirm

#endif
