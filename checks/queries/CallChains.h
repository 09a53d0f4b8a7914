// The calls that lead to events of some kind.
#ifndef TORCHTIDY_QUERIES_CALLCHAINS_H
#define TORCHTIDY_QUERIES_CALLCHAINS_H

#include "model/execution/Execution.h"
#include <set>

namespace torchtidy::model {

/// A helper may lead to an event that is a mistake and to one that is not: the
/// mistake is in the caller then.
class CallChains {
public:
  /// The event, and all calls that lead to it.
  void add(const Event &E) {
    const clang::Stmt *Site = E.Site;
    for (const Frame *F = E.In; F && Site; Site = F->Site, F = F->Caller)
      Sites.insert({F->Function, Site});
  }

  bool lead(const Frame *In, const clang::Stmt *Site) const {
    return Sites.count({In->Function, Site}) != 0;
  }

private:
  std::set<std::pair<const clang::FunctionDecl *, const clang::Stmt *>> Sites;
};

/// To the call that leads there. False where there is none.
inline bool goToCaller(const Frame *&In, const clang::Stmt *&Site) {
  Site = In->Site;
  In = In->Caller;
  return In && Site;
}

} // namespace torchtidy::model

#endif
