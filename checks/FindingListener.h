// Findings as they are emitted, for programs that want more of them than a
// diagnostic carries: the loop, and the site that counts its iterations.
#ifndef TORCHTIDY_FINDINGLISTENER_H
#define TORCHTIDY_FINDINGLISTENER_H

#include "model/execution/Shortfall.h"
#include "report/Finding.h"
#include "clang/Basic/SourceManager.h"

namespace torchtidy {

/// Hears of each finding that is reported on its thread, before NOLINT and the
/// filters are applied, and of what was not looked at. The last that was made
/// listens.
class FindingListener {
public:
  FindingListener();
  virtual ~FindingListener();
  FindingListener(const FindingListener &) = delete;
  FindingListener &operator=(const FindingListener &) = delete;

  virtual void found(const model::Finding &Finding,
                     const clang::SourceManager &SM) = 0;

  /// Not all of the function was looked at, for its size.
  virtual void leftOut(const model::Shortfall &Of) {}

  /// Null if there is no listener.
  static FindingListener *current();

private:
  FindingListener *Before;
};

} // namespace torchtidy

#endif
