#include "model/domains/attributes/Transfer.h"
#include "ast/Expressions.h"
#include "ast/Names.h"
#include "model/machine/Machine.h"
#include "torch/Arithmetic.h"
#include "torch/Autocast.h"
#include "torch/Elements.h"
#include "torch/Factories.h"
#include "torch/Options.h"
#include "torch/Scalars.h"
#include "torch/Shapes.h"
#include "torch/Types.h"

using namespace clang;
using torchtidy::torch::Operation;
using torchtidy::torch::Tri;
namespace op = torchtidy::torch::operation;

namespace torchtidy::model {

/// zeros({2}, torch::requires_grad()): options that say nothing of it.
static bool saysNothing(const Expr *Operand) {
  const auto *Call = dyn_cast<CallExpr>(ast::stripCopies(Operand));
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  return Callee && !isa<CXXMethodDecl>(Callee) &&
         torch::saysRequiresGrad(Callee) && torch::isLibTorch(Callee);
}

template <class T> static Known<T> orUnknown(const Known<T> &Said) {
  return Said.isEmpty() ? Known<T>::unknown() : Said;
}

namespace {

/// What the tensors among the operands are (Same), and what the options and
/// constants among them ask for (Said).
struct OperandAttributes {
  Attributes Same, Said;
  Devices SaidDevice;
  bool IsSaid = false;

  OperandAttributes(const OperationCall &Call, bool Moves) {
    for (auto [Operand, V] : llvm::zip_equal(Call.Operands, Call.Values)) {
      const bool IsTensor = torch::isTensor(Operand->getType());
      if (IsTensor && !(Moves && Operand != Call.Operands.front())) {
        // What is not known of one operand is not known of the result.
        if (Operand == Call.Operands.front() ||
            !torch::takesTypeOfFirst(*Call.Op)) {
          Same.Scalar.join(orUnknown(V.Scalar));
          Same.OfType.join(orUnknown(V.OfType));
        }
        Same.InLayout.join(orUnknown(V.InLayout));
        continue;
      }
      SaidDevice.join(V.OnDevice);
      // Options of which nothing is known are for some type, not for none.
      Said.Scalar.join(torch::isTensorOptions(Operand->getType())
                           ? orUnknown(V.Scalar)
                           : V.Scalar);
      Said.OfType.join(V.OfType);
      IsSaid |= IsTensor ||
                (torch::saysWhere(Operand->getType()) && !saysNothing(Operand));
    }
    if (Said.Scalar.get() == StringRef(DefaultScalar))
      Said.Scalar = Known<StringRef>();
  }
};

} // namespace

/// Kind of scalar. What says a device only says nothing of it.
static Known<DType> kindOf(const OperationCall &Call,
                           const OperandAttributes &Of, bool Moves) {
  const Operation &Op = *Call.Op;
  const bool IsFactory = Op.has(op::Factory);
  if (Moves && Of.IsSaid) {
    if (Of.Said.OfType.get())
      return Of.Said.OfType;
    return Of.SaidDevice.get() && !IsFactory ? Of.Same.OfType
                                             : Known<DType>::unknown();
  }
  const bool Keeps = torch::transferOf(Op) == torch::Transfer::Cpu ||
                     torch::transferOf(Op) == torch::Transfer::Cuda ||
                     (!IsFactory && Op.Differentiable == Tri::Yes);
  return Keeps ? Of.Same.OfType : Known<DType>::unknown();
}

static Known<StringRef> scalarOf(const OperationCall &Call,
                                 const OperandAttributes &Of, bool Moves) {
  const Operation &Op = *Call.Op;
  if (!Of.Said.Scalar.isEmpty() && Moves)
    return Of.Said.Scalar;
  if (Op.has(op::Factory)) {
    const auto Default = torch::defaultScalar(Op, Call.Operands);
    return Default ? Known<StringRef>(*Default) : Known<StringRef>::unknown();
  }
  if (torch::returnsBool(Op))
    return Known<StringRef>("Bool");
  if (torch::isBitwise(Op))
    return Of.Same.Scalar;
  // A device comes as TensorOptions.
  auto SaysDeviceOnly = [](const Expr *Operand) {
    return torch::saysDeviceOnly(ast::stripCopies(Operand)->getType());
  };
  if (Op.has(op::ChangesDtype) && !Call.Operands.empty() &&
      !llvm::all_of(llvm::drop_begin(Call.Operands), SaysDeviceOnly))
    return Known<StringRef>::unknown();
  // sum(1, false, torch::kDouble)
  if (torch::reduces(Op) && !Of.Said.Scalar.isEmpty())
    return Of.Said.Scalar;
  if (Op.Differentiable == Tri::Yes || Op.has(op::ChangesDevice) ||
      Op.has(op::LikeFactory))
    return Of.Same.Scalar;
  return Known<StringRef>::unknown();
}

/// t(), permute(). Dimensions of size one may be anywhere.
static Known<Layout> layoutOfReordered(const Value &Operand) {
  const Sizes Last = Operand.InShape.last(), First = Operand.InShape.first();
  for (unsigned I = 0; I < Sizes::Most; ++I)
    if (Last[I] == 1 || First[I] == 1)
      return Known<Layout>::unknown();
  if (Operand.InShape.rank().value_or(2) < 2)
    return Operand.InLayout;
  if (!Operand.InLayout.get())
    return Known<Layout>(Layout::Reordered);
  return Operand.InLayout.get() == Layout::Contiguous
             ? Known<Layout>(Layout::Strided)
             : Known<Layout>::unknown();
}

/// Operations keep the strides of a dense operand. So do views that only count
/// its elements in another way.
static Known<Layout> layoutOf(const OperationCall &Call,
                              const OperandAttributes &Of) {
  const Operation &Op = *Call.Op;
  // resize_() lays out anew; a size that stays the same is nobody's reason for
  // it.
  if (Op.Writes == op::Self && Op.has(op::Resizes))
    return Known<Layout>(Layout::Contiguous);
  if (Op.Writes == op::Self)
    return Op.has(op::InplaceView) || torch::isSet(Op)
               ? Known<Layout>::unknown()
               : Call.self().InLayout;
  if (Op.has(op::Factory) && torch::saysStrides(Call.Call))
    return Known<Layout>::unknown();
  if (torch::reordersDimensions(Op))
    return layoutOfReordered(Call.self());
  if (torch::laysOutAnew(Op))
    return Known<Layout>(Layout::Contiguous);
  // Of what is not in order only the same order is known for certain.
  const std::optional<Layout> Same = Of.Same.InLayout.get();
  if (Same && *Same != Layout::Contiguous && !torch::makesContiguous(Op) &&
      !Op.has(op::Factory))
    return torch::isPointwise(Op) || torch::isTransfer(Op) ||
                   torch::isDetach(Op)
               ? Of.Same.InLayout
               : Known<Layout>::unknown();
  if (Op.View != Tri::No && torch::keepsOrder(Op))
    return Of.Same.InLayout;
  if (Same && torch::choosesLeading(Call.Call))
    return Of.Same.InLayout;
  if (torch::makesContiguous(Op) || torch::repeats(Op) || Op.has(op::Factory))
    return Known<Layout>(Layout::Contiguous);
  return Op.View != Tri::No ? Known<Layout>::unknown() : Of.Same.InLayout;
}

bool isCast(uint8_t Autocast, const Placement &Where) {
  if (!Autocast || (Autocast & (casting::Off | casting::Inherited)))
    return false;
  const std::optional<Device> On = Where.OnDevice.get();
  return !(On && ((Autocast == casting::OnCuda && *On != Device::CUDA) ||
                  (Autocast == casting::OnCpu && *On != Device::CPU)));
}

/// Under autocast products are computed in half precision, and what is not
/// known to keep the type of its operands may be computed in float.
static Known<StringRef> castScalar(Machine &M, const OperationCall &Call,
                                   const Known<StringRef> &Otherwise) {
  if (!casting::mayBeOn(M.state().Autocast) || torch::returnsBool(*Call.Op) ||
      torch::isBitwise(*Call.Op))
    return Otherwise;
  if (torch::computesReduced(*Call.Op)) {
    Placement Where;
    for (const Value &V : Call.Values)
      Where.joinDevice(V);
    if (isCast(M.state().Autocast, Where))
      return Known<StringRef>(ReducedScalar);
  } else if (torch::keepsTypeUnderAutocast(*Call.Op)) {
    return Otherwise;
  }
  return Known<StringRef>::unknown();
}

void attributes::operation(Machine &M, const OperationCall &Call,
                           Value &Result) {
  const Operation &Op = *Call.Op;
  const bool Moves =
      Call.isFactory() || Op.has(op::ChangesDevice) || Op.has(op::ChangesDtype);
  const OperandAttributes Of(Call, Moves);
  Result.OfType = kindOf(Call, Of, Moves);
  Result.Scalar = castScalar(M, Call, scalarOf(Call, Of, Moves));
  Result.InLayout = layoutOf(Call, Of);
}

/// t_() and resize_() write a tensor of another layout.
void attributes::write(Machine & /*M*/, const Value &Written, bool IsWhole,
                       Value &Target) {
  if (IsWhole && (Written.InLayout.isUnknown() ||
                  Written.InLayout.get() == Layout::Contiguous))
    Target.InLayout = Written.InLayout;
}

void describeConstant(const ValueDecl *Constant, Attributes &Result) {
  const std::optional<torch::ScalarKind> Kind = torch::scalarKindOf(Constant);
  if (!Kind)
    return;
  switch (*Kind) {
  case torch::ScalarKind::Integral:
    Result.OfType = Known<DType>(DType::Integral);
    break;
  case torch::ScalarKind::Bool:
    Result.OfType = Known<DType>(DType::Bool);
    break;
  case torch::ScalarKind::Floating:
    Result.OfType = Known<DType>(DType::Floating);
    break;
  case torch::ScalarKind::Complex:
    Result.OfType = Known<DType>(DType::Complex);
    break;
  }
  Result.Scalar = Known<StringRef>(torch::scalarName(ast::nameOf(Constant)));
}

void attributes::call(Machine &M, const LibraryCall &Call, Value &Result) {
  for (const Value &V : Call.Values) {
    // A module may compute in a type of its own.
    if (Call.IsForward)
      continue;
    Result.OfType.join(V.OfType);
    Result.Scalar.join(V.Scalar);
  }
  if (!Call.IsForward && casting::mayBeOn(M.state().Autocast))
    Result.Scalar = Known<StringRef>::unknown();
}

void attributes::lost(Value &Tensor) {
  Tensor.OfType = Known<DType>::unknown();
  Tensor.Scalar = Known<llvm::StringRef>::unknown();
  Tensor.InLayout = Known<Layout>::unknown();
}

} // namespace torchtidy::model
