#include "run/LineMarks.h"

namespace torchtidy::confirm {

using trace::LinesProblem;

std::string textOf(LinesProblem What) {
  switch (What) {
  case LinesProblem::None:
    break;
  case LinesProblem::Processor:
    return "breakpoints are only known for x86-64";
  case LinesProblem::Traced:
    return "a debugger or another tracer was attached";
  case LinesProblem::Blocked:
    return "the program was started with SIGTRAP blocked";
  case LinesProblem::Trial:
    return "breakpoints do not work there: its code cannot be written, or is "
           "not what runs, as under valgrind";
  case LinesProblem::Taken:
    return "the program raised SIGTRAP itself, and the breakpoints were taken "
           "away";
  case LinesProblem::Loader:
    return "libraries that it opens cannot be watched";
  }
  return "";
}

uint32_t LineMarks::state(size_t Address) const {
  const auto *Each =
      File.at<trace::LinesAddress>(trace::LinesAddressesAt, Address + 1);
  return Each ? Each[Address].State.load() : uint32_t(trace::LineIsLost);
}

bool LineMarks::wasLoaded(size_t Module) const {
  const auto *Each =
      File.at<trace::LinesModule>(trace::LinesModulesAt, Module + 1);
  return Each && Each[Module].Loads.load();
}

std::string LineMarks::whyNone() const {
  std::string Result;
  uint32_t Number = 0;
  for (LinesProblem Each : {LinesProblem::Processor, LinesProblem::Traced,
                            LinesProblem::Blocked, LinesProblem::Trial})
    if (const uint32_t Here = number(Each)) {
      Number += Here;
      Result = textOf(Each);
    }
  if (!header()->Processes.load())
    return "the probe did not start";
  return Number >= header()->Processes.load() ? Result : "";
}

std::string LineMarks::whyNotAll() const {
  for (uint32_t I = 1; I < trace::LinesProblemCount; ++I)
    if (number(LinesProblem(I)) && LinesProblem(I) != LinesProblem::Taken)
      return textOf(LinesProblem(I));
  return "";
}

} // namespace torchtidy::confirm
