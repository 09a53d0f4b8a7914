#include "scenarios/Events.h"
#include <algorithm>

namespace fs = std::filesystem;

namespace torchtidy::confirm::scenarios {

const char *const Exceptions = "exceptions";
const char *const SanitizerReports = "sanitizer-reports";
const char *const AnyStack = "at";

namespace {

bool isOf(const SourceLine &Line, const fs::path &Source) {
  const fs::path File = Line.File;
  return File.filename() == Source.filename() &&
         File.parent_path().filename() == Source.parent_path().filename();
}

std::set<unsigned> linesOf(const std::vector<SourceLine> &Stack,
                           const fs::path &Source) {
  std::set<unsigned> Result;
  for (const SourceLine &Line : Stack)
    if (isOf(Line, Source))
      Result.insert(Line.Line);
  return Result;
}

} // namespace

bool isEvent(const std::string &Measure) {
  return Measure == Exceptions || Measure == SanitizerReports;
}

std::vector<Event> eventsOf(const Recording &Run, const fs::path &Source) {
  std::vector<Event> Result;
  for (const Site &S : Run.Sites) {
    Event Each;
    Each.Measure = Exceptions;
    Each.Lines[AnyStack] = linesOf(S.Stack, Source);
    uint64_t Rest = S.Exceptions;
    for (const ThrownCount &Thrown : S.Thrown) {
      Each.Type = Thrown.Type;
      Each.Words = Thrown.Message;
      Each.Count = Thrown.Count;
      Rest -= std::min(Rest, Thrown.Count);
      Result.push_back(Each);
    }
    // Of more kinds than are kept.
    if (Rest) {
      Each.Type = Each.Words = "";
      Each.Count = Rest;
      Result.push_back(Each);
    }
  }
  for (const SanitizerReport &Report : Run.SanitizerReports) {
    Event Each;
    Each.Measure = SanitizerReports;
    Each.Type = Report.Kind;
    Each.Words = Report.Access;
    for (const auto &[Name, Stack] :
         {std::pair("use", &Report.Use), std::pair("freed", &Report.Freed),
          std::pair("allocated", &Report.Allocated)}) {
      Each.Lines[Name] = linesOf(*Stack, Source);
      Each.Lines[AnyStack].insert(Each.Lines[Name].begin(),
                                  Each.Lines[Name].end());
    }
    Result.push_back(std::move(Each));
  }
  return Result;
}

} // namespace torchtidy::confirm::scenarios
