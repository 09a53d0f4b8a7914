// What is known of a value at a point of the program, and of the whole state.
#ifndef TORCHTIDY_MODEL_VALUE_H
#define TORCHTIDY_MODEL_VALUE_H

#include "model/Place.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <optional>

namespace torchtidy::model {

/// A set of possibilities: what the histories of a tensor can be on the paths
/// that lead here. Empty: no tensor.
namespace history {
enum : uint8_t {
  /// No graph, needs no gradient.
  None = 1,
  /// Needs a gradient, made by no operation: a parameter.
  Leaf = 2,
  /// The result of operations that autograd recorded.
  Graph = 4,
  /// From outside what was analysed.
  Unknown = 8,
};
} // namespace history

/// Possibilities of a mode: grad mode (On, Off) and module mode (On: train,
/// Off: eval). Inherited: whatever the caller, who lies elsewhere, has set.
/// Inference: in InferenceMode, where switching grad mode on records nothing
/// either.
namespace mode {
enum : uint8_t { On = 1, Off = 2, Inherited = 4, Inference = 8 };
} // namespace mode

/// Possibilities of a tensor or a module: that a module has registered it, that
/// none has.
namespace registered {
enum : uint8_t { Yes = 1, No = 2 };
} // namespace registered

/// A flat lattice: nothing yet, one known constant, or more than one.
template <class T> class Known {
public:
  Known() = default;
  explicit Known(T Constant) : Constant(Constant) {}
  static Known unknown() {
    Known Result;
    Result.Many = true;
    return Result;
  }
  bool isUnknown() const { return Many; }
  bool isEmpty() const { return !Many && !Constant; }
  std::optional<T> get() const { return Many ? std::nullopt : Constant; }
  bool join(const Known &Other) {
    if (Many || Other.isEmpty())
      return false;
    if (isEmpty() || Other.Many) {
      *this = Other;
      return true;
    }
    if (*Constant == *Other.Constant)
      return false;
    *this = unknown();
    return true;
  }
  bool operator==(const Known &Other) const {
    return Many == Other.Many && Constant == Other.Constant;
  }

private:
  std::optional<T> Constant;
  bool Many = false;
};

enum class Device : uint8_t { CPU, CUDA, Other };
enum class DType : uint8_t { Floating, Integral, Bool, Complex };
enum class Layout : uint8_t { Contiguous, Strided };
enum class Storage : uint8_t {
  /// Its own.
  Owns,
  /// Another tensor's: see Value::ViewOf.
  View,
  /// Memory that LibTorch does not own: from_blob.
  Blob,
};

using OriginId = unsigned;
/// Sorted, without duplicates.
using OriginSet = llvm::SmallVector<OriginId, 2>;

struct Value {
  uint8_t History = 0;
  /// Of the tensor whose storage it shares: the histories that it can have.
  /// None: of no other. Unknown: perhaps of no other.
  uint8_t BaseHistory = 0;
  uint8_t Registered = 0;
  /// For a module: train or eval. For a guard: the grad mode it will restore.
  uint8_t Mode = 0;
  /// More origins than are kept: assume any.
  bool ManyOrigins = false;
  Known<Device> OnDevice;
  Known<DType> OfType;
  /// LibTorch's name of the scalar type: "Float".
  Known<llvm::StringRef> Scalar;
  Known<Layout> InLayout;
  Known<Storage> InStorage;
  /// The forward passes, operations and stores that the value was computed
  /// from. Sorted.
  llvm::SmallVector<OriginId, 4> Origins;
  /// For a pointer, reference or handle: the objects it designates. For a
  /// tensor: the parameter it is a handle to.
  PlaceSet Refs;
  /// The tensors whose storage it may share.
  PlaceSet ViewOf;
  /// The allocations (Origin::Allocation) whose memory it may use, and those
  /// that the graph behind it may have saved for backward().
  OriginSet Memory, Saved;
  /// The variable of type torch::Device that said where it is.
  Known<PlaceId> DeviceFrom;
  /// The forward passes whose results decided what it is without a gradient: an
  /// index of max() or argmax(), a sample, the number of an item().
  OriginSet DecidedBy;
  /// The memory of others (Origin::Loan) that it uses, and such that is gone.
  OriginSet Loans, Dangling;

  static constexpr unsigned MaxOrigins = 64;

  bool join(const Value &Other);
  bool addOrigin(OriginId Origin);
  bool hasOrigin(OriginId Origin) const;
  bool uses(OriginId Allocation) const {
    return llvm::is_contained(Memory, Allocation);
  }
  bool mayHaveSaved(OriginId Allocation) const {
    return llvm::is_contained(Saved, Allocation);
  }
  bool mayHaveGraph() const { return History & history::Graph; }
  bool needsGrad() const { return History & (history::Graph | history::Leaf); }
  bool mayHaveHistory() const {
    return History & (history::Graph | history::Unknown);
  }
  /// For certain a view of a leaf that needs a gradient.
  bool isViewOfLeaf() const {
    return History == history::Graph && BaseHistory == history::Leaf;
  }
  /// There is no graph behind it: it was computed from nothing.
  void forgetGraph() {
    Origins.clear();
    ManyOrigins = false;
    Saved.clear();
  }
  void detach() {
    History = history::None;
    forgetGraph();
  }
  bool operator==(const Value &Other) const;

  static Value withHistory(uint8_t History) {
    Value V;
    V.History = History;
    return V;
  }
  static Value handle(PlaceSet Refs) {
    Value V;
    V.Refs = std::move(Refs);
    return V;
  }
};

/// The state of the program at a point.
struct State {
  std::map<PlaceId, Value> Places;
  uint8_t GradMode = 0;

  const Value *find(PlaceId P) const {
    auto It = Places.find(P);
    return It == Places.end() ? nullptr : &It->second;
  }
};

} // namespace torchtidy::model

#endif
