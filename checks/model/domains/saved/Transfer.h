// What graphs save for backward(), and when it is overwritten.
#ifndef TORCHTIDY_DOMAINS_SAVED_TRANSFER_H
#define TORCHTIDY_DOMAINS_SAVED_TRANSFER_H

#include "model/domains/Transfers.h"

namespace torchtidy::model::saved {

void part(Machine &M, PlaceId P, Value &Part);
void loaded(Machine &M, PlaceId P, Value &Loaded);
void operation(Machine &M, const OperationCall &Call, Value &Result);
void call(Machine &M, const LibraryCall &Call, Value &Result);
void write(Machine &M, const Value &Written, bool IsWhole, Value &Target);

// What changes the state, told by the semantics.

/// An operation keeps what its gradient needs, of its operands and its result.
/// In place the result is kept when it has been written: keepWritten().
void keep(Machine &M, const OperationCall &Call, Value &Result);
void keepWritten(Machine &M, const OperationCall &Call);
/// The same of a function of torch::nn::functional.
void keep(Machine &M, const clang::CallExpr *Call, const torch::Operation &Op,
          llvm::ArrayRef<const clang::Expr *> Operands, Value &Result);
/// And of a layer of LibTorch, which is given Input.
void keepOfLayer(Machine &M, const clang::CallExpr *Call,
                 const clang::CXXRecordDecl *Layer, const clang::Expr *Input,
                 const PlaceSet &Modules, Value &Result);

/// The tensor that Target denotes is written: its version is another.
void overwrite(Machine &M, const clang::Expr *Site, const clang::Expr *Target);
/// The weights that an optimizer trains are written.
void step(Machine &M, const clang::Expr *Site, const PlaceSet &Trained);

} // namespace torchtidy::model::saved

#endif
