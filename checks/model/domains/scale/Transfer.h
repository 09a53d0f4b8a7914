// How numbers come on a scale, and leave it.
#ifndef TORCHTIDY_DOMAINS_SCALE_TRANSFER_H
#define TORCHTIDY_DOMAINS_SCALE_TRANSFER_H

#include "model/domains/Transfers.h"

namespace torchtidy::model::scale {

void initial(Machine &M, PlaceId P, Value &Result);
void part(Machine &M, PlaceId P, Value &Part);
void operation(Machine &M, const OperationCall &Call, Value &Result);
void call(Machine &M, const LibraryCall &Call, Value &Result);
void write(Machine &M, const Value &Written, bool IsWhole, Value &Target);
void lost(Value &Tensor);

} // namespace torchtidy::model::scale

#endif
