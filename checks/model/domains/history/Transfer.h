// How histories and origins come about.
#ifndef TORCHTIDY_DOMAINS_HISTORY_TRANSFER_H
#define TORCHTIDY_DOMAINS_HISTORY_TRANSFER_H

#include "model/domains/Transfers.h"

namespace torchtidy::model {
namespace history {

void initial(Machine &M, PlaceId P, Value &Result);
void operation(Machine &M, const OperationCall &Call, Value &Result);
/// Of a forward pass: all but the history, which is the module's affair.
void call(Machine &M, const LibraryCall &Call, Value &Result);
void write(Machine &M, const Value &Written, bool IsWhole, Value &Target);
void lost(Value &Tensor);

} // namespace history

/// The history of what is computed from operands with these histories, in the
/// grad mode of the moment.
uint8_t recorded(const Machine &M, llvm::ArrayRef<uint8_t> Operands);
/// What members and global variables held when the entry was entered is told
/// apart: what is computed from one may be stored there for the next call.
std::optional<OriginId> entryOrigin(Machine &M, PlaceId P);
/// The value comes from a forward pass or an operation that was seen.
bool hasSource(const Machine &M, const Value &V);
/// Result follows from From, but has no gradient.
void addDecision(const Machine &M, Value &Result, const Value &From);
/// A result with a history that comes from nothing that was seen begins a graph
/// at Site; one without a history has no graph behind it.
void beginOrForgetGraph(Machine &M, const clang::Expr *Site, Value &Result);

} // namespace torchtidy::model

#endif
