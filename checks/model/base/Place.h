// Where a value can lie: a root (local, parameter, this, global, heap object)
// and a path of fields, elements and LibTorch's own sub-objects.
#ifndef TORCHTIDY_BASE_PLACE_H
#define TORCHTIDY_BASE_PLACE_H

#include "model/base/Ids.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PointerUnion.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/iterator_range.h"
#include <string>
#include <vector>

namespace torchtidy::model {

enum class Root : uint8_t {
  /// A local variable or parameter of one frame. Key: VarDecl.
  Local,
  /// A variable with static storage. Key: VarDecl.
  Global,
  /// The object of a method whose callers lie elsewhere. Key: null.
  This,
  /// A temporary, a heap object, or what an activation returns. Key: Expr, or
  /// FunctionDecl.
  Object,
  /// A variable that a lambda captured from a frame that is not known. Key:
  /// VarDecl.
  Outer,
  /// What the `this` of a method's activation points to. Key: null.
  Receiver,
  /// What tasks, threads and modules keep, whoever made it. Key: null.
  Background,
};

/// What tells the roots of a kind in a frame apart: a variable; the expression
/// that makes a temporary or a heap object; the function whose result it is.
using RootKey = llvm::PointerUnion<const clang::VarDecl *, const clang::Expr *,
                                   const clang::FunctionDecl *>;

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
    /// The modules in a module that no member names: elements of a Sequential,
    /// what children() leads to.
    Part,
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
  /// The frame of what belongs to none: globals, This.
  static constexpr unsigned NoFrame = ~0u - 8;

  PlaceId root(Root Kind, unsigned Frame, RootKey Key);
  PlaceId child(PlaceId Parent, Step S);
  PlaceId field(PlaceId Parent, const clang::FieldDecl *Field) {
    return child(Parent, {Step::Field, Field, 0});
  }
  PlaceId element(PlaceId Parent) { return child(Parent, {Step::Element}); }
  PlaceId parameters(PlaceId Parent) {
    return child(Parent, {Step::Parameters});
  }
  PlaceId gradient(PlaceId Parent) { return child(Parent, {Step::Gradient}); }
  PlaceId part(PlaceId Module) { return child(Module, {Step::Part}); }
  PlaceId index(PlaceId Parent, unsigned Number) {
    return child(Parent, {Step::Index, nullptr, Number});
  }

  unsigned size() const { return Places.size(); }
  /// All places, in the order in which they were met. Valid while none is
  /// added.
  auto all() const {
    return llvm::map_range(llvm::seq(0u, size()),
                           [](unsigned Number) { return PlaceId(Number); });
  }
  bool isRoot(PlaceId P) const { return at(P).Parent == P; }
  PlaceId parent(PlaceId P) const { return at(P).Parent; }
  PlaceId rootOf(PlaceId P) const;
  Root rootKind(PlaceId P) const { return at(rootOf(P)).Kind; }
  unsigned frame(PlaceId P) const { return at(rootOf(P)).Frame; }
  RootKey key(PlaceId Root) const { return at(Root).Key; }
  /// The variable of a root that is one; null for others, and for parts.
  const clang::VarDecl *variable(PlaceId P) const {
    return llvm::dyn_cast_if_present<const clang::VarDecl *>(at(P).Key);
  }
  /// The variable or the member at P. Null for what has no name, and for a part
  /// of something that has.
  const clang::ValueDecl *declaration(PlaceId P) const {
    if (isRoot(P))
      return variable(P);
    return step(P).Of == Step::Field ? step(P).Member : nullptr;
  }
  /// How P lies in parent(P), for a part of something.
  const Step &step(PlaceId P) const {
    assert(!isRoot(P) && "a root lies in nothing");
    return at(P).S;
  }
  llvm::ArrayRef<PlaceId> children(PlaceId P) const { return at(P).Children; }

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
    return hasStep(P, Step::Element) || hasStep(P, Step::Parameters) ||
           hasStep(P, Step::Part);
  }
  /// The module around the outermost Step::Part of P, of which nothing tells
  /// that part from others; P where there is none.
  PlaceId toldApart(PlaceId P) const;

  /// The declared type of what lies there. Null where it is not known, and for
  /// Root::Object: see objectType.
  clang::QualType typeOf(PlaceId P) const;
  /// The type of a temporary or of a heap object, whether new, make_unique or
  /// make_shared made it; null for other places.
  clang::QualType objectType(PlaceId P) const;
  /// Whichever of the two is known.
  clang::QualType knownType(PlaceId P) const {
    const clang::QualType Declared = typeOf(P);
    return Declared.isNull() ? objectType(P) : Declared;
  }

  /// As a developer would write it ("trainer.optimizer"), for messages; empty
  /// where there is no name.
  std::string name(PlaceId P) const;

private:
  struct Place {
    PlaceId Parent;
    Root Kind;
    unsigned Frame;
    RootKey Key;
    Step S;
    unsigned Depth;
    llvm::SmallVector<PlaceId, 2> Children;
  };
  const Place &at(PlaceId P) const {
    assert(P.number() < Places.size() && "a place of another table");
    return Places[P.number()];
  }

  std::vector<Place> Places;
  llvm::DenseMap<std::pair<const void *, std::pair<unsigned, unsigned>>,
                 PlaceId>
      Roots;
};

} // namespace torchtidy::model

#endif
