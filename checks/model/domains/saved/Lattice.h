// What graphs have saved for backward(): which of it a tensor is, which of it
// the graph behind a value needs, and what was overwritten since.
#ifndef TORCHTIDY_DOMAINS_SAVED_LATTICE_H
#define TORCHTIDY_DOMAINS_SAVED_LATTICE_H

#include "model/base/Ids.h"
#include "torch/Saving.h"

namespace clang {
class Expr;
}

namespace torchtidy::model {

struct Frame;

/// An operation, or a layer, that autograd records keeps a tensor for its
/// backward().
struct Save {
  const Frame *In;
  const clang::Expr *Site;
  torch::Saved What;
  /// The operand as it is written; null where it is the result, or the weights
  /// of a layer.
  const clang::Expr *Operand;
  /// Where it lies; of weights the layer. Nothing (IsPlaced is false) where it
  /// is a result.
  PlaceId Of;
  bool IsPlaced;
  /// Of weights: a gradient is computed with what they hold. Others are kept,
  /// and only their version is looked at.
  bool IsUsed = true;
};

/// What was saved is changed, and backward() needs what it was.
struct Overwrite {
  SaveId Of;
  const Frame *In;
  /// The in-place operation, or step().
  const clang::Expr *Site;
};

struct SavedTensors {
  /// Who has saved the tensor as it is now.
  SaveSet SavedBy;
  /// What the graph behind it needs, and what of it was overwritten: of more
  /// than MaxSaves those that were named first, in whatever order they come.
  SaveSet Needs;
  OverwriteSet Spoiled;

  /// A network of a hundred residual blocks saves as much.
  static constexpr unsigned MaxSaves = 512;

  bool needs(SaveId Id) const { return llvm::is_contained(Needs, Id); }
  /// The graph behind it goes on to what is behind From.
  bool takeNeeds(const SavedTensors &From);
  bool addNeed(SaveId Id);
  /// The graph may need more than is kept.
  bool mayNeedMore() const { return Needs.size() >= MaxSaves; }
  void forgetNeeds() {
    Needs.clear();
    Spoiled.clear();
  }

  bool join(const SavedTensors &Other);
  bool operator==(const SavedTensors &Other) const {
    return SavedBy == Other.SavedBy && Needs == Other.Needs &&
           Spoiled == Other.Spoiled;
  }
};

} // namespace torchtidy::model

#endif
