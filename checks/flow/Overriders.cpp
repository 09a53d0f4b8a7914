#include "flow/Overriders.h"

using namespace clang;

namespace torchtidy::flow {

Overriders::Overriders(const UserFunctions &Functions) {
  for (const FunctionDecl *F : Functions.all()) {
    const auto *Method = dyn_cast<CXXMethodDecl>(F);
    if (!Method || isa<CXXDestructorDecl>(Method))
      continue;
    llvm::SmallVector<const CXXMethodDecl *, 4> Work(
        Method->overridden_methods());
    while (!Work.empty()) {
      const CXXMethodDecl *Overridden = Work.pop_back_val();
      auto &Known = ByMethod[Overridden->getCanonicalDecl()];
      if (llvm::is_contained(Known, Method))
        continue;
      Known.push_back(Method);
      Work.append(Overridden->overridden_methods().begin(),
                  Overridden->overridden_methods().end());
    }
  }
}

llvm::ArrayRef<const CXXMethodDecl *>
Overriders::of(const CXXMethodDecl *Method) const {
  auto It = ByMethod.find(Method->getCanonicalDecl());
  if (It == ByMethod.end())
    return {};
  return It->second;
}

} // namespace torchtidy::flow
