// How shapes come about.
#ifndef TORCHTIDY_DOMAINS_SHAPE_TRANSFER_H
#define TORCHTIDY_DOMAINS_SHAPE_TRANSFER_H

#include "model/domains/Transfers.h"

namespace torchtidy::model::shape {

void initial(Machine &M, PlaceId P, Value &Result);
void part(Machine &M, PlaceId P, Value &Part);
void operation(Machine &M, const OperationCall &Call, Value &Result);
void call(Machine &M, const LibraryCall &Call, Value &Result);
void write(Machine &M, const Value &Written, bool IsWhole, Value &Target);
void lost(Value &Tensor);

/// The integer that E is; nothing where it is no constant.
std::optional<int64_t> numberAt(Machine &M, const clang::Expr *E);

} // namespace torchtidy::model::shape

#endif
