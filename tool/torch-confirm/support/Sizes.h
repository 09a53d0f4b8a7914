// Numbers of bytes, as people write them.
#ifndef TORCHTIDY_CONFIRM_SUPPORT_SIZES_H
#define TORCHTIDY_CONFIRM_SUPPORT_SIZES_H

#include <cstdint>
#include <string>

namespace torchtidy::confirm {

/// "1MiB", "64 KiB", "2G", "4096": what an option was given, in bytes; K, M, G
/// and T are powers of 1024, with or without "iB", and those of 1000 with "B".
/// Throws UserError, which names the option.
int64_t parseBytes(const std::string &Option, const std::string &Text);

} // namespace torchtidy::confirm

#endif
