// Findings on their way out, for programs that want more of them than a
// diagnostic carries: the loop, and the site that counts its iterations.
#ifndef TORCHTIDY_FINDINGLISTENER_H
#define TORCHTIDY_FINDINGLISTENER_H

#include "model/Finding.h"
#include "clang/Basic/SourceManager.h"

namespace torchtidy {

/// Hears of each finding that is reported on its thread, before NOLINT and the
/// filters are applied. The last that was made listens.
class FindingListener {
public:
  FindingListener();
  virtual ~FindingListener();
  FindingListener(const FindingListener &) = delete;
  FindingListener &operator=(const FindingListener &) = delete;

  virtual void found(const model::Finding &Finding,
                     const clang::SourceManager &SM) = 0;

  /// Null where nobody listens.
  static FindingListener *current();

private:
  FindingListener *Before;
};

} // namespace torchtidy

#endif
