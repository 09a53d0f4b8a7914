// How numbers are written for people.
#ifndef TORCHTIDY_CONFIRM_SUPPORT_NUMBERS_H
#define TORCHTIDY_CONFIRM_SUPPORT_NUMBERS_H

#include <string>

namespace torchtidy::confirm {

/// Rounded to a whole number, in groups of three digits: "-1,234,567"; "nan".
std::string grouped(double Number);

} // namespace torchtidy::confirm

#endif
