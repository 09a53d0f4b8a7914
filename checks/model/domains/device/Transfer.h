// How tensors and modules come to a device.
#ifndef TORCHTIDY_DOMAINS_DEVICE_TRANSFER_H
#define TORCHTIDY_DOMAINS_DEVICE_TRANSFER_H

#include "model/domains/Transfers.h"
#include "torch/Options.h"

namespace clang {
class ValueDecl;
}

namespace torchtidy::model {

class PlaceTable;

namespace device {

void initial(Machine &M, PlaceId P, Value &Result);
void part(Machine &M, PlaceId P, Value &Part);
void loaded(Machine &M, PlaceId P, Value &Loaded);
void operation(Machine &M, const OperationCall &Call, Value &Result);
void call(Machine &M, const LibraryCall &Call, Value &Result);
void lost(Value &Tensor);
void given(Machine &M, PlaceId Object);

Device deviceOf(torch::DeviceKind Kind);
/// What torch::kCUDA and its like say.
void describeConstant(const clang::ValueDecl *Constant, Placement &Result);
/// What x.device() or x.options() say: where a tensor is.
void describeDeviceOf(const Value &Tensor, Value &Result);
/// What a call or a construction E makes that says where: a torch::Device of
/// which nothing is known is some device all the same.
void complete(const clang::Expr *E, Value &Made);
/// Whether the options that Call returns ask for pinned memory.
void describePinning(const clang::CallExpr *Call, Value &Options);

// Whether devices have an index: Index.cpp.

/// What a torch::Device is that is made of Arguments; Result has what they say.
void describeMade(llvm::ArrayRef<const clang::Expr *> Arguments, Value &Result);
/// The index of a device, or of the options, that a call of LibTorch returns;
/// Joined is what its operands say.
Known<DeviceIndex> indexOfReturned(const clang::CallExpr *Call,
                                   const Value &Joined);
/// One of which nothing is known may have an index.
void loadIndex(clang::QualType Type, Value &Loaded);
/// Whether two torch::Device, or of two DeviceType, are equal, where that is
/// certain. A tensor's device has an index, and one that is made of a type
/// alone has none: these are left open.
std::optional<bool> areEqual(const Placement &Left, const Placement &Right,
                             bool AreTypes);
/// Whether what is at Where is on a device of this kind, where that is certain.
std::optional<bool> isOn(const Placement &Where, torch::DeviceKind Kind);
/// Code that is not seen may write the object at P: a device, or what has one.
void loseIndices(Machine &M, PlaceId P);
/// A member that other methods may have set before.
void forgetIndex(clang::QualType Type, Value &Member);

/// Where tensors are that are computed from some that are at Operands: of
/// several, those on the CPU are single numbers or indices.
class Together {
public:
  void add(const Placement &Operand);
  /// The operation throws where they are not together: one that has dimensions
  /// then says where the others are that nobody knows of.
  void expectOneDevice() { AreTogether = true; }
  Placement result() const;

private:
  /// Elsewhere: of those that are not on the CPU for certain, where the program
  /// says something of it.
  Placement OnCpu, Elsewhere, Anywhere;
  bool HasDimensions = false, HasDimensionsElsewhere = false;
  bool AreTogether = false;
};

// Modules: Modules.cpp.

/// Where the parameters of a module are. Says nothing where that is not known.
Placement placementOf(Machine &M, PlaceId Module);
Placement placementOf(Machine &M, const PlaceSet &Modules);
/// Modules, with what is registered in them, go to To.
void move(Machine &M, const PlaceSet &Modules, const Placement &To);
/// They may be anywhere from now on.
void lose(Machine &M, const PlaceSet &Modules);
/// The tensor at P gets another, or other content, that may lie elsewhere:
/// where it is a layer's of LibTorch's, so may the layer (conv->weight =
/// kernel).
void loseLayerOf(Machine &M, PlaceId P);
/// A module has been made here. Its constructor was seen, or is LibTorch's.
void markMade(Machine &M, const PlaceSet &Modules, bool IsSeen);
/// A method begins that others may have been called before: what they moved is
/// not known.
void enterMethod(const PlaceTable &Places, PlaceId P, Value &Member);

// Data loaders: Loaders.cpp.

/// The batches that lie at Batches come from the loader whose begin() this is.
void placeBatches(Machine &M, const clang::FunctionDecl *Begin,
                  const PlaceSet &Batches);

} // namespace device
} // namespace torchtidy::model

#endif
