// How much of a storage the results of operations are.
#ifndef TORCHTIDY_DOMAINS_EXTENT_TRANSFER_H
#define TORCHTIDY_DOMAINS_EXTENT_TRANSFER_H

#include "model/domains/Transfers.h"

namespace torchtidy::model::extent {

void initial(Machine &M, PlaceId P, Value &Result);
void operation(Machine &M, const OperationCall &Call, Value &Result);
void call(Machine &M, const LibraryCall &Call, Value &Result);
void lost(Value &Tensor);

/// Target is a tensor of another storage: set_(), resize_(), set_data().
void replaceStorage(Machine &M, const clang::Expr *Target);

} // namespace torchtidy::model::extent

#endif
