// On which scale the numbers of a tensor are, as losses see them.
#ifndef TORCHTIDY_DOMAINS_SCALE_LATTICE_H
#define TORCHTIDY_DOMAINS_SCALE_LATTICE_H

#include "model/base/Known.h"
#include "torch/Scores.h"

namespace clang {
class CallExpr;
}

namespace torchtidy::model {

struct Scaling {
  Known<torch::Scale> OnScale;
  /// What has put them on it: the call of softmax(), or of a layer.
  Known<const clang::CallExpr *> ScaledBy;

  bool join(const Scaling &Other) {
    const bool Changed = OnScale.join(Other.OnScale);
    return ScaledBy.join(Other.ScaledBy) || Changed;
  }
  bool operator==(const Scaling &Other) const {
    return OnScale == Other.OnScale && ScaledBy == Other.ScaledBy;
  }
};

} // namespace torchtidy::model

#endif
