// Whose storage results share, and what is told of memory.
#ifndef TORCHTIDY_DOMAINS_ALIASES_TRANSFER_H
#define TORCHTIDY_DOMAINS_ALIASES_TRANSFER_H

#include "model/base/Place.h"
#include "model/domains/Transfers.h"
#include "model/state/State.h"

namespace torchtidy::model {
namespace aliases {

void initial(Machine &M, PlaceId P, Value &Result);
void part(Machine &M, PlaceId P, Value &Part);
void call(Machine &M, const LibraryCall &Call, Value &Result);
void operation(Machine &M, const OperationCall &Call, Value &Result);

/// The places whose tensors use the memory, and those that point to an object
/// on the heap that holds one.
PlaceSet holders(const PlaceTable &Places, const State &At,
                 AllocationId Memory);

} // namespace aliases
} // namespace torchtidy::model

#endif
