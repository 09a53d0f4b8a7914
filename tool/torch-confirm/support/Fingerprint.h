// Tells states of a handful of files apart. Not meant against attackers.
#ifndef TORCHTIDY_CONFIRM_SUPPORT_FINGERPRINT_H
#define TORCHTIDY_CONFIRM_SUPPORT_FINGERPRINT_H

#include <cstdint>
#include <string>

namespace torchtidy::confirm {

/// FNV-1a, and a second sum beside it.
class Fingerprint {
public:
  Fingerprint &add(const std::string &Text) {
    for (unsigned char Byte : Text)
      addByte(Byte);
    addByte(0);
    return *this;
  }
  /// In hexadecimal digits.
  std::string text() const;

private:
  void addByte(unsigned char Byte) {
    First = (First ^ Byte) * 1099511628211u;
    Second = (Second + Byte) * 6364136223846793005u + 1442695040888963407u;
  }
  uint64_t First = 14695981039346656037u, Second = 1;
};

} // namespace torchtidy::confirm

#endif
