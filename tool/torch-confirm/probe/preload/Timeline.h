// What is alive over time, how long operations take, and what each iteration
// of a training does: for `torch-confirm report`. Only where the environment
// asks for it (TORCH_CONFIRM_TIMELINE=1).
#ifndef TORCHTIDY_CONFIRM_PROBE_TIMELINE_H
#define TORCHTIDY_CONFIRM_PROBE_TIMELINE_H

#include "State.h"

namespace torchtidy::confirm::probe {

/// To be called when the trace's file is there.
void startTimeline();

inline bool hasTimeline() { return Trace->HasTimeline != 0; }

/// Since the probe started.
uint64_t timeNow();

/// An outermost operation began at that time: is somebody to look at what is
/// alive?
void lookAtOperation(uint64_t Now);
/// Memory was taken.
void lookAtPeaks();
/// Memory was asked for that there was not.
void lookAtFailure();

/// It ran at that site from then until now.
void keepEvent(uint32_t Site, uint64_t Begin);

/// A backward or a step, from here to the end of its block.
class TimedBackward {
public:
  explicit TimedBackward(uint32_t Site);
  ~TimedBackward();
  TimedBackward(const TimedBackward &) = delete;
  TimedBackward &operator=(const TimedBackward &) = delete;

private:
  uint32_t Site;
  uint64_t Begin;
};
class TimedStep {
public:
  explicit TimedStep(uint32_t Site);
  ~TimedStep();
  TimedStep(const TimedStep &) = delete;
  TimedStep &operator=(const TimedStep &) = delete;

private:
  uint32_t Site;
  uint64_t Begin;
};

/// Grad mode is off at a hit of that site.
void runsUnrecorded(uint32_t Site);

/// What the network's tensors are; see Bridge.h.
bool networkBegins();
void networkStarts();
void networkTensor(const char *Name, const char *Type, const char *Device,
                   const char *Shape, int64_t Bytes, const void *Memory,
                   uint32_t Flags, int64_t StateBytes);
void networkEnds();
void networkStepped(const void *Memory, bool HasGradient, int64_t StateBytes);

/// After a fork: the child's trace is another one.
void resetTimeline();

} // namespace torchtidy::confirm::probe

#endif
