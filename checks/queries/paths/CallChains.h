// The calls that lead to events of some kind.
#ifndef TORCHTIDY_QUERIES_PATHS_CALLCHAINS_H
#define TORCHTIDY_QUERIES_PATHS_CALLCHAINS_H

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

  /// To the nearest call on the way there that leads to none of these events
  /// and is in an activation for which Holds is true: In and Site, or what
  /// calls them. False where there is none.
  bool goToOwnCall(
      const Frame *&In, const clang::Stmt *&Site,
      llvm::function_ref<bool(const Frame *)> Holds = [](const Frame *) {
        return true;
      }) const;

private:
  std::set<std::pair<const clang::FunctionDecl *, const clang::Stmt *>> Sites;
};

/// To the call that leads there. False where there is none.
inline bool goToCaller(const Frame *&In, const clang::Stmt *&Site) {
  Site = In->Site;
  In = In->Caller;
  return In && Site;
}

inline bool
CallChains::goToOwnCall(const Frame *&In, const clang::Stmt *&Site,
                        llvm::function_ref<bool(const Frame *)> Holds) const {
  while (lead(In, Site) || !Holds(In))
    if (!goToCaller(In, Site))
      return false;
  return true;
}

} // namespace torchtidy::model

#endif
