// Query: tensors over memory (from_blob) that ends before them.
#ifndef TORCHTIDY_LIFETIME_BLOBLIFETIME_H
#define TORCHTIDY_LIFETIME_BLOBLIFETIME_H

#include "queries/memory/OutlivedLoans.h"

namespace torchtidy::model {

/// The memory of a tensor that from_blob() made ends before the tensor. What is
/// not reported, outlivedLoans says.
std::vector<OutlivedLoan> outlivedBlobs(Program &Program);

} // namespace torchtidy::model

#endif
