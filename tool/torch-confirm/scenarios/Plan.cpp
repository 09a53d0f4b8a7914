#include "scenarios/Plan.h"
#include "support/Files.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace fs = std::filesystem;

namespace torchtidy::confirm::scenarios {

bool needsDevice(const Row &R, const fs::path &Scenarios) {
  static const std::set<std::string> OfDevices = {
      "copies-per-iteration", "copied-bytes-per-iteration",
      "pageable-copies-per-iteration", "synchronisations-per-iteration"};
  if (OfDevices.count(R.Evidence))
    return true;
  const fs::path Wrong = Scenarios / R.Check / "wrong.cpp";
  if (!fs::exists(Wrong))
    return false;
  const std::string Text = readFile(Wrong.string());
  return Text.find("#include \"pretend.h\"") != std::string::npos ||
         Text.find("#include \"runtime.h\"") != std::string::npos;
}

void sortByWeight(std::vector<Row> &Rows, bool HasDevice,
                  const fs::path &Scenarios) {
  std::map<std::string, bool> Needs;
  for (const Row &R : Rows)
    Needs[R.Check] = HasDevice && needsDevice(R, Scenarios);
  std::stable_sort(Rows.begin(), Rows.end(), [&](const Row &A, const Row &B) {
    return std::pair(!Needs[A.Check], A.Level) <
           std::pair(!Needs[B.Check], B.Level);
  });
}

Budget::Budget(std::optional<double> Seconds) {
  if (!Seconds)
    return;
  Given = *Seconds;
  End = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                           std::chrono::duration<double>(*Seconds));
}

double Budget::left() const {
  return std::chrono::duration<double>(*End - Clock::now()).count();
}

unsigned Budget::atMost(unsigned Most) const {
  if (!isLimited())
    return Most;
  return unsigned(std::clamp(std::ceil(left()), 1.0, double(Most)));
}

} // namespace torchtidy::confirm::scenarios
