// The measures of a scenario: numbers of a loop of the program, of the process,
// and what the program prints itself. All but times come from a recording.
#ifndef TORCHTIDY_CONFIRM_SCENARIOS_MEASURES_H
#define TORCHTIDY_CONFIRM_SCENARIOS_MEASURES_H

#include "recording/Recording.h"
#include "scenarios/Manifest.h"
#include <map>
#include <string>
#include <vector>

namespace torchtidy::confirm::scenarios {

struct Number {
  Number(double Value) : Value(Value), Least(Value), Most(Value) {}
  Number(double Value, double Least, double Most)
      : Value(Value), Least(Least), Most(Most) {}

  double Value;
  /// Of repeated runs; a deterministic number is the same in all.
  double Least, Most;
};
using Numbers = std::map<Quantity, Number>;

/// What a loop is measured by. Rates are those of the second half of its
/// iterations.
///
///   nodes-per-iteration     growth of the graph nodes that are alive
///   bytes-per-iteration     growth of the tensor bytes that are alive
///   nodes-kept, bytes-kept  the same, from the first iteration to the last
///   peak-bytes              the most tensor bytes above those before the loop
///   new-nodes               graph nodes that one iteration makes
///   allocations             tensors that one iteration allocates
///   allocated-bytes         their bytes
///   copies                  to another device or element type, in one
///   iteration copied-bytes            the bytes that they read
///   synchronisations        in one iteration
///   milliseconds            time of one iteration, without the probe
bool isLoopMeasure(const std::string &Name);
bool isTime(const std::string &Name);

/// Of an evidence that any result of the program can be.
extern const char *const AnyMeasure;
/// Whether it is a result that the program reports, and no measure of a loop
/// or the process.
bool isResult(const std::string &Name);
/// Those that show what the registry names as evidence; empty where it is not
/// known.
std::vector<std::string> measuresOf(const std::string &Evidence);

/// What a recording says. Quantities that were not measured are missing.
Numbers measure(const Recording &R, bool OnCuda);

/// Whether small differences of rounding are all that parts the numbers.
bool isNear(double A, double B);

} // namespace torchtidy::confirm::scenarios

#endif
