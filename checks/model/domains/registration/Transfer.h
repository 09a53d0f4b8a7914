// What modules register, as far as a class says so.
#ifndef TORCHTIDY_DOMAINS_REGISTRATION_TRANSFER_H
#define TORCHTIDY_DOMAINS_REGISTRATION_TRANSFER_H

#include "model/domains/Transfers.h"

namespace torchtidy::model {
namespace registration {

void initial(Machine &M, PlaceId P, Value &Result);
void part(Machine &M, PlaceId P, Value &Part);
void operation(Machine &M, const OperationCall &Call, Value &Result);
void call(Machine &M, const LibraryCall &Call, Value &Result);

} // namespace registration
} // namespace torchtidy::model

#endif
