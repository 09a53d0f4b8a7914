// How scalar type and layout come about.
#ifndef TORCHTIDY_DOMAINS_ATTRIBUTES_TRANSFER_H
#define TORCHTIDY_DOMAINS_ATTRIBUTES_TRANSFER_H

#include "model/domains/Transfers.h"

namespace clang {
class ValueDecl;
}

namespace torchtidy::model {
namespace attributes {

void operation(Machine &M, const OperationCall &Call, Value &Result);
void call(Machine &M, const LibraryCall &Call, Value &Result);
void write(Machine &M, const Value &Written, bool IsWhole, Value &Target);
void lost(Value &Tensor);

} // namespace attributes

/// Autocast, whose possibilities these are, is on for certain for tensors that
/// are there.
bool isCast(uint8_t Autocast, const Placement &Where);

/// What torch::kFloat and its like say, in TensorOptions or as
/// an argument.
void describeConstant(const clang::ValueDecl *Constant, Attributes &Result);

/// The scalar type of TensorOptions that a call or a construction makes; Joined
/// is what its operands say. Empty: nothing is known of them.
Known<llvm::StringRef> scalarOfOptions(Machine &M, const clang::Expr *E,
                                       const Value &Joined);
/// What the options of a from_blob() say of its result, and its strides. True
/// where they say a scalar type, or may.
bool describeBlob(Machine &M, const clang::CallExpr *Call, Value &Result);

} // namespace torchtidy::model

#endif
