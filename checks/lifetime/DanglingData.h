// Query: pointers, references and lists that lead into what is gone.
#ifndef TORCHTIDY_LIFETIME_DANGLINGDATA_H
#define TORCHTIDY_LIFETIME_DANGLINGDATA_H

#include "queries/memory/OutlivedLoans.h"

namespace torchtidy::model {

/// An object ends before what leads into it: pointers to the data of a tensor,
/// its sizes, ArrayRef, references to parts of results. What is not reported,
/// outlivedLoans says.
std::vector<OutlivedLoan> outlivedViews(Program &Program);

} // namespace torchtidy::model

#endif
