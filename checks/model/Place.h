// Where a value can lie: a root (local, parameter, this, global, heap object)
// and a path of fields, elements and LibTorch's own sub-objects.
#ifndef TORCHTIDY_MODEL_PLACE_H
#define TORCHTIDY_MODEL_PLACE_H

#include "clang/AST/Decl.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <string>
#include <vector>

namespace torchtidy::model {

using PlaceId = unsigned;
/// Sorted, without duplicates.
using PlaceSet = llvm::SmallVector<PlaceId, 2>;

enum class Root : uint8_t {
  /// A local variable or parameter of one frame. Key: VarDecl.
  Local,
  /// A variable with static storage. Key: VarDecl.
  Global,
  /// The object of a method whose callers lie elsewhere. Key: null.
  This,
  /// A temporary, a heap object, or what a call returns, of one frame. Key:
  /// Expr
  /// or FunctionDecl.
  Object,
  /// A variable that a lambda captured from a frame that is not known.
  Outer,
};

struct Step {
  enum Kind : uint8_t {
    Field,
    /// All elements of a container that are not told apart.
    Element,
    /// std::get<I>, a structured binding.
    Index,
    /// The tensors that a module or an optimizer trains.
    Parameters,
    /// Tensor::grad().
    Gradient,
  };
  Kind Of = Element;
  const clang::FieldDecl *Member = nullptr;
  unsigned Number = 0;

  bool operator==(const Step &Other) const {
    return Of == Other.Of && Member == Other.Member && Number == Other.Number;
  }
};

class PlaceTable {
public:
  /// Deeper paths are folded into their prefix: recursive data.
  static constexpr unsigned MaxDepth = 8;

  PlaceId root(Root Kind, unsigned Frame, const void *Key);
  PlaceId child(PlaceId Parent, Step S);
  PlaceId field(PlaceId Parent, const clang::FieldDecl *Field) {
    return child(Parent, {Step::Field, Field, 0});
  }
  PlaceId element(PlaceId Parent) { return child(Parent, {Step::Element}); }
  PlaceId parameters(PlaceId Parent) {
    return child(Parent, {Step::Parameters});
  }
  PlaceId gradient(PlaceId Parent) { return child(Parent, {Step::Gradient}); }
  PlaceId index(PlaceId Parent, unsigned Number) {
    return child(Parent, {Step::Index, nullptr, Number});
  }

  unsigned size() const { return Places.size(); }
  bool isRoot(PlaceId P) const { return Places[P].Parent == P; }
  PlaceId parent(PlaceId P) const { return Places[P].Parent; }
  PlaceId rootOf(PlaceId P) const;
  Root rootKind(PlaceId P) const { return Places[rootOf(P)].Kind; }
  unsigned frame(PlaceId P) const { return Places[rootOf(P)].Frame; }
  const void *key(PlaceId Root) const { return Places[Root].Key; }
  const Step &step(PlaceId P) const { return Places[P].S; }
  llvm::ArrayRef<PlaceId> children(PlaceId P) const {
    return Places[P].Children;
  }

  /// Outer is Inner, or one of the objects around it.
  bool isWithin(PlaceId Inner, PlaceId Outer) const;
  /// One is within the other: what is done to one may concern the other.
  bool overlap(PlaceId A, PlaceId B) const {
    return isWithin(A, B) || isWithin(B, A);
  }
  bool hasStep(PlaceId P, Step::Kind Kind) const;
  /// The module, optimizer or tensor whose parameters or gradient P is.
  PlaceId owner(PlaceId P) const;
  /// Stands for more than one object, so a store cannot replace what is there.
  bool isSummary(PlaceId P) const {
    return hasStep(P, Step::Element) || hasStep(P, Step::Parameters);
  }

  /// Null where it is not known.
  clang::QualType typeOf(PlaceId P) const;

  /// As a developer would write it ("trainer.optimizer"), for messages; empty
  /// where there is no name.
  std::string name(PlaceId P) const;

private:
  struct Place {
    PlaceId Parent;
    Root Kind;
    unsigned Frame;
    const void *Key;
    Step S;
    unsigned Depth;
    llvm::SmallVector<PlaceId, 2> Children;
  };
  std::vector<Place> Places;
  llvm::DenseMap<std::pair<const void *, unsigned>, PlaceId> Roots;
};

/// Adds P to a sorted set; true when it was not there.
bool insert(PlaceSet &Set, PlaceId P);
bool insert(PlaceSet &Set, llvm::ArrayRef<PlaceId> Places);

} // namespace torchtidy::model

#endif
