// Who holds the blocks of a snapshot.
#ifndef TORCHTIDY_CONFIRM_PROFILE_BLOCKOWNERS_H
#define TORCHTIDY_CONFIRM_PROFILE_BLOCKOWNERS_H

#include "profile/Profile.h"

namespace torchtidy::confirm {

/// A site each, then all the smaller ones together, then what no site is known
/// for.
class BlockOwners {
public:
  /// Both have to outlive it.
  BlockOwners(const Recording &Run, const Profile &What);

  size_t count() const { return Sites.size() + 2; }

  /// By owner, of one kind of device.
  std::vector<int64_t> heldAt(const Moment &When, int64_t Held::*Part,
                              int64_t Moment::*All) const;
  /// The viewer's legend; it fails where there is no "unknown".
  const char *category(size_t Owner) const;
  /// What is in place of the innermost frame.
  std::string title(size_t Owner) const;
  const std::vector<SourceLine> &stack(size_t Owner) const;

private:
  const Recording &Run;
  const Profile &What;
  std::vector<size_t> Sites, OwnerOf;
  size_t Others = 0;
  int64_t MostOfOthers = 0;
};

} // namespace torchtidy::confirm

#endif
