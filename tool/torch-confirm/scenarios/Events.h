// What happens at lines of a scenario program: exceptions that leave LibTorch,
// and reports of the sanitizer.
#ifndef TORCHTIDY_CONFIRM_SCENARIOS_EVENTS_H
#define TORCHTIDY_CONFIRM_SCENARIOS_EVENTS_H

#include "recording/Recording.h"
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace torchtidy::confirm::scenarios {

extern const char *const Exceptions;
extern const char *const SanitizerReports;

/// The stack of an exception, and any of a report's.
extern const char *const AnyStack;

struct Event {
  /// One of the two above.
  std::string Measure;
  /// "c10::Error"; "heap-use-after-free".
  std::string Type;
  std::string Words;
  /// Lines of the program itself by stack: AnyStack; of a report also "use",
  /// "freed" and "allocated".
  std::map<std::string, std::set<unsigned>> Lines;
  uint64_t Count = 1;
};

/// Those of a recording. Source: the program's file, of which the folder and
/// the name count; where it was compiled it may have had another path.
std::vector<Event> eventsOf(const Recording &Run,
                            const std::filesystem::path &Source);

/// Events of which a statement may be made with at=, use=, freed= or
/// allocated=.
bool isEvent(const std::string &Measure);

} // namespace torchtidy::confirm::scenarios

#endif
