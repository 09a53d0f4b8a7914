// The parts of a profile, in the order in which they are found.
#ifndef TORCHTIDY_CONFIRM_PROFILE_PARTS_H
#define TORCHTIDY_CONFIRM_PROFILE_PARTS_H

#include "profile/Profile.h"

namespace torchtidy::confirm {

/// What one site held over the run.
struct SiteGrowth {
  size_t Site = 0;
  /// From the first quarter of the run to the last one; 0 where that does not
  /// go on until the end.
  int64_t Bytes = 0, Nodes = 0;
};

struct Growth {
  Trend Memory = Trend::Unknown;
  /// Only those that grow.
  std::vector<SiteGrowth> Sites;
  int64_t Bytes = 0, Nodes = 0;
  /// How many iterations (or seconds) lie between the two quarters.
  double Units = 0;
  bool CountsIterations = false;
  /// Resident bytes of the process beside those of tensors; 0: no growth. Nodes
  /// of graphs are among them.
  int64_t BytesBeside = 0;
};

std::vector<SiteProfile> classify(const Recording &Run);
Growth growthOf(const Recording &Run);
std::optional<PeakProfile> peakOf(const Recording &Run,
                                  const std::vector<SiteProfile> &Sites,
                                  MomentKind Kind);
/// The class of the innermost forward() of a stack, as its name has it; empty
/// where there is none.
std::string moduleOf(const std::vector<SourceLine> &Stack);
/// Who holds what, by the user's lines, the largest first; the smallest of very
/// many are left out.
std::vector<LineMemory> linesOf(const Recording &Run,
                                const std::vector<Held> &By,
                                int64_t (*BytesOf)(const Held &));
/// The line that holds most at the peak; there must be one.
Cause causeOfPeak(const Recording &Run, const PeakProfile &Peak, bool IsCuda);
/// Why it grows, or, where it does not, what the peak is for.
std::vector<Cause> causesOf(const Recording &Run, const Profile &Of,
                            const Growth &Grown);
/// Where an evaluation records a graph for nothing, and a good part of the peak
/// is because of it.
std::optional<Cause> recordedEvaluation(const Recording &Run,
                                        const PeakProfile &Peak);
std::optional<FailedAllocation> failureOf(const Recording &Run);
/// As a message of LibTorch's has it.
std::optional<int64_t> bytesAskedFor(const std::string &Message);
/// A statement whose graphs no backward ever runs.
struct RecordedStatement {
  /// It, and its callers.
  std::vector<SourceLine> Stack;
  uint64_t Nodes = 0;
};
/// Those that record most first.
std::vector<RecordedStatement> recordedForNothing(const Recording &Run);
/// The usual mistakes, whether they cost memory in this run or not.
void addChecked(const Recording &Run, Profile &To);
std::string headlineOf(const Recording &Run, const Profile &Of,
                       const Growth &Grown);
std::vector<EpochRow> epochsOf(const Recording &Run, const Profile &Of);
/// Fills what is told in tables: times, copies, iterations, modules.
void addTables(const Recording &Run, Profile &To);

inline int64_t bytesOf(const Held &Of) { return Of.CpuBytes + Of.CudaBytes; }
inline int64_t bytesOf(const Moment &Of) { return Of.CpuBytes + Of.CudaBytes; }
/// The line of the user's that called it; none for a site without.
SourceLine lineOf(const Site &Of);
/// "train.cpp:91", for people.
std::string textOf(const SourceLine &Line);
/// "5.6 MiB"
std::string memoryText(double Bytes);
bool isSameLine(const SourceLine &A, const SourceLine &B);
/// Whether what holds a kept graph is made there, by the look that the probe
/// took at all graphs.
bool isHolder(const Site &Of);
bool runsBackward(const Recording &Run);
/// How many frames two stacks have in common, from the outermost one.
size_t commonFrames(const std::vector<SourceLine> &A,
                    const std::vector<SourceLine> &B);

} // namespace torchtidy::confirm

#endif
