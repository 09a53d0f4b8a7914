// A run as a snapshot of PyTorch's memory, which its viewer shows
// (pytorch.org/memory_viz, torch/cuda/_memory_viz.py).
#ifndef TORCHTIDY_CONFIRM_PROFILE_SNAPSHOT_H
#define TORCHTIDY_CONFIRM_PROFILE_SNAPSHOT_H

#include "profile/Profile.h"
#include <iosfwd>

namespace torchtidy::confirm {

/// A pickle as torch.cuda.memory._snapshot() gives it. Devices, in this order,
/// those of CUDA only where CUDA was used:
///   the CUDA device over the run, the CPU over the run: traces, which end with
///   the program and with nothing left;
///   the CUDA device at its peak, the CPU at its peak: all that was there then,
///   as the segments too, which is what 'memory', 'segments' and 'stats' of
///   _memory_viz.py show.
/// What is known is how much each site held at moments. Blocks are made of
/// that: one for what a site had at once, and one for each growth from a moment
/// to the next. Addresses are made up.
void writeSnapshot(std::ostream &Out, const Recording &Run,
                   const Profile &What);

} // namespace torchtidy::confirm

#endif
