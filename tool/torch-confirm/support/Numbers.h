// How numbers are written for people, and by them.
#ifndef TORCHTIDY_CONFIRM_SUPPORT_NUMBERS_H
#define TORCHTIDY_CONFIRM_SUPPORT_NUMBERS_H

#include <string>

namespace torchtidy::confirm {

/// Rounded to a whole number, in groups of three digits: "-1,234,567"; "nan".
std::string grouped(double Number);

/// What an option was given, in seconds: more than 0, and a year at most.
/// Throws UserError, which names the option.
double parseSeconds(const std::string &Option, const std::string &Text);

} // namespace torchtidy::confirm

#endif
