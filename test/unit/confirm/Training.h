// A training with a timeline, made by hand.
#ifndef TORCHTIDY_TEST_CONFIRM_TRAINING_H
#define TORCHTIDY_TEST_CONFIRM_TRAINING_H

#include "recording/Recording.h"
#include <functional>
#include <utility>

namespace torchtidy::confirm {

constexpr int64_t KiB = 1024, MiB = 1024 * KiB;

inline SourceLine line(const char *File, unsigned Line,
                       const char *Function = "f") {
  return {File, Line, Function};
}

/// A training of 32 moments after steps, 10 iterations apart.
class Training {
public:
  Recording Run;

  Training() {
    for (uint64_t I = 0; I < 32; ++I) {
      Moment M;
      M.Kind = MomentKind::AfterStep;
      M.Seconds = double(I);
      M.Iterations = 10 * I;
      M.CpuBytes = 0;
      M.ResidentBytes = 100 * MiB;
      Run.Moments.push_back(M);
    }
    Run.Seconds = 32;
    Run.ExitCode = 0;
  }

  /// \param Bytes what it holds at each moment.
  size_t add(const char *Operation, std::vector<SourceLine> Stack,
             const std::function<int64_t(size_t)> &Bytes,
             const std::function<int64_t(size_t)> &Nodes = nullptr) {
    Site S;
    S.Operation = Operation;
    S.Stack = std::move(Stack);
    S.Hits = 320;
    const size_t At = Run.Sites.size();
    for (size_t I = 0; I < Run.Moments.size(); ++I) {
      Held H;
      H.Site = At;
      H.CpuBytes = Bytes(I);
      H.Nodes = Nodes ? Nodes(I) : 0;
      if (H.Nodes)
        S.NodesMade = 1000;
      Run.Moments[I].CpuBytes += H.CpuBytes;
      Run.Moments[I].Nodes += H.Nodes;
      Run.Moments[I].By.push_back(H);
    }
    Run.Sites.push_back(std::move(S));
    return At;
  }
};

inline int64_t steadily(size_t I) { return int64_t(I) * 10 * KiB; }
inline int64_t level(size_t) { return 5 * MiB; }

} // namespace torchtidy::confirm

#endif
